// What an event costs, beside how many fit into a second: where others use the machine too, work says more than time.
// The processor's time by process, and of the database what it wrote, how often it committed and waited for the disk,
// and which statements it ran.

import { type ProcessorTime, processorTime, timeBetween } from './processor.ts';
import { withClient } from './fixture.ts';

/** What PostgreSQL needs to count statements; it takes some of its time, and so of both sides'. */
export const countingSettings = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_planning': 'on',
};

type StatementCount = {
  readonly text: string;
  readonly calls: number;
  readonly ms: number;
  /** How often it was planned anew, and how long that took. */
  readonly plans: number;
  readonly planMs: number;
};

type Counted = {
  readonly time: ProcessorTime;
  readonly walBytes: number;
  readonly syncs: number;
  readonly commits: number;
};

export type EventCost = {
  /** Milliseconds of the processor per event. */
  readonly serveMs: number;
  readonly workMs: number;
  readonly databaseMs: number;
  /** Per event. */
  readonly walBytes: number;
  readonly syncs: number;
  readonly commits: number;
  readonly statements: number;
  /** Per thousand events, the most costly first. */
  readonly most: readonly StatementCount[];
};

type Pids = { readonly serve: number; readonly work: number };

/** As much of a statement as tells which it is. */
const shownLength = 110;
const shownCount = 25;

const nothing: Pids = { serve: -1, work: -1 };

/** Counts from now on; the answer ends it, with how many events there were. */
export async function countCost(
  url: string,
  pids: Pids = nothing,
): Promise<(events: number) => Promise<EventCost>> {
  const begun = await withClient(url, async (client) => {
    await client.query('create extension if not exists pg_stat_statements');
    await client.query('select pg_stat_statements_reset()');
    return count(url, pids);
  });
  return async (events) => {
    const ended = await count(url, pids);
    const statements = await listStatements(url);
    const time = timeBetween(begun.time, ended.time);
    const calls = statements.reduce((sum, each) => sum + each.calls, 0);
    const per = (value: number) => value / events;
    return {
      serveMs: per(1000 * time.serve),
      workMs: per(1000 * time.work),
      databaseMs: per(1000 * time.database),
      walBytes: per(ended.walBytes - begun.walBytes),
      syncs: per(ended.syncs - begun.syncs),
      commits: per(ended.commits - begun.commits),
      statements: per(calls),
      most: statements.slice(0, shownCount).map((each) => ({
        text: each.text.replaceAll(/\s+/g, ' ').trim().slice(0, shownLength),
        calls: 1000 * per(each.calls),
        ms: 1000 * per(each.ms),
        plans: 1000 * per(each.plans),
        planMs: 1000 * per(each.planMs),
      })),
    };
  };
}

const count = (url: string, pids: Pids): Promise<Counted> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ bytes: number; syncs: number; commits: number }>(
      `select (select wal_bytes::float8 from pg_stat_wal) as bytes, (select wal_sync::float8 from pg_stat_wal) as syncs,
         (select xact_commit::float8 from pg_stat_database where datname = current_database()) as commits`,
    );
    const [row] = rows;
    return { time: processorTime(pids), walBytes: row!.bytes, syncs: row!.syncs, commits: row!.commits };
  });

const listStatements = (url: string): Promise<StatementCount[]> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<StatementCount>(
      `select s.query as text, s.calls::float8, s.total_exec_time as ms, s.plans::float8,
         s.total_plan_time as "planMs"
       from pg_stat_statements s
       join pg_database d on d.oid = s.dbid and d.datname = current_database()
       where s.toplevel order by s.total_exec_time + s.total_plan_time desc`,
    );
    return rows;
  });

export function printCost({ most, ...cost }: EventCost): void {
  console.log(
    `  per event: processor ms serve ${cost.serveMs.toFixed(3)}, work ${cost.workMs.toFixed(3)}, database ` +
      `${cost.databaseMs.toFixed(3)}; ${cost.statements.toFixed(2)} statements, ${cost.commits.toFixed(3)} commits, ` +
      `${cost.syncs.toFixed(3)} syncs, ${cost.walBytes.toFixed()} bytes of log`,
  );
  for (const { text, calls, ms, plans, planMs } of most)
    console.log(
      `  ${ms.toFixed().padStart(6)} ms ${calls.toFixed().padStart(5)} calls, ${planMs.toFixed().padStart(4)} ms ` +
        `${plans.toFixed().padStart(4)} plans per 1000: ${text}`,
    );
}
