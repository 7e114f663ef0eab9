// The surroundings of a demo: its folder, its ports, its processes, and their cleanup. However the demo ends,
// by a signal, by --exit or because a part failed, the parts are stopped, the last one first, and the folder
// is removed. If the demo is killed, the process of reaper.ts does so.

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { assert } from '#base/assert.ts';
import { GitError } from '#git/error.ts';
import { gitEnvironment } from '#git/run.ts';
import { startReaper } from './reaper.ts';
import { mayOthersEnter } from './postgres.ts';
import { killGroup, type DemoProcess } from './process.ts';
import { serviceLog } from './service.ts';

export type DemoStage = {
  readonly home: string;
  readonly signal: AbortSignal;
  /** Why the demo ended too early; null: it did not. */
  readonly failure: string | null;
  /** Whether a signal ended the demo. */
  readonly isInterrupted: boolean;
  /** The part is stopped with the rest; if it exits earlier, the demo ends with this message. */
  readonly add: (part: DemoProcess, describeFailure: () => string) => void;
  /** Records a problem that does not stop the demo; it is reported at the end. */
  readonly onProblem: (error: unknown) => void;
  readonly end: () => void;
  readonly close: () => Promise<void>;
};

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const problemsShown = 5;

export function openStage(): DemoStage {
  const home = makeHome();
  const stop = new AbortController();
  const parts: DemoProcess[] = [];
  const reaper = startReaper(home);
  const problems = new Set<string>();
  let failure: string | null = null;
  let isInterrupted = false;
  const end = () => stop.abort();
  // On a second signal the demo is already ending.
  const interrupt = () => {
    isInterrupted ||= !stop.signal.aborted;
    end();
  };
  for (const signal of signals) process.on(signal, interrupt);
  /** For the exit of the process, where nothing asynchronous can run. */
  const endAtOnce = () => {
    for (const { process: child } of parts) killGroup(child);
    removeFolder(home);
    reaper.dismiss();
  };
  process.once('exit', endAtOnce);
  return {
    home,
    signal: stop.signal,
    get failure() {
      return failure;
    },
    get isInterrupted() {
      return isInterrupted;
    },
    add: (part, describeFailure) => {
      parts.push(part);
      if (part.process.pid !== undefined) reaper.mind(part.process.pid);
      part.process.once('exit', () => {
        if (stop.signal.aborted) return;
        failure = describeFailure();
        end();
      });
    },
    onProblem: (error) => {
      if (!stop.signal.aborted) problems.add(describeError(error));
    },
    end,
    close: async () => {
      end();
      for (const part of parts.toReversed()) await part.stop();
      if (problems.size > 0)
        for (const line of errorsLogged(home)) problems.add(`the service logged ${line}`);
      removeFolder(home);
      reaper.dismiss();
      process.off('exit', endAtOnce);
      for (const signal of signals) process.off(signal, interrupt);
      for (const problem of [...problems].slice(0, problemsShown))
        process.stderr.write(`Problem during the demo: ${problem}\n`);
    },
  };
}

const describeError = (error: unknown): string => {
  if (error instanceof GitError) return `${error.message} ${error.output.trim().slice(-500)}`;
  return error instanceof Error ? error.message : String(error);
};

/** The first errors in the log of the service, which is removed with the folder. */
function errorsLogged(home: string): readonly string[] {
  const log = join(home, serviceLog);
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, 'utf8').split('\n');
  return lines
    .filter((line) => line.includes('"level":50'))
    .slice(0, 3)
    .map((line) => line.slice(0, 1_000));
}

/** A process that was just killed may still write a file. */
const removeFolder = (folder: string): void =>
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });

/** As root it must be a folder that PostgreSQL's user can enter. */
function makeHome(): string {
  const isRoot = process.getuid?.() === 0;
  const parent = isRoot && !mayOthersEnter(tmpdir()) ? '/tmp' : tmpdir();
  const home = mkdtempSync(join(parent, 'signalbox-demo-'));
  if (isRoot) chmodSync(home, 0o711);
  return home;
}

export async function checkGit(): Promise<void> {
  try {
    await promisify(execFile)('git', ['--version'], { env: gitEnvironment });
  } catch {
    throw new Error(
      'git is not in /usr/local/bin, /usr/bin or /bin. Install it, for example with: apt-get install git',
    );
  }
}

const usualPort = 8080;

/** The requested port, else the default one, else any free one. */
export async function choosePort(wanted: number | null): Promise<number> {
  const port = await tryPort(wanted ?? usualPort);
  if (port !== null) return port;
  if (wanted !== null)
    throw new Error(`Port ${wanted} is in use. Use another --port, or omit it to get a free port.`);
  return anyPort();
}

/** Another process may take the port before it is used; the part that fails to listen then reports it. */
export async function anyPort(): Promise<number> {
  const port = await tryPort(0);
  assert(port !== null, 'some port of loopback is free');
  return port;
}

/** The port if it is free on loopback; 0 is any. */
async function tryPort(port: number): Promise<number | null> {
  const probe = createServer();
  try {
    probe.listen(port, '127.0.0.1');
    await once(probe, 'listening');
    const address = probe.address();
    return typeof address === 'object' && address !== null ? address.port : null;
  } catch {
    return null;
  } finally {
    probe.close();
  }
}
