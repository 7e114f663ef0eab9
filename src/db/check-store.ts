// Writes commit_check: what CI said of commits that are under test. Words about other commits are passed over.

import type { QueueId, RepositoryId } from '#base/id.ts';
import type { Check } from '#core/queue/check.ts';
import type { Tx } from './cell.ts';
import { noticeQueues } from './queue-notice.ts';
import { statement } from './statement.ts';

export type CheckWord = { readonly repositoryId: RepositoryId; readonly sha: string; readonly check: Check };

// One statement for a whole batch: of several words on one check in it only the latest is written, because a statement
// cannot touch a row twice.
const upsertChecks = statement<[words: string], { sha: string }>(`
  with said as (
    select distinct on (w.repository, w.sha, w.kind, w.name) w.*
    from jsonb_to_recordset($1) as w (repository uuid, sha text, kind text, name text, at double precision, body jsonb)
    where exists (select from test_run t join queue q on q.id = t.queue_id and q.repository_id = w.repository
      where t.test_branch_sha = w.sha and t.status = 'in_progress')
    order by w.repository, w.sha, w.kind, w.name, w.at desc
  ), saved as (
    insert into commit_check as c (repository_id, sha, kind, name, reported_at, body)
    select repository, sha, kind, name, to_timestamp(at / 1000), body from said
    on conflict (repository_id, sha, kind, name) do update set reported_at = excluded.reported_at, body = excluded.body
      where c.reported_at <= excluded.reported_at and c.body <> excluded.body
    returning sha
  )
  select distinct sha from saved`);

type LockedRun = { queue_id: string; sha: string; is_new: boolean };

// Two that each record one of the last two words on a run must not both find the other's missing: the second waits, and
// then sees what the first has written. All of them at once and in one order, so that nobody waits in a circle.
const lockRuns = statement<[shas: string], LockedRun>(`
  select queue_id, test_branch_sha as sha, started_at is null as is_new from test_run
  where test_branch_sha = any ($1::text[]) and status = 'in_progress'
  order by queue_id, id for no key update`);

// No look is worth it for this: the next one finds when CI began, and at the latest when the time to begin is over.
const beginRuns = statement<[shas: string]>(`
  update test_run set started_at = now()
  where test_branch_sha = any ($1::text[]) and status = 'in_progress' and started_at is null`);

// Whether a run may be decided: a required check ended in another way than `success`, or each has a result that is over.
// core/queue/check.ts alone decides. This finds the queues that are worth reconciling, since most updates change nothing:
// it knows neither sources nor skippable checks, and may name a queue too many, never one too few.
const selectDecided = statement<[shas: string], { queue_id: string }>(`
  select distinct t.queue_id from test_run t join queue q on q.id = t.queue_id
  cross join lateral (
    select bool_or(said.failed) as failed, count(*) filter (where said.closed) as closed
    from (
      select
        bool_or(case c.kind when 'status' then c.body ->> 'state' not in ('success', 'pending')
          else c.body ->> 'conclusion' <> 'success' end) as failed,
        bool_or(case c.kind when 'status' then c.body ->> 'state' <> 'pending'
          else c.body ->> 'status' = 'completed' end) as closed
      from commit_check c
      where c.repository_id = q.repository_id and c.sha = t.test_branch_sha
        and c.body ->> 'name' = any (t.required_statuses)
      group by c.body ->> 'name'
    ) said
  ) verdict
  where t.test_branch_sha = any ($1::text[]) and t.status = 'in_progress'
    and (verdict.failed or verdict.closed = (select count(distinct name) from unnest(t.required_statuses) as name))`);

/** A word that a check is open decides nothing. */
const isOpen = (check: Check): boolean =>
  check.kind === 'status' ? check.state === 'pending' : check.status !== 'completed';

/** Shas are of hexadecimal digits: they need no quotes. */
const arrayOf = (shas: Iterable<string>): string => `{${[...shas].join(',')}}`;

/** Records what is new, and answers with the queues that are to be looked at for it, in rising order. */
export async function recordChecks(tx: Tx, words: readonly CheckWord[]): Promise<readonly QueueId[]> {
  const rows = words.map(({ repositoryId, sha, check }) => ({
    repository: repositoryId,
    sha,
    kind: check.kind,
    name: check.kind === 'check' ? `${check.suite}/${check.name}` : check.name,
    at: check.at,
    body: check,
  }));
  const closed = [...new Set(words.flatMap(({ sha, check }) => (isOpen(check) ? [] : [sha])))];
  // Sent together and answered in order. What is decided is asked for also where nothing is new: a sweep repairs what was
  // lost, whatever it was.
  const [runs, changed, decided] = await Promise.all([
    lockRuns(tx, arrayOf(new Set(words.map(({ sha }) => sha)))),
    upsertChecks(tx, JSON.stringify(rows)),
    closed.length === 0 ? [] : selectDecided(tx, arrayOf(closed)),
  ]);
  const shas = new Set(changed.map((row) => row.sha));
  const heardOf = runs.filter((run) => shas.has(run.sha));
  const begun = heardOf.filter((run) => run.is_new).map((run) => run.sha);
  const sent: Promise<unknown>[] = [];
  if (begun.length > 0) sent.push(beginRuns(tx, arrayOf(begun)));
  if (heardOf.length > 0)
    sent.push(
      noticeQueues(
        tx,
        heardOf.map((run) => run.queue_id as QueueId),
      ),
    );
  await Promise.all(sent);
  return decided.map((row) => row.queue_id as QueueId).toSorted();
}

const deleteOld = statement<[before: Date]>('delete from commit_check where reported_at < $1');

/** Runs keep what was said of them: this is only the working copy. */
export async function forgetChecks(tx: Tx, before: Date): Promise<void> {
  await deleteOld(tx, before);
}
