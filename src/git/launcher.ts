// Starts git from a small process. To start a child, Linux copies the page tables of its parent, and that takes the longer the more
// memory the parent uses (man 2 fork): some 3 ms for a small process, 25 ms for one with 300 MB, of which nothing else runs in the
// parent for 8. So the service, with its caches and its modules, starts one process that has none of them, and
// this one starts git.
//
// The small process starts with the first command and ends with this one. If it dies, the commands that it runs are lost, and the
// next command starts another.

import { type ChildProcess, fork } from 'node:child_process';
import { extname } from 'node:path';
import type { GitProcessOptions, GitProcessRequest, GitProcessResult } from './git-process.ts';

export type LauncherRequest =
  | {
      readonly kind: 'run';
      readonly id: number;
      readonly request: GitProcessRequest;
      readonly wantsStderr: boolean;
    }
  | { readonly kind: 'stop'; readonly id: number };

export type LauncherAnswer =
  | { readonly kind: 'stderr'; readonly id: number; readonly text: string }
  | { readonly kind: 'ended'; readonly id: number; readonly result: GitProcessResult };

type Pending = {
  readonly onStderr: GitProcessOptions['onStderr'];
  readonly end: (result: GitProcessResult) => void;
};

type Launcher = { readonly child: ChildProcess; readonly pending: Map<number, Pending> };

/** With the extension of this file: TypeScript in a checkout, JavaScript in the package. */
const program = new URL(`./launcher-process${extname(import.meta.filename)}`, import.meta.url);

const lost: GitProcessResult = {
  kind: 'lost',
  exitCode: null,
  stdout: Buffer.alloc(0),
  stderr: 'The process that runs git ended.',
};

let launcher: Launcher | null = null;
let lastId = 0;

/** Runs git, as `runGitProcess` does. */
export function launchGit(
  request: GitProcessRequest,
  { onStderr, signal }: GitProcessOptions,
): Promise<GitProcessResult> {
  const { child, pending } = (launcher ??= openLauncher());
  const id = ++lastId;
  const send = (message: LauncherRequest) => child.send(message, () => undefined);
  const stop = () => send({ kind: 'stop', id });
  return new Promise((resolve) => {
    pending.set(id, {
      onStderr,
      end: (result) => {
        pending.delete(id);
        // Without a command that runs, it does not keep this process alive.
        if (pending.size === 0) child.channel?.unref();
        signal?.removeEventListener('abort', stop);
        resolve(result);
      },
    });
    child.channel?.ref();
    send({ kind: 'run', id, request, wantsStderr: onStderr !== undefined });
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

function openLauncher(): Launcher {
  const pending: Launcher['pending'] = new Map();
  const child = fork(program, {
    execArgv: [],
    env: {},
    // A signal to the group of this process is not for it: it ends when this process has ended.
    detached: true,
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  child.unref();
  const opened = { child, pending };
  const closed = () => {
    if (launcher === opened) launcher = null;
    for (const { end } of pending.values()) end(lost);
  };
  child.on('message', (answer: LauncherAnswer) => {
    const command = pending.get(answer.id);
    if (answer.kind === 'stderr') command?.onStderr?.(answer.text);
    else command?.end(answer.result);
  });
  child.once('error', closed);
  child.once('disconnect', closed);
  return opened;
}
