// Repositories of a given size for the benchmarks, served by git's own server for http.

import { execFileSync, spawn } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { gitHttp, listenOnLoopback } from '../../support/git-http.ts';
import type { Cleanup } from '../fixture.ts';

const env = {
  PATH: process.env['PATH'],
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  LC_ALL: 'C',
};

export const git = (directory: string, ...args: readonly string[]): string =>
  execFileSync('git', ['-C', directory, ...args], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();

type Size = {
  readonly commits: number;
  readonly bytesPerCommit: number;
  /** Each commit replaces one of so many files, so that the newest commit needs that many. */
  readonly files: number;
};

/** A repository whose contents cannot be compressed. Answers with its newest commit. */
export async function makeRepository(directory: string, size: Size): Promise<string> {
  execFileSync('git', ['init', '--bare', '--quiet', '--initial-branch=main', directory], { env });
  git(directory, 'config', 'core.compression', '0');
  git(directory, 'config', 'pack.window', '0');
  const child = spawn('git', ['-C', directory, 'fast-import', '--quiet'], {
    env,
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const bytes = Buffer.alloc(size.bytesPerCommit);
  for (let number = 1; number <= size.commits; number++) {
    randomFillSync(bytes);
    const head =
      `commit refs/heads/main\nmark :${number}\ncommitter Bench <bench@localhost> ${1_700_000_000 + number} +0000\n` +
      `data 7\nChange\n${number === 1 ? '' : `from :${number - 1}\n`}` +
      `M 100644 inline part-${number % size.files}/data\ndata ${bytes.length}\n`;
    const chunk = Buffer.concat([Buffer.from(head), bytes, Buffer.from('\n')]);
    if (!child.stdin.write(chunk)) await once(child.stdin, 'drain');
  }
  child.stdin.end();
  const [exitCode] = (await once(child, 'close')) as [number];
  if (exitCode !== 0) throw new Error('git fast-import failed.');
  return git(directory, 'rev-parse', 'refs/heads/main');
}

type Served = { readonly port: number; readonly url: (name: string) => string; readonly sent: () => number };

/** Serves the repositories in a folder, and counts the bytes of the answers. */
export async function serve(cleanup: Cleanup, folder: string): Promise<Served> {
  let sent = 0;
  const { url, port, close } = await listenOnLoopback(
    gitHttp(folder, { onBytes: (bytes) => (sent += bytes) }),
  );
  cleanup.add(close);
  return { port, url: (name) => `${url}/${name}`, sent: () => sent };
}

export const repositoryIn = (folder: string, name: string): string => join(folder, name);
