// Writes jobs into the library's table, in the transaction that makes them necessary. What the library's own function
// does, but for three things that cost most of a look when there are many queues:
//
// - It finds the rows it has to change by their key, in the index. The function joins its arguments with the table, and
//   PostgreSQL reads all of it for that, with the jobs that wait in it: some for every queue.
// - Workers are woken only for what is due. The function wakes one for every job, who looks and finds nothing.
// - No named queues (docs/decision/0001-engine.md).

import { assert } from '#base/assert.ts';
import type { Tx } from './cell.ts';
import { queueChannel } from './queue-notice.ts';
import { statement } from './statement.ts';

export type JobRow = {
  readonly key: string;
  readonly payload: object;
  /** The queue whose watchers are told. */
  readonly notice?: string;
};

export type JobTerms = {
  readonly task: string;
  /** Null: at once. */
  readonly at: Date | null;
  /** A pending job of the same key stays due when it is. */
  readonly keepsTime: boolean;
  readonly priority: number;
  /** A pending job of the same key that is not due for a while, and not later than this one, is left as it is. */
  readonly spares: boolean;
};

type AddArgs = [rows: string, task: string, at: Date | null, keepsTime: boolean, priority: number];
type Answer = { readonly key: string; readonly is_there: boolean };

/** Whether the job of a row of `wanted` is left as it is. It is not due for a while, so it cannot begin before we end. */
const isSpared = `coalesce((
      select s.locked_at is null and s.attempts = 0 and s.run_at > now() + interval '10 seconds'
        and (s.run_at = $3 or $4 and s.run_at < $3)
      from graphile_worker._private_jobs s where s.key = w.key), false)`;

// One after the other in the order of their keys: each locks a row, and two that lock many must never wait in a circle.
// The row of a pending job is locked by whoever adds to it, so a worker that takes it later sees every fact that was
// committed with it.
const insertText = (spared: string): string => `
  with wanted as materialized (
    select w.key, w.payload, w.notice, ${spared} as is_spared
    from jsonb_to_recordset($1) as w (key text, payload json, notice text)
  ), known as (
    select id from graphile_worker._private_tasks where identifier = $2
  ), made as (
    insert into graphile_worker._private_tasks (identifier) select $2 where not exists (select from known)
    on conflict do nothing returning id
  ), added as (
    insert into graphile_worker._private_jobs as j (task_id, payload, run_at, max_attempts, key, priority)
    select task.id, w.payload, coalesce($3::timestamptz, now()), 20, w.key, $5::smallint
    from wanted w cross join (select id from known union all select id from made) task
    where not w.is_spared order by w.key
    on conflict (key) do update set task_id = excluded.task_id, job_queue_id = null, payload = excluded.payload,
      max_attempts = excluded.max_attempts, priority = excluded.priority, revision = j.revision + 1, flags = null,
      run_at = case when $4::boolean and j.attempts = 0 then j.run_at else excluded.run_at end,
      attempts = 0, last_error = null, updated_at = now()
    where j.locked_at is null
    returning j.key, j.run_at
  ), woken as (
    select pg_notify('jobs:insert', json_build_object('r', random(), 'count', count(*))::text) from added
    where run_at <= now() having count(*) > 0
  )
  select w.key, w.is_spared or exists (select from added a where a.key = w.key) as is_there,
    case when w.notice is not null then pg_notify('${queueChannel}', w.notice) end, (select count(*) from woken)
  from wanted w`;

// Two statements: with a condition on an argument PostgreSQL would plan them anew each time, which takes longer than to
// run them.
const insertJobs = statement<AddArgs, Answer>(insertText('false'));
const insertUnlessSpared = statement<AddArgs, Answer>(insertText(isSpared));

// A job that has begun may have read before what is told now: it gives up its key, so that another can be added. It is
// not tried again if it fails, because that other is there.
const freeKeys = statement<[keys: readonly string[]]>(`
  update graphile_worker._private_jobs j set key = null, attempts = j.max_attempts, updated_at = now()
  where j.key = any ($1::text[]) and j.locked_at is not null`);

/** How often to add what a worker took in the middle of the addition. */
const triesMax = 10;

export async function addJobs(tx: Tx, terms: JobTerms, rows: readonly JobRow[]): Promise<void> {
  const { task, at, keepsTime, priority, spares } = terms;
  let missing = rows;
  for (let tries = 0; missing.length > 0; tries++) {
    assert(tries < triesMax, 'jobs are added, if not at once');
    if (tries > 0)
      await freeKeys(
        tx,
        missing.map(({ key }) => key),
      );
    const insert = spares ? insertUnlessSpared : insertJobs;
    const answers = await insert(tx, JSON.stringify(missing), task, at, keepsTime, priority);
    const there = new Set(answers.flatMap((answer) => (answer.is_there ? [answer.key] : [])));
    missing = missing.filter(({ key }) => !there.has(key));
  }
}
