// Git operations of the host on its own bare repositories: refs are moved and read in place, without a push.

import { runGit } from '#git/run.ts';

/** For git's own server over HTTP. */
export { gitEnvironment } from '#git/run.ts';

/** Null: not there. */
export type RefChange = {
  readonly ref: string;
  /** Where the ref must be; absent: anywhere. */
  readonly from?: string | null;
  readonly to: string | null;
};

const nothing = '0'.repeat(40);

function changeLine({ ref, from, to }: RefChange): string {
  const old = from === undefined ? '' : ` ${from ?? nothing}`;
  return to === null ? `delete ${ref}${old}\n` : `update ${ref} ${to}${old}\n`;
}

/** Changes all refs or none; false if one was not where it had to be. */
export async function changeRefs(directory: string, changes: readonly RefChange[]): Promise<boolean> {
  if (changes.length === 0) return true;
  const input = `start\n${changes.map(changeLine).join('')}prepare\ncommit\n`;
  const args = ['update-ref', '--no-deref', '--stdin'];
  return (await runGit({ directory }, { args, input, exitCodes: [0, 1, 128] })).exitCode === 0;
}

/** Refs under the given prefixes, by name. */
export async function listRefs(
  directory: string,
  ...prefixes: readonly string[]
): Promise<ReadonlyMap<string, string>> {
  const args = ['for-each-ref', '--format=%(objectname) %(refname)', ...prefixes];
  const { stdout } = await runGit({ directory }, { args, outputBytesMax: 64 * 1_048_576 });
  const lines = stdout.toString('utf8').split('\n').filter(Boolean);
  return new Map(lines.map((line) => [line.slice(41), line.slice(0, 40)]));
}

/** The commit that a revision names; null if there is none. */
export async function findCommit(directory: string, revision: string): Promise<string | null> {
  const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`];
  const { exitCode, stdout } = await runGit({ directory }, { args, exitCodes: [0, 1, 128] });
  return exitCode === 0 ? stdout.toString('latin1').trim() : null;
}

/** Which of the given shas are commits that the repository has. */
export async function knownCommits(directory: string, shas: readonly string[]): Promise<ReadonlySet<string>> {
  if (shas.length === 0) return new Set();
  const args = ['cat-file', '--batch-check=%(objectname) %(objecttype)'];
  const { stdout } = await runGit({ directory }, { args, input: `${shas.join('\n')}\n` });
  const lines = stdout.toString('latin1').split('\n');
  return new Set(lines.flatMap((line) => /^([0-9a-f]+) commit$/.exec(line)?.[1] ?? []));
}
