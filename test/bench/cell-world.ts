// The world of test/bench/cells.ts: two cells, each on a PostgreSQL of its own with queues under test, deployments on one or on
// both of them, a load generator for each, and a core for what belongs to one of them.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Cluster } from '../../script/postgres.ts';
import { type Deployment, startDeployment } from './deployment.ts';
import { eventCountOf } from './event.ts';
import type { EventLoadJob, EventLoadResult } from './event-load.ts';
import { type EventRound, eventRoundOf, waitForDecisions } from './event-round.ts';
import { type EventWorld, makeEventWorld, type WorldSize } from './event-world.ts';
import { type Cleanup, forked, openCluster, temporaryDir, withClient } from './fixture.ts';
import { parentOf, pidsUnder } from './processor.ts';

export type CellName = 'main' | 'east';

export type BenchCell = {
  readonly name: CellName;
  readonly cluster: Cluster;
  readonly world: EventWorld;
  readonly queues: number;
};

export type FreshCell = BenchCell & { readonly url: string };

/** Hosts deliver side by side. */
const loadConnections = 50;

export async function makeBenchCell(cleanup: Cleanup, name: CellName, size: WorldSize): Promise<BenchCell> {
  const cluster = await openCluster(cleanup, { track_commit_timestamp: 'on', shared_buffers: '256MB' });
  const dir = temporaryDir(cleanup, 'signalbox-bench-cells-');
  const world = await makeEventWorld(cleanup, cluster, dir, size);
  // Both were made as `bench`, and an organization lives in one cell.
  await withClient(cluster.url('model'), (client) =>
    client.query(`update organization set slug = slug || $1 where $1 <> '-main'`, [`-${name}`]),
  );
  return { name, cluster, world, queues: size.queues };
}

/** With the database as it was in the beginning. */
export const freshCell = async (cell: BenchCell): Promise<FreshCell> => ({
  ...cell,
  url: await cell.world.fresh('round'),
});

/** `serve` and `work` for these cells and no others. */
export function deployOn(cleanup: Cleanup, cells: readonly FreshCell[]): Promise<Deployment> {
  const common = {
    SIGNALBOX_CELLS: cells.map(({ name, url }) => `${name}=${url}`).join(' '),
    SIGNALBOX_SWEEP_SECONDS: '3600',
  };
  return startDeployment(cleanup, {
    url: '',
    dataDir: join(temporaryDir(cleanup, 'signalbox-bench-cells-'), 'data'),
    serve: common,
    // Pushing and sweeping are measured by test/bench/landing.ts.
    work: { ...common, SIGNALBOX_SANDBOX: 'off' },
    isQuiet: true,
  });
}

export type CellLoad = {
  /** At a rate; null: as fast as it goes. */
  readonly send: (seconds: number, rate: number | null) => Promise<EventLoadResult>;
  /** What was sent last, once all of it is decided. */
  readonly decided: (result: EventLoadResult) => Promise<EventRound>;
  readonly pid: number;
};

export async function loadOn(cleanup: Cleanup, cell: FreshCell, port: number): Promise<CellLoad> {
  const { ask, pid } = forked<EventLoadJob, EventLoadResult>(cleanup, 'event-load.ts');
  const { path, secret } = cell.world.receiver;
  const events = eventCountOf(cell.world.runs);
  // The model was made as the cell `main`.
  const here = path.replace('/hooks/main_', `/hooks/${cell.name}_`);
  await ask({ kind: 'prepare', port, path: here, secret, queues: cell.queues, events });
  let complete = 0;
  return {
    pid,
    send: async (seconds, rate) => {
      const result = await ask({ kind: 'send', connections: loadConnections, seconds, rate });
      complete += result.complete.length;
      return result;
    },
    decided: async (result) => eventRoundOf(result, await waitForDecisions(cell.url, complete)),
  };
}

/** From now on these processes, and all that they start, have this core alone. */
export function pin(core: number, roots: readonly number[]): void {
  for (const pid of roots.flatMap(pidsUnder))
    try {
      execFileSync('taskset', ['-acp', String(core), String(pid)], { stdio: 'ignore' });
    } catch (error) {
      // It may have ended meanwhile.
      if (parentOf(pid) !== null) throw error;
    }
}

/** The process that started all others of its PostgreSQL. */
export const postmasterOf = ({ url }: FreshCell): Promise<number> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = parentOf(rows[0]!.pid);
    if (pid === null) throw new Error('PostgreSQL is gone.');
    return pid;
  });
