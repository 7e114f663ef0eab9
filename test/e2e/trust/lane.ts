// A process that runs the situations it is given, with a PostgreSQL of its own, and a Gitea if it runs those that need
// one. trust.ts starts several of these: starting git holds up the process that starts it, and there are two cores.

import { createCleanup } from '../../bench/fixture.ts';
import { startGitea } from '../../gitea/server.ts';
import { openGiteaSite } from './gitea.ts';
import { type Grounds, type Row, rowOf, tasksOf } from './run.ts';
import { openBase } from './world.ts';

/** The first message to a lane; each one after it is a task to run. */
export type LaneJob = { readonly hasGitea: boolean };
export type LaneTask = { readonly index: number };
export type LaneReport = 'ready' | { readonly index: number; readonly row: Row };

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

const report = (what: LaneReport) => {
  if (process.connected) process.send!(what);
};

async function work({ hasGitea }: LaneJob): Promise<void> {
  const tasks = tasksOf();
  const base = await openBase();
  cleanup.add(base.stop);
  const gitea = hasGitea ? await openGitea() : { reason: 'no situation needs it' };
  process.on('message', (message) => {
    const { index } = message as LaneTask;
    void rowOf({ base, gitea }, tasks[index]!, index).then((row) => report({ index, row }));
  });
  report('ready');
}

process.once('message', (job) => void work(job as LaneJob));
