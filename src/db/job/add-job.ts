// Adds jobs in the transaction that makes them necessary, by the functions and the view that graphile-worker documents
// ("Adding jobs through SQL", "The jobs view"), and by nothing else of its schema (docs/decision/0023-job-interface.md).
//
// There is one pending job for each key. The functions lock the row of that job until the transaction ends,
// so a worker that takes it later reads every fact that was committed with it. A running job may have read
// too early: the functions clear its key and add another job.

import { assert } from '#base/assert.ts';
import type { QueueId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { noticeColumn } from '../queue-notice.ts';
import { statement } from '../statement.ts';

export type NewJob = {
  readonly task: string;
  readonly key: string;
  readonly payload: object;
  /**
   * Milliseconds from now until the job is due, by the database's clock: that clock decides what is due, and
   * a worker's clock may be wrong. Null: at once.
   */
  readonly inMs: number | null;
  /** A pending job with the same key keeps its due time. */
  readonly keepsTime: boolean;
  readonly priority: number;
  /** A pending job with the same key stays unchanged if it is due in a while, but not later than this one. */
  readonly skipIfScheduled: boolean;
  /** Jobs of the same name run one after the other; null: beside all others. */
  readonly turn: string | null;
};

// By `add_job` for each, in the order of their keys: it locks the row of its job, and two transactions that add overlapping
// lists must not wait for each other in a circle. `add_jobs` locks its rows in an order that PostgreSQL chooses.

// A job that is not due for a while cannot begin before this transaction ends, so reading it is enough. Each is looked up
// by its key: with `exists` PostgreSQL may read the whole table instead.
const addAll = statement<[jobs: string], { key: string }>(`
  with asked as materialized (
    select w.*, clock_timestamp() + w."inMs" * interval '1 millisecond' as at
    from json_to_recordset($1) as w (task text, key text, payload json, "inMs" float8, "keepsTime" boolean,
      priority int, "skipIfScheduled" boolean, turn text)
  ), wanted as materialized (
    select w.*, w."skipIfScheduled" and coalesce((
        select true from graphile_worker.jobs j where j.key = w.key and j.locked_at is null and j.attempts = 0
          and j.run_at > now() + interval '10 seconds' and j.run_at <= w.at + interval '250 milliseconds'), false) as is_scheduled
    from asked w
  )
  select key from wanted where is_scheduled
  union all
  select w.key from (select * from wanted where not is_scheduled order by key offset 0) as w
    cross join lateral graphile_worker.add_job(w.task, w.payload, run_at := w.at, job_key := w.key, max_attempts := 20,
      priority := w.priority, queue_name := w.turn, job_key_mode := case when w."keepsTime" then 'preserve_run_at' else 'replace' end) as job
  where job.id is not null`);

/** How often to add what a worker took in the middle of the addition: then the functions answer without that job. */
const triesMax = 10;

async function addJobs(tx: Tx, jobs: readonly NewJob[]): Promise<void> {
  let missing = jobs;
  for (let tries = 0; missing.length > 0; tries++) {
    assert(tries < triesMax, 'jobs are added, if not at once');
    const there = new Set((await addAll(tx, JSON.stringify(missing))).map(({ key }) => key));
    missing = missing.filter(({ key }) => !there.has(key));
  }
}

type PendingJobInsert = { readonly jobs: Map<string, NewJob>; readonly added: Promise<void> };

/** What is to be added in this turn of the event loop, by transaction. */
const gathering = new WeakMap<Tx, PendingJobInsert>();

/** What a transaction adds in one turn of the event loop is one statement, and in the order of the keys. */
export function addJob(tx: Tx, job: NewJob): Promise<void> {
  let gathered = gathering.get(tx);
  if (gathered === undefined || gathered.jobs.has(job.key)) {
    const jobs = new Map<string, NewJob>();
    const added = Promise.resolve().then(() => {
      if (gathering.get(tx)?.jobs === jobs) gathering.delete(tx);
      return addJobs(tx, [...jobs.values()]);
    });
    gathering.set(tx, (gathered = { jobs, added }));
  }
  gathered.jobs.set(job.key, job);
  return gathered.added;
}

const addReconciles = statement<[queueIds: string], { queue_id: QueueId; is_there: boolean }>(`
  select w.id as queue_id, job.id is not null as is_there, ${noticeColumn('w.id')}
  from (select id from jsonb_array_elements_text($1::jsonb) as id order by id offset 0) as w
  cross join lateral graphile_worker.add_job('reconcile-queue', json_build_object('queueId', w.id),
    job_key := 'reconcile:' || w.id, max_attempts := 20) as job`);

/** Adds one reconcile for each queue, and sends a notice to the watchers of each. */
export async function addReconcileJobs(tx: Tx, queueIds: readonly QueueId[]): Promise<void> {
  let missing = queueIds;
  for (let tries = 0; missing.length > 0; tries++) {
    assert(tries < triesMax, 'jobs are added, if not at once');
    const answers = await addReconciles(tx, JSON.stringify(missing));
    missing = answers.flatMap(({ queue_id: id, is_there: isThere }) => (isThere ? [] : [id]));
  }
}
