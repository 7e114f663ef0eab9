// Git as a person uses it, over HTTP, in a folder of its own.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import type { GithubServer } from './server.ts';

const run = promisify(execFile);

export type Clone = {
  readonly folder: string;
  readonly git: (...args: readonly string[]) => Promise<string>;
  /** What git printed when it was refused. */
  readonly refusal: (...args: readonly string[]) => Promise<string>;
  /** Commits a file on the branch that is checked out. */
  readonly commit: (file: string, text: string) => Promise<string>;
};

export const remoteOf = ({ url }: GithubServer, repository: string, token: string): string =>
  `${url.replace('://', `://x-access-token:${token}@`)}/${repository}.git`;

export async function cloneOf(github: GithubServer, repository: string, token: string): Promise<Clone> {
  const root = await mkdtemp(join(tmpdir(), 'signalbox-clone-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: '/nonexistent',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  };
  const folder = join(root, 'work');
  const inFolder =
    (directory: string) =>
    async (...args: readonly string[]) =>
      (await run('git', ['-C', directory, ...args], { env })).stdout.trim();
  await inFolder(root)('clone', '--quiet', remoteOf(github, repository, token), 'work');
  const git = inFolder(folder);
  return {
    folder,
    git,
    refusal: (...args) =>
      git(...args).then(
        () => Promise.reject(new Error(`git ${args.join(' ')} succeeded`)),
        (error: unknown) => String((error as { readonly stderr?: unknown }).stderr),
      ),
    commit: async (file, text) => {
      const path = join(folder, file);
      await git('config', 'core.autocrlf', 'false');
      await run('mkdir', ['-p', join(path, '..')]);
      await writeFile(path, text);
      await git('add', file);
      await git('commit', '--quiet', '-m', `Change ${file}`);
      return git('rev-parse', 'HEAD');
    },
  };
}
