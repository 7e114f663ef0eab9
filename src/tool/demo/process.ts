// Starts and stops the processes of the demo.

import { type ChildProcess, execFile, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';

export type DemoProcess = { readonly process: ChildProcess; readonly stop: () => Promise<void> };

/** A process of a demo has nothing to save that is worth a longer wait. */
const patienceMs = 3_000;

/** Signals the process, and after a while kills its process group, with all that it started. */
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

type DemoCommandOptions = Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'>;

/** The output of the process; if it failed, an error with that output. */
export const runToEnd = (
  program: string,
  args: readonly string[],
  options: DemoCommandOptions,
): Promise<string> =>
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
