// A process that runs its share of the situations, with a PostgreSQL of its own, and a Gitea if one of them needs it.
// trust.ts starts several of these: starting git holds up the process that starts it, and there are two cores.

import { createCleanup } from '../../bench/fixture.ts';
import { startGitea } from '../../test/gitea/server.ts';
import { openGiteaSite } from './gitea.ts';
import { type Grounds, type Row, runTasks, tasksOf } from './run.ts';
import { openBase } from './world.ts';

export type LaneJob = { readonly indexes: readonly number[]; readonly atOnce: number };
export type LaneReport = { readonly index: number; readonly row: Row };

const cleanup = createCleanup();
const end = () => void cleanup.run().then(() => process.exit(0));
// The process that started it is gone, or needs no more.
process.once('disconnect', end);
// Ctrl-C reaches the whole group: the one that started this ends it.
process.on('SIGINT', () => undefined);

async function openGitea(): Promise<Grounds['gitea']> {
  try {
    const gitea = await startGitea();
    cleanup.add(gitea.stop);
    return await openGiteaSite(gitea);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    return { reason: `no Gitea could be started here: ${words}` };
  }
}

async function work({ indexes, atOnce }: LaneJob): Promise<void> {
  const tasks = tasksOf().filter((_, index) => indexes.includes(index));
  const needsGitea = tasks.some(
    ({ kind, situation }) => kind === 'gitea' && situation.hosts.includes('gitea'),
  );
  const base = await openBase();
  cleanup.add(base.stop);
  const gitea = needsGitea ? await openGitea() : { reason: 'no situation needs it' };
  await runTasks({ base, gitea }, tasks, atOnce, (index, row) => {
    process.send!({ index: indexes[index]!, row } satisfies LaneReport);
  });
  process.disconnect();
}

process.once('message', (job) => void work(job as LaneJob));
