// Adds jobs in the transaction that makes them necessary, by the functions and the view that graphile-worker documents
// ("Adding jobs through SQL", "The jobs view"), and by nothing else of its schema (docs/decision/0023-job-interface.md).
//
// There is one pending job for each key. The functions lock the row of that job until the transaction ends, so a worker
// that takes it later reads every fact that was committed with it. A job that has begun may have read too early: the
// functions take its key away and add another job.

import { assert } from '#base/assert.ts';
import type { QueueId } from '#base/id.ts';
import type { Tx } from './cell.ts';
import { noticeColumn } from './queue-notice.ts';
import { statement } from './statement.ts';

export type NewJob = {
  readonly task: string;
  readonly key: string;
  readonly payload: object;
  /**
   * Milliseconds from now until it is due, by the database's clock alone: it decides what is due, and that of a worker may
   * be wrong. Null: at once.
   */
  readonly inMs: number | null;
  /** A pending job of the same key stays due when it is. */
  readonly keepsTime: boolean;
  readonly priority: number;
  /** A pending job of the same key that is not due for a while, and not later than this one, is left as it is. */
  readonly spares: boolean;
};

/** The function is not called with an empty list: it would wake a worker for nothing. */
const addedOf = (condition: string, keepsTime: boolean): string => `
    select job.key from (
      select array_agg(row(w.task, w.payload, null, w.at, 20, w.key, w.priority, null)::graphile_worker.job_spec
        order by w.key) as specs
      from wanted w where not w.is_spared and ${condition} having count(*) > 0
    ) as needed cross join lateral graphile_worker.add_jobs(needed.specs, ${keepsTime}) as job`;

// A job that is not due for a while cannot begin before this transaction ends, so reading it is enough. Each is looked up
// by its key: with `exists` PostgreSQL may read the whole table instead.
const addAll = statement<[jobs: string], { key: string }>(`
  with asked as materialized (
    select w.*, clock_timestamp() + w."inMs" * interval '1 millisecond' as at
    from json_to_recordset($1) as w (task text, key text, payload json, "inMs" float8, "keepsTime" boolean,
      priority smallint, spares boolean)
  ), wanted as materialized (
    select w.*, w.spares and coalesce((
        select true from graphile_worker.jobs j where j.key = w.key and j.locked_at is null and j.attempts = 0
          and j.run_at > now() + interval '10 seconds' and j.run_at <= w.at + interval '250 milliseconds'), false) as is_spared
    from asked w
  ), replaced as materialized (${addedOf('not w."keepsTime"', false)}
  ), kept as materialized (${addedOf('w."keepsTime"', true)}
  )
  select key from wanted where is_spared union all select key from replaced union all select key from kept`);

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

type Gathered = { readonly jobs: Map<string, NewJob>; readonly added: Promise<void> };

/** What is to be added in this turn of the event loop, by transaction. */
const gathering = new WeakMap<Tx, Gathered>();

/** What a transaction adds in one turn of the event loop is one statement: most of its cost is the call, not the job. */
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

/** The first key of our advisory locks on jobs; the second is a part of the hash of the job's key. */
const lockClass = 7_311;
/** A power of two. PostgreSQL has room for more locks than this, and all transactions together hold no more. */
const lockSlots = 4_096;

// The function locks the rows of its jobs in an order that PostgreSQL chooses. Two transactions that add overlapping lists
// must not wait for each other in a circle, so each first takes locks of our own in rising order.
const addReconciles = statement<[queueIds: string], { queue_id: QueueId; is_there: boolean }>(`
  with wanted as materialized (
    select id, 'reconcile:' || id as key from jsonb_array_elements_text($1::jsonb) as id
  ), locked as materialized (
    select pg_advisory_xact_lock(${lockClass}, slot)
    from (select distinct hashtext(key) & ${lockSlots - 1} as slot from wanted order by slot) as slots
  ), added as materialized (
    select job.key from graphile_worker.add_jobs(array(
      select row('reconcile-queue', json_build_object('queueId', w.id), null, null, 20, w.key, 0,
        null)::graphile_worker.job_spec
      from wanted w cross join (select count(*) from locked) as all_locked order by w.key)) as job
  )
  select w.id as queue_id, exists (select from added a where a.key = w.key) as is_there, ${noticeColumn('w.id')}
  from wanted w`);

/** One look at each of the queues, and a notice to those who watch them. */
export async function addReconcileJobs(tx: Tx, queueIds: readonly QueueId[]): Promise<void> {
  let missing = queueIds;
  for (let tries = 0; missing.length > 0; tries++) {
    assert(tries < triesMax, 'jobs are added, if not at once');
    const answers = await addReconciles(tx, JSON.stringify(missing));
    missing = answers.flatMap(({ queue_id: id, is_there: isThere }) => (isThere ? [] : [id]));
  }
}
