// The test commit of a run that verifies the fix of a test: the tip of the branch once more, with the same files and the same
// parents. So CI that looks for changed files finds those that it found for the tip; on top of the tip it would find none.
// Its message names the test (selection.ts) and has no text of an author, which may keep CI from running.

import { buildCommitContent, commitBytes, type Person, signature } from '../object.ts';
import type { Mirror } from '../mirror/mirror.ts';
import { ownIdentity } from './candidate.ts';
import { type NamedTests, withSelection } from './selection.ts';

type FixCommitRequest = {
  readonly base: string;
  readonly test: NamedTests['tests'][number];
  readonly repeats: number;
  /** Of its dates: commits of two runs differ. */
  readonly at: Date;
  /** Default `Signalbox <signalbox@localhost>`. */
  readonly committer?: Person | null;
};

/** Writes the commit and returns its name. */
export async function buildFixCommit(
  mirror: Mirror,
  { base, test, repeats, at, committer }: FixCommitRequest,
): Promise<string> {
  const { tree, parents } = await mirror.commit(base);
  const by = committer ?? ownIdentity;
  const text = `Repeat one test on ${base.slice(0, 12)} to verify its fix\n\nNothing merges by this commit.\n`;
  const content = buildCommitContent(by, at, text);
  const message = withSelection(content.message, { count: 1, tests: [test], repeats });
  return mirror.writeCommit(commitBytes(tree, parents, signature(by, at), { ...content, message }));
}
