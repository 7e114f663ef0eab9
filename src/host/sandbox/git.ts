// Runs git on a repository of the sandbox: no shell, nothing of the user's configuration, an end in time.

import { spawn } from 'node:child_process';

/** Where programs are found; the rest of our environment is nobody's business. */
export const programPath = '/usr/local/bin:/usr/bin:/bin';

export const gitEnvironment = {
  PATH: programPath,
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
} as const;

const timeoutMs = 60_000;
const outputBytesMax = 64 * 1_048_576;

type GitOptions = {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
  /** Exit codes that are answers. Default 0 only. */
  readonly codes?: readonly number[];
};

export type GitAnswer = { readonly code: number; readonly stdout: string; readonly stderr: string };

export function runGit(
  directory: string,
  args: readonly string[],
  { input, env, codes = [0] }: GitOptions = {},
): Promise<GitAnswer> {
  const child = spawn('git', args, {
    env: { ...gitEnvironment, ...env, GIT_DIR: directory },
    timeout: timeoutMs,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const stdout: Buffer[] = [];
  let bytes = 0;
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > outputBytesMax) child.kill();
    else stdout.push(chunk);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr = (stderr + text).slice(-65_536)));
  // A process that ends without reading its input tells so by its exit code.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code !== null && codes.includes(code))
        resolve({ code, stdout: Buffer.concat(stdout).toString('utf8'), stderr });
      else reject(new Error(`git ${args[0]} ended with ${code ?? 'a signal'}: ${stderr.trim()}`));
    });
  });
}

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

/** All of them or none; false if one was not where it had to be. */
export async function changeRefs(directory: string, changes: readonly RefChange[]): Promise<boolean> {
  if (changes.length === 0) return true;
  const input = `start\n${changes.map(changeLine).join('')}prepare\ncommit\n`;
  const { code } = await runGit(directory, ['update-ref', '--no-deref', '--stdin'], {
    input,
    codes: [0, 1, 128],
  });
  return code === 0;
}

/** Refs under the given prefixes, by name. */
export async function listRefs(
  directory: string,
  ...prefixes: readonly string[]
): Promise<ReadonlyMap<string, string>> {
  const { stdout } = await runGit(directory, [
    'for-each-ref',
    '--format=%(objectname) %(refname)',
    ...prefixes,
  ]);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return new Map(lines.map((line) => [line.slice(41), line.slice(0, 40)]));
}

/** The commit that a revision names; null if there is none. */
export async function findCommit(directory: string, revision: string): Promise<string | null> {
  const { code, stdout } = await runGit(
    directory,
    ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`],
    { codes: [0, 1, 128] },
  );
  return code === 0 ? stdout.trim() : null;
}

/** Which of the given shas are commits that the repository has. */
export async function knownCommits(directory: string, shas: readonly string[]): Promise<ReadonlySet<string>> {
  if (shas.length === 0) return new Set();
  const { stdout } = await runGit(directory, ['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    input: `${shas.join('\n')}\n`,
  });
  const found = stdout.split('\n').flatMap((line) => /^([0-9a-f]+) commit$/.exec(line)?.[1] ?? []);
  return new Set(found);
}

export const branchRef = (branch: string): string => `refs/heads/${branch}`;

export async function isAncestor(directory: string, older: string, newer: string): Promise<boolean> {
  const { code } = await runGit(directory, ['merge-base', '--is-ancestor', older, newer], { codes: [0, 1] });
  return code === 0;
}
