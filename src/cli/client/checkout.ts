// Reads the checkout where CI provides nothing: on a developer's machine, or in an unknown CI.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { repositoryOfRemote } from '#config/remote-url.ts';
import type { RepositoryName } from '#core/repository.ts';

export type Checkout = {
  readonly repository: RepositoryName | null;
  /** Of the checked out commit; with uncommitted changes, a hash of both, which is in no repository. */
  readonly sha: string | null;
  readonly branch: string | null;
};

const run = promisify(execFile);

/** A remote that asks for a password counts as unreachable. */
const withoutQuestions = ['-c', 'core.askPass=true', '-c', 'credential.interactive=false'];

/** Null: there is no git, no checkout, or no answer in time. */
export async function git(cwd: string, ...args: readonly string[]): Promise<string | null> {
  try {
    const { stdout } = await run('git', [...withoutQuestions, ...args], {
      cwd,
      timeout: 10_000,
      maxBuffer: 64 * 1024 * 1024,
    });
    return stdout.trim() || null;
  } catch {
    return null;
  }
}

/**
 * A test that fails with a change and passes without it is not flaky, so the two must be different sources.
 * The same change again is the same source.
 */
async function fingerprintSource(cwd: string, head: string): Promise<string> {
  const changes = await git(cwd, 'diff', '--no-ext-diff', '--no-textconv', '--binary', 'HEAD');
  return changes === null ? head : createHash('sha1').update(`${head}\n${changes}`).digest('hex');
}

export async function readCheckout(cwd: string): Promise<Checkout> {
  const head = await git(cwd, 'rev-parse', '--verify', '-q', 'HEAD');
  if (head === null) return { repository: null, sha: null, branch: null };
  return {
    repository: await readRepository(cwd),
    sha: await fingerprintSource(cwd, head),
    // A detached HEAD counts as a branch of its own.
    branch: (await git(cwd, 'symbolic-ref', '-q', '--short', 'HEAD')) ?? 'HEAD',
  };
}

/** Null: no remote names one. */
export async function readRepository(cwd: string): Promise<RepositoryName | null> {
  const remotes = (await git(cwd, 'remote'))?.split('\n') ?? [];
  const remote = remotes.includes('origin') ? 'origin' : remotes[0];
  const address = remote === undefined ? null : await git(cwd, 'remote', 'get-url', remote);
  return repositoryOfRemote(address ?? '');
}
