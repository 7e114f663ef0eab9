// What the checkout says of itself, where CI says nothing: on a developer's machine, or in a CI that is not known.

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { repositoryOfRemote } from '#config/remote-url.ts';
import type { RepositoryName } from '#core/repository.ts';

export type Checkout = {
  readonly repository: RepositoryName | null;
  readonly sha: string | null;
  readonly branch: string | null;
};

const run = promisify(execFile);

/** Null: there is no git, no checkout, or no answer in time. */
async function git(cwd: string, ...args: readonly string[]): Promise<string | null> {
  try {
    const { stdout } = await run('git', [...args], { cwd, timeout: 5_000, maxBuffer: 64 * 1024 });
    return stdout.trim() || null;
  } catch {
    return null;
  }
}

export async function readCheckout(cwd: string): Promise<Checkout> {
  const sha = await git(cwd, 'rev-parse', '--verify', '-q', 'HEAD');
  if (sha === null) return { repository: null, sha: null, branch: null };
  const remotes = (await git(cwd, 'remote'))?.split('\n') ?? [];
  const remote = remotes.includes('origin') ? 'origin' : remotes[0];
  const address = remote === undefined ? null : await git(cwd, 'remote', 'get-url', remote);
  return {
    repository: repositoryOfRemote(address ?? ''),
    sha,
    // On no branch, it is its own.
    branch: (await git(cwd, 'symbolic-ref', '-q', '--short', 'HEAD')) ?? 'HEAD',
  };
}
