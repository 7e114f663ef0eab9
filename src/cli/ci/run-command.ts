// Runs the user's command as if it ran alone: same terminal, same signals, same exit code.

import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Ending } from './decide-exit-code.ts';

export type CommandEnd =
  | {
      readonly kind: 'ended';
      readonly ending: Ending;
      /** A signal asked Signalbox to exit meanwhile. */ readonly isInterrupted: boolean;
      /** It took too long, and was terminated. */ readonly isTimedOut: boolean;
    }
  /** With the exit code that a shell has in this case. */
  | { readonly kind: 'not-started'; readonly why: string; readonly code: number };

const forwarded = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** A command that does not end when it is asked to is killed after this time. */
const graceMs = 5_000;

/** `timeoutMs`: after this time the command is terminated. Default: never. */
export function runCommand(
  command: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
  timeoutMs?: number,
): Promise<CommandEnd> {
  const [program = '', ...args] = command;
  let isInterrupted = false;
  let isTimedOut = false;
  const listeners = forwarded.map((signal) => {
    const listener = () => {
      isInterrupted ||= signal !== 'SIGUSR1' && signal !== 'SIGUSR2';
      // A terminal has sent Ctrl-C to the command already, and a second one makes many runners give up at once.
      if ((signal === 'SIGINT' || signal === 'SIGQUIT') && process.stdin.isTTY) return;
      child.kill(signal);
    };
    process.on(signal, listener);
    return { signal, listener };
  });
  // Started after the listeners: a signal may come as soon as the command runs, and must not leave it behind.
  const child = spawn(program, args, { cwd, env, stdio: 'inherit' });
  const timers =
    timeoutMs === undefined
      ? []
      : [
          setTimeout(() => {
            isTimedOut = true;
            child.kill('SIGTERM');
          }, timeoutMs),
          setTimeout(() => child.kill('SIGKILL'), timeoutMs + graceMs),
        ];
  return new Promise<CommandEnd>((done) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      const code = error.code === 'ENOENT' ? 127 : 126;
      done({ kind: 'not-started', why: `${program} could not be started: ${error.message}`, code });
    });
    child.once('exit', (code, signal) => {
      const ending: Ending =
        signal === null
          ? { kind: 'exited', code: code ?? 1 }
          : { kind: 'killed', signal, code: 128 + constants.signals[signal] };
      done({ kind: 'ended', ending, isInterrupted, isTimedOut });
    });
  }).finally(() => {
    for (const timer of timers) clearTimeout(timer);
    for (const { signal, listener } of listeners) process.off(signal, listener);
  });
}
