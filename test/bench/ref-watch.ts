// Sees a reference of a repository on disk move, to the millisecond: its file is read again and again while somebody
// waits for it.

import { readFileSync } from 'node:fs';

export type Moved = { /** By `performance.now()`. */ readonly at: number; readonly sha: string };

export type RefWatch = {
  readonly until: (file: string, from: string) => Promise<Moved>;
  readonly stop: () => void;
};

const everyMs = 1;
const patienceMs = 120_000;

export function createRefWatch(): RefWatch {
  const waiting = new Set<() => void>();
  let timer: NodeJS.Timeout | undefined;
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
  };
  return {
    until: (file, from) =>
      new Promise((resolve, reject) => {
        const deadline = performance.now() + patienceMs;
        const look = () => {
          const at = performance.now();
          const sha = readFileSync(file, 'utf8').trim();
          if (sha === from && at < deadline) return;
          waiting.delete(look);
          if (waiting.size === 0) stop();
          if (sha === from) reject(new Error(`${file} did not move within ${patienceMs} ms.`));
          else resolve({ at, sha });
        };
        waiting.add(look);
        timer ??= setInterval(() => waiting.forEach((each) => each()), everyMs);
      }),
    stop,
  };
}
