// A program that a test started, and that ends with it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync, readdirSync, readFileSync } from 'node:fs';

export type Daemon = {
  readonly pid: number;
  readonly running: () => boolean;
  /** What it has written. */
  readonly output: () => string;
  /** Asks it to end, ends it if it has not after a while, and then whatever it has left running. */
  readonly stop: () => Promise<void>;
};

type DaemonOptions = {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly logFile: string;
  /** How long it may take to end by itself. */
  readonly patienceMs: number;
};

export function startDaemon(command: string, args: readonly string[], options: DaemonOptions): Daemon {
  const { cwd, env, logFile, patienceMs } = options;
  const log = openSync(logFile, 'a');
  // A session of its own: a Ctrl-C reaches only the one who started it, who then stops them in order.
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', log, log], detached: true });
  child.unref();
  return {
    pid: child.pid ?? 0,
    running: () => isRunning(child),
    output: () => readFileSync(logFile, 'utf8'),
    stop: async () => {
      if (!isRunning(child)) return;
      child.ref();
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
      await exited;
      clearTimeout(timer);
      for (const pid of sessionOf(child.pid!)) killIfThere(pid);
    },
  };
}

/** The processes of a session: what a program has started, and what that has, however deep. */
function sessionOf(leader: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        // After the name, which may hold anything: state, parent, group, session.
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[3]) === leader;
      } catch {
        return false; // It has ended in the meantime.
      }
    });
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

const isRunning = (child: ChildProcess) =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

/** Asks again and again, until the answer is more than nothing. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T> | T,
  { withinMs = 120_000, everyMs = 50 } = {},
): Promise<NonNullable<Exclude<T, false | 0 | ''>>> {
  for (const deadline = Date.now() + withinMs; ;) {
    const answer = await ask();
    if (answer) return answer as NonNullable<Exclude<T, false | 0 | ''>>;
    if (Date.now() > deadline) throw new Error(`This did not happen within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
