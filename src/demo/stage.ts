// Where a demo takes place: its folder, its ports, what was started, and the end of it all. Whatever way it ends, by a
// signal, by --exit or because a part failed, the parts are stopped, the last one first, and the folder is removed.
// If it is killed, its heir does so.

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
import { appointHeir } from './heir.ts';
import { mayOthersEnter } from './postgres.ts';
import { killGroup, type Part } from './process.ts';
import { serviceLog } from './service.ts';

export type Stage = {
  readonly home: string;
  readonly signal: AbortSignal;
  /** Why it ended too early; null: it did not. */
  readonly failure: string | null;
  /** A signal ended it. */
  readonly isInterrupted: boolean;
  /** Stopped with the rest; if it ends before, so does the demo, with these words. */
  readonly add: (part: Part, words: () => string) => void;
  /** Something went wrong that the demo can live with; told at the end. */
  readonly onProblem: (error: unknown) => void;
  readonly end: () => void;
  readonly close: () => Promise<void>;
};

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const problemsShown = 5;

export function openStage(): Stage {
  const home = makeHome();
  const stop = new AbortController();
  const parts: Part[] = [];
  const heir = appointHeir(home);
  const problems = new Set<string>();
  let failure: string | null = null;
  let isInterrupted = false;
  const end = () => stop.abort();
  // A second signal finds the end under way.
  const interrupt = () => {
    isInterrupted ||= !stop.signal.aborted;
    end();
  };
  for (const signal of signals) process.on(signal, interrupt);
  /** Where nothing can be waited for any more. */
  const endAtOnce = () => {
    for (const { process: child } of parts) killGroup(child);
    removeFolder(home);
    heir.dismiss();
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
    add: (part, words) => {
      parts.push(part);
      if (part.process.pid !== undefined) heir.mind(part.process.pid);
      part.process.once('exit', () => {
        if (stop.signal.aborted) return;
        failure = words();
        end();
      });
    },
    onProblem: (error) => {
      if (!stop.signal.aborted) problems.add(wordsOf(error));
    },
    end,
    close: async () => {
      end();
      for (const part of parts.toReversed()) await part.stop();
      if (problems.size > 0)
        for (const line of errorsLogged(home)) problems.add(`the service logged ${line}`);
      removeFolder(home);
      heir.dismiss();
      process.off('exit', endAtOnce);
      for (const signal of signals) process.off(signal, interrupt);
      for (const problem of [...problems].slice(0, problemsShown))
        process.stderr.write(`On the way: ${problem}\n`);
    },
  };
}

const wordsOf = (error: unknown): string => {
  if (error instanceof GitError) return `${error.message} ${error.output.trim().slice(-500)}`;
  return error instanceof Error ? error.message : String(error);
};

/** The first errors in the log of the service, which goes with the folder. */
function errorsLogged(home: string): readonly string[] {
  const log = join(home, serviceLog);
  if (!existsSync(log)) return [];
  const lines = readFileSync(log, 'utf8').split('\n');
  return lines
    .filter((line) => line.includes('"level":50'))
    .slice(0, 3)
    .map((line) => line.slice(0, 1_000));
}

/** What was just killed may still write a file. */
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
      'Signalbox needs git, and there is none in /usr/local/bin, /usr/bin or /bin. Install it first, for example: apt-get install git',
    );
  }
}

const usualPort = 8080;

/** The port that was asked for, or the usual one, or any that is free. */
export async function choosePort(wanted: number | null): Promise<number> {
  const port = await tryPort(wanted ?? usualPort);
  if (port !== null) return port;
  if (wanted !== null) throw new Error(`Port ${wanted} is taken. Give another one with --port, or none.`);
  return anyPort();
}

/** Somebody else may take it before it is used, which whoever listens then says. */
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
