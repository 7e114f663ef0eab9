// The small process that starts git (launcher.ts). It ends with the process that started it, and so does the git that it runs.

import { runGitProcess } from './git-process.ts';
import type { LauncherAnswer, LauncherRequest } from './launcher.ts';

const running = new Map<number, AbortController>();

const answer = (message: LauncherAnswer): void =>
  void process.send?.(message, undefined, {}, () => undefined);

async function run({ id, request, wantsStderr }: Extract<LauncherRequest, { kind: 'run' }>): Promise<void> {
  const controller = new AbortController();
  running.set(id, controller);
  const onStderr = wantsStderr ? (text: string) => answer({ kind: 'stderr', id, text }) : undefined;
  const result = await runGitProcess(request, { onStderr, signal: controller.signal });
  running.delete(id);
  answer({ kind: 'ended', id, result });
}

process.on('message', (message: LauncherRequest) => {
  if (message.kind === 'run') void run(message);
  else running.get(message.id)?.abort();
});
process.once('disconnect', () => {
  for (const controller of running.values()) controller.abort();
});
// A supervisor that stops the service signals all of its processes: git continues until the service has ended.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
