// Processes of the service, kept up as a supervisor would: one that ends is started again.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export type Part = {
  readonly name: string;
  /** As `kill -9` does; it is started again after so many milliseconds. */
  readonly kill: (awayMs: number) => Promise<void>;
};

export type Supervised = Part & {
  readonly ready: () => Promise<void>;
  readonly ownEnds: () => number;
  readonly stop: () => Promise<void>;
  /** At once, for a process that ends itself. */
  readonly end: () => void;
};

export type Kept = {
  readonly name: string;
  readonly command: 'serve' | 'work';
  /** The checkout that it runs from. */
  readonly root: string;
  /** Where its log is. */
  readonly folder: string;
  readonly environment: Record<string, string>;
  /** Options of Node.js. */
  readonly execArgv?: readonly string[];
  /** Null: when its log says so. */
  readonly isReady: (() => Promise<boolean>) | null;
};

const startMs = 120_000;

/** What is shown of the log of a process that ended unexpectedly, in characters. */
const logShownMax = 4_000;

export function supervise({
  name,
  command,
  root,
  folder,
  environment,
  execArgv = [],
  isReady,
}: Kept): Supervised {
  const logFile = join(folder, 'log', `${name}.log`);
  let child: ChildProcess;
  let wasReady = false;
  let isWanted = true;
  let logFrom = 0;
  let ownEnds = 0;
  let awayMs: number | null = null;
  const start = () => {
    const log = openSync(logFile, 'a');
    logFrom = statSync(logFile).size;
    wasReady = false;
    // A group of its own: Ctrl-C reaches only us, and we end it.
    child = spawn(process.execPath, [...execArgv, 'src/signalbox.ts', command], {
      cwd: root,
      env: environment,
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    child.once('exit', (code, signalName) => {
      if (!isWanted) return;
      if (awayMs === null && wasReady) {
        ownEnds += 1;
        console.error(`${name} ended unexpectedly with ${code ?? signalName}; the end of its log:`);
        console.error(readFileSync(logFile).subarray(logFrom).toString('utf8').slice(-logShownMax));
      }
      setTimeout(() => isWanted && start(), awayMs ?? 500);
      awayMs = null;
    });
  };
  const isUp = async () =>
    child.exitCode === null &&
    child.signalCode === null &&
    (isReady === null
      ? readFileSync(logFile).subarray(logFrom).includes('"working on jobs"')
      : await isReady());
  const ready = async () => {
    for (const until = Date.now() + startMs; !(await isUp()); await sleep(50))
      if (Date.now() > until) throw new Error(`${name} did not start; see ${logFile}`);
    wasReady = true;
  };
  const signal = (which: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(which);
  };
  start();
  return {
    name,
    ready,
    ownEnds: () => ownEnds,
    end: () => signal('SIGKILL'),
    kill: async (away) => {
      awayMs = away;
      const isRunning = child.exitCode === null && child.signalCode === null;
      const exited = isRunning ? once(child, 'exit') : undefined;
      signal('SIGKILL');
      await exited;
      await ready();
    },
    stop: async () => {
      isWanted = false;
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      signal('SIGTERM');
      const late = setTimeout(() => signal('SIGKILL'), 15_000);
      await exited;
      clearTimeout(late);
    },
  };
}
