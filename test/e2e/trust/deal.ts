// Deals situations out to processes as these become free, the long ones first, so that all end at about the same time.

import { fork } from 'node:child_process';
import { compileCache } from '../../support/compile-cache.ts';
import type { LaneJob, LaneReport, LaneTask } from './lane.ts';
import type { Row, Task } from './run.ts';

/** Situations wait for git, PostgreSQL and the hosts most of their time; a real Gitea lets them wait longest. */
const giteaAtOnce = 5;
const othersAtOnce = 2;
const others = 2;

export type Dealt = { readonly index: number; readonly task: Task };

/** Runs all of them; `onRow` hears of each as it ends. */
export async function dealOut(
  dealt: readonly Dealt[],
  onRow: (index: number, row: Row) => void,
): Promise<void> {
  const inOrder = dealt.toSorted((one, other) => lengthOf(other.task) - lengthOf(one.task));
  const ofGitea = inOrder.filter(({ task }) => task.kind === 'gitea').map(({ index }) => index);
  const ofOthers = inOrder.filter(({ task }) => task.kind !== 'gitea').map(({ index }) => index);
  const lanes = [
    ...(ofGitea.length > 0
      ? [{ hasGitea: true, atOnce: giteaAtOnce, next: () => ofGitea.shift() ?? ofOthers.shift() }]
      : []),
    ...(ofOthers.length > 0
      ? Array.from({ length: others }, () => ({
          hasGitea: false,
          atOnce: othersAtOnce,
          next: () => ofOthers.shift(),
        }))
      : []),
  ];
  await Promise.all(lanes.map((lane) => runLane(lane, onRow)));
}

/** About how long a situation takes, compared with others: a batch is several pull requests. */
const lengthOf = ({ theme }: Task): number => ({ landing: 3, infrastructure: 2 })[theme] ?? 1;

type Lane = {
  readonly hasGitea: boolean;
  readonly atOnce: number;
  readonly next: () => number | undefined;
};

async function runLane(
  { hasGitea, atOnce, next }: Lane,
  onRow: (index: number, row: Row) => void,
): Promise<void> {
  const env = { ...process.env, ...compileCache };
  const child = fork(new URL('lane.ts', import.meta.url), { env });
  let running = 0;
  const give = () => {
    const index = next();
    if (index === undefined) return;
    running += 1;
    child.send({ index } satisfies LaneTask);
  };
  child.on('message', (message) => {
    const report = message as LaneReport;
    if (report === 'ready') for (let count = 0; count < atOnce; count += 1) give();
    else {
      running -= 1;
      onRow(report.index, report.row);
      give();
    }
    if (running === 0) child.disconnect();
  });
  const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      if (child.connected) child.disconnect();
    });
  child.send({ hasGitea } satisfies LaneJob);
  await ended;
}
