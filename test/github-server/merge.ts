// The three ways to merge a head onto a base, each a real commit; and whether they go together at all.

import type { Person } from '#git/object.ts';
import { runGit } from '#git/run.ts';
import { readCommits } from './bare.ts';
import type { MergeMethod } from './model.ts';

const github: Person = { name: 'GitHub', email: 'noreply@github.com' };

export type Merge = {
  readonly method: MergeMethod;
  readonly base: string;
  readonly head: string;
  readonly author: Person;
  readonly message: string;
  readonly at: Date;
};

/** The commit that would be the tip of the base; null: they are in conflict. */
export function makeMerge(directory: string, merge: Merge): Promise<string | null> {
  return merge.method === 'rebase' ? rebase(directory, merge) : join(directory, merge);
}

async function join(directory: string, merge: Merge): Promise<string | null> {
  const { method, base, head, author, message, at } = merge;
  const tree = await mergedTree(directory, base, head);
  if (tree === null) return null;
  const parents = method === 'squash' ? [base] : [base, head];
  return writeCommit(directory, { tree, parents, author, authoredAt: at, message, at });
}

/** Each commit is made anew, also where the head could just be pushed. */
async function rebase(directory: string, { base, head, at }: Merge): Promise<string | null> {
  const { stdout } = await runGit(
    { directory },
    { args: ['rev-list', '--reverse', '--no-merges', `${base}..${head}`] },
  );
  const shas = stdout.toString('latin1').split('\n').filter(Boolean);
  let tip = base;
  for (const { sha, parents, author, authoredAt, message } of await readCommits(directory, shas)) {
    const tree = await pickedTree(directory, tip, sha, parents[0]!, at);
    if (tree === null) return null;
    tip = await writeCommit(directory, { tree, parents: [tip], author, authoredAt, message, at });
  }
  return tip;
}

/** One commit on top of another is a merge whose common ancestor is the commit's parent: a helper commit makes it so. */
async function pickedTree(
  directory: string,
  tip: string,
  sha: string,
  parent: string,
  at: Date,
): Promise<string | null> {
  const [onto] = await readCommits(directory, [tip]);
  const words = { author: github, authoredAt: at, message: 'helper', at };
  return mergedTree(
    directory,
    await writeCommit(directory, { tree: onto!.tree, parents: [parent], ...words }),
    sha,
  );
}

async function mergedTree(directory: string, ours: string, theirs: string): Promise<string | null> {
  const args = ['merge-tree', '--write-tree', '--no-messages', '--allow-unrelated-histories', ours, theirs];
  const { exitCode, stdout } = await runGit({ directory }, { args, exitCodes: [0, 1] });
  return exitCode === 0 ? stdout.toString('latin1').trim() : null;
}

type NewCommit = {
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: Person;
  readonly authoredAt: Date;
  readonly message: string;
  readonly at: Date;
};

async function writeCommit(directory: string, commit: NewCommit): Promise<string> {
  const { tree, parents, author, authoredAt, message, at } = commit;
  const seconds = (date: Date) => `${Math.floor(date.getTime() / 1_000)} +0000`;
  const environment = {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_AUTHOR_DATE: seconds(authoredAt),
    GIT_COMMITTER_NAME: github.name,
    GIT_COMMITTER_EMAIL: github.email,
    GIT_COMMITTER_DATE: seconds(at),
  };
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])];
  const { stdout } = await runGit({ directory, environment }, { args, input: message });
  return stdout.toString('latin1').trim();
}
