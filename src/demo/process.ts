// Processes that the demo starts, and how they end.

import { type ChildProcess, execFile, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';

export type Part = { readonly process: ChildProcess; readonly stop: () => Promise<void> };

/** Nothing of a demo is worth waiting for. */
const patienceMs = 3_000;

/** Asks it to end, and after a while makes it, with all that it started: it leads a process group of its own. */
export async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill(signal);
  const timer = setTimeout(() => killGroup(child), patienceMs);
  await exited;
  clearTimeout(timer);
}

export function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
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
