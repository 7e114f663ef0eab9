// What a landing is measured against: the push alone. A mirror and a repository that were copied from a queue under
// test; a commit that is on a test branch already; then `git push` of it to main, by a child process with the
// environment of src/git/run.ts, until the branch has moved.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildGitEnvironment, type GitSettings, remoteName, runGit } from '#git/run.ts';
import type { RefWatch } from './ref-watch.ts';

export type BarePush = {
  /** Makes the next commit and puts it on a test branch; not measured. */
  readonly prepare: () => Promise<void>;
  /** Milliseconds from the start of git until main has moved. */
  readonly push: () => Promise<number>;
};

const main = 'refs/heads/main';

export function createBarePush(mirror: string, remote: string, watch: RefWatch): BarePush {
  const settings: GitSettings = { directory: mirror, remote: { url: remote } };
  const git = async (args: readonly string[], input?: string) => {
    const { stdout } = await runGit(settings, {
      args: ['-c', 'user.name=Bench', '-c', 'user.email=bench@localhost', ...args],
      ...(input === undefined ? {} : { input }),
    });
    return stdout.toString('utf8').trim();
  };
  const pushOf = (ref: string, from: string, to: string) => [
    'push',
    '--porcelain',
    '--no-verify',
    `--force-with-lease=${ref}:${from}`,
    remoteName,
    `${to}:${ref}`,
  ];
  const file = join(remote, main);
  let from = readFileSync(file, 'utf8').trim();
  let to = '';
  let count = 0;
  const testBranch = () => `refs/heads/signalbox/main/pr-${count}/bare`;

  return {
    prepare: async () => {
      count += 1;
      await git(['fetch', '--quiet', '--no-tags', remoteName, `+${main}:refs/signalbox/base/main`]);
      const blob = await git(['hash-object', '-w', '--stdin'], `Change ${count}\n`);
      const listed = await git(['ls-tree', from]);
      const tree = await git(['mktree'], `${listed}\n100644 blob ${blob}\tchange-${count}.txt\n`);
      to = await git(['commit-tree', tree, '-p', from, '-m', `Change ${count}`]);
      await git(pushOf(testBranch(), '', to));
    },
    push: async () => {
      const startedAt = performance.now();
      const moved = watch.until(file, from);
      const child = spawn('git', pushOf(main, from, to), {
        env: buildGitEnvironment(settings),
        detached: true,
      });
      const ended = once(child, 'close') as Promise<[number | null]>;
      child.stdout.resume();
      child.stderr.resume();
      const { at, sha } = await moved;
      const [code] = await ended;
      if (code !== 0 || sha !== to) throw new Error(`The bare push ended with ${code}, main is at ${sha}.`);
      await git(pushOf(testBranch(), to, ''));
      from = to;
      return at - startedAt;
    },
  };
}
