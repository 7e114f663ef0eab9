// One git process from its start to its end: its input, its output up to a limit, and a limit of its time.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';

export type GitProcessRequest = {
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly input: string | Buffer | undefined;
  /** Longest time, or longest time without output if `isStall`. */
  readonly timeoutMs: number;
  readonly isStall: boolean;
  /** Most bytes of standard output. */
  readonly outputBytesMax: number;
};

export type GitProcessResult = {
  readonly kind: 'exited' | 'timed out' | 'too much' | 'not started' | 'ended by us' | 'lost';
  /** Null: a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: Buffer;
  /** The last of it. */
  readonly stderr: string;
};

export type GitProcessOptions = {
  /** Receives standard error as it is printed. */
  readonly onStderr?: ((text: string) => void) | undefined;
  /** Ends git. */
  readonly signal?: AbortSignal | undefined;
};

const stderrBytesMax = 65_536;
/** The pause before SIGKILL: git removes its lock files when it is terminated, not when it is killed. */
const killAfterMs = 3_000;

export function runGitProcess(
  { args, environment, input, timeoutMs, isStall, outputBytesMax }: GitProcessRequest,
  { onStderr, signal }: GitProcessOptions,
): Promise<GitProcessResult> {
  // A process group of its own, so that git's helpers end too: a surviving helper keeps the pipes open.
  const child = spawn('git', args, { env: environment, detached: true });
  const stdout: Buffer[] = [];
  let bytes = 0;
  let stderr = '';
  let kind: GitProcessResult['kind'] = 'exited';
  const stop = (why: GitProcessResult['kind']) => {
    if (kind !== 'exited') return;
    kind = why;
    signalGroup(child, 'SIGTERM');
    setTimeout(() => signalGroup(child, 'SIGKILL'), killAfterMs).unref();
  };
  const end = () => stop('ended by us');
  return new Promise((resolve) => {
    const timer = setTimeout(() => stop('timed out'), timeoutMs);
    const lives = () => void (isStall && timer.refresh());
    if (signal?.aborted === true) end();
    signal?.addEventListener('abort', end, { once: true });
    child.stdout.on('data', (chunk: Buffer) => {
      lives();
      bytes += chunk.length;
      if (bytes > outputBytesMax) stop('too much');
      else stdout.push(chunk);
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      lives();
      stderr = (stderr + chunk).slice(-stderrBytesMax);
      onStderr?.(chunk);
    });
    // If the process ends without reading its input, its exit code reports that.
    child.stdin.on('error', () => {});
    child.on('error', (error) => {
      kind = 'not started';
      stderr = error.message;
    });
    child.on('close', (exitCode) => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve({ kind, exitCode, stdout: Buffer.concat(stdout), stderr });
    });
    child.stdin.end(input);
  });
}

function signalGroup({ pid, exitCode, signalCode }: ChildProcessWithoutNullStreams, signal: NodeJS.Signals) {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has ended in the meantime.
  }
}
