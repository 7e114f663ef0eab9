// What the checkout says of itself, where CI says nothing: on a developer's machine, or in a CI that is not known.

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { repositoryOfRemote } from '#config/remote-url.ts';
import type { RepositoryName } from '#core/repository.ts';

export type Checkout = {
  readonly repository: RepositoryName | null;
  /** Of what is checked out; with changes that are not committed, of those too: it is then in no repository. */
  readonly sha: string | null;
  readonly branch: string | null;
};

const run = promisify(execFile);

/** A remote that wants a password is one that does not answer. */
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
 * A test that fails with a change and passes without it does not contradict itself, so the two are not the same source.
 * The same change is the same one again.
 */
async function sourceOf(cwd: string, head: string): Promise<string> {
  const changes = await git(cwd, 'diff', '--no-ext-diff', '--no-textconv', '--binary', 'HEAD');
  return changes === null ? head : createHash('sha1').update(`${head}\n${changes}`).digest('hex');
}

export async function readCheckout(cwd: string): Promise<Checkout> {
  const head = await git(cwd, 'rev-parse', '--verify', '-q', 'HEAD');
  if (head === null) return { repository: null, sha: null, branch: null };
  return {
    repository: await readRepository(cwd),
    sha: await sourceOf(cwd, head),
    // On no branch, it is its own.
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
