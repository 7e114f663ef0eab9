// Processes that the demo starts, and how they end.

import { type ChildProcess, execFile, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';

export type Part = { readonly process: ChildProcess; readonly stop: () => Promise<void> };

const patienceMs = 10_000;

/** Asks it to end, and after a while makes it. */
export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
  await exited;
  clearTimeout(timer);
}

type RunOptions = Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'>;

/** What it printed; if it failed, an error that says what it said. */
export const runToEnd = (program: string, args: readonly string[], options: RunOptions): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(
      program,
      [...args],
      { ...options, encoding: 'utf8', timeout: 120_000 },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`${program} failed: ${(stderr || error.message).trim().slice(-2_000)}`));
      },
    );
  });
