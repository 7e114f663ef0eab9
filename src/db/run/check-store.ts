// Writes commit_check: the check results of commits that are under test. Updates about other commits are ignored.

import type { QueueId, RepositoryId } from '#base/id.ts';
import { canDecide, type Check, evaluateChecks } from '#core/queue/check.ts';
import { defaultSettings } from '#core/queue/settings.ts';
import type { Tx } from '../cell.ts';
import { noticeQueues } from '../queue-notice.ts';
import { requiredChecks } from '../host/required-view.ts';
import { statement } from '../statement.ts';

export type CheckUpdate = {
  readonly repositoryId: RepositoryId;
  readonly sha: string;
  readonly check: Check;
};

// One statement for a whole batch: of several updates of one check only the latest is written, because a statement cannot
// write a row twice.
const upsertChecks = statement<[updates: string], { sha: string }>(`
  with latest as (
    select distinct on (w.repository, w.sha, w.kind, w.name) w.*
    from jsonb_to_recordset($1) as w (repository uuid, sha text, kind text, name text, at double precision, body jsonb)
    where exists (select from test_run t join queue q on q.id = t.queue_id and q.repository_id = w.repository
      where t.test_branch_sha = w.sha and t.status = 'in_progress')
    order by w.repository, w.sha, w.kind, w.name, w.at desc
  ), saved as (
    insert into commit_check as c (repository_id, sha, kind, name, reported_at, body)
    select repository, sha, kind, name, to_timestamp(at / 1000), body from latest
    on conflict (repository_id, sha, kind, name) do update set reported_at = excluded.reported_at, body = excluded.body
      where c.reported_at <= excluded.reported_at and c.body <> excluded.body
    returning sha
  )
  select distinct sha from saved`);

type LockedRun = { queue_id: string; sha: string; is_new: boolean };

// Serialises concurrent check updates of a run: otherwise each of the last two could miss the other, and the verdict would
// stay open in both. All runs at once and in one order, so that no two transactions wait for each other.
const lockRuns = statement<[shas: string], LockedRun>(`
  select queue_id, test_branch_sha as sha, started_at is null as is_new from test_run
  where test_branch_sha = any ($1::text[]) and status = 'in_progress'
  order by queue_id, id for no key update`);

// The start of CI needs no reconcile: the next one reads it, at the latest at the start timeout of CI.
const beginRuns = statement<[shas: string]>(`
  update test_run set started_at = now()
  where test_branch_sha = any ($1::text[]) and status = 'in_progress' and started_at is null`);

type TestedRun = {
  queue_id: string;
  required_statuses: string[];
  required_sources: (string | null)[];
  skippable: string[] | null;
  /** Json, separated by commas; null: there are none. */
  checks: string | null;
};

// This runs for every check update. Results are read as text, because building json from json is slow.
const selectTestedRuns = statement<[shas: string], TestedRun>(`
  select t.queue_id, t.required_statuses, t.required_sources, q.settings -> 'skippableStatuses' as skippable,
    (select string_agg(c.body::text, ',') from commit_check c
      where c.repository_id = q.repository_id and c.sha = t.test_branch_sha) as checks
  from test_run t join queue q on q.id = t.queue_id
  where t.test_branch_sha = any ($1::text[]) and t.status = 'in_progress'`);

/** Most check updates leave the verdict on their run open, and a reconcile would then change nothing. */
function isDecided(run: TestedRun): boolean {
  const required = requiredChecks(run.required_statuses, run.required_sources);
  const checks = JSON.parse(`[${run.checks ?? ''}]`) as Check[];
  return evaluateChecks(required, checks, run.skippable ?? defaultSettings.skippableStatuses).kind !== 'open';
}

/** Shas are of hexadecimal digits: they need no quotes. */
const formatArrayLiteral = (shas: Iterable<string>): string => `{${[...shas].join(',')}}`;

/** Records the check updates, and returns the queues with a run whose verdict is no longer open, in rising order. */
export async function recordChecks(tx: Tx, updates: readonly CheckUpdate[]): Promise<readonly QueueId[]> {
  const rows = updates.map(({ repositoryId, sha, check }) => ({
    repository: repositoryId,
    sha,
    kind: check.kind,
    name: check.kind === 'check' ? `${check.suite}/${check.name}` : check.name,
    at: check.at,
    body: check,
  }));
  const deciding = new Set(updates.flatMap(({ sha, check }) => (canDecide(check) ? [sha] : [])));
  // Sent together and answered in order. Runs are also read where no update is new: a poll repairs whatever was lost.
  const [runs, changed, tested] = await Promise.all([
    lockRuns(tx, formatArrayLiteral(new Set(updates.map(({ sha }) => sha)))),
    upsertChecks(tx, JSON.stringify(rows)),
    deciding.size === 0 ? [] : selectTestedRuns(tx, formatArrayLiteral(deciding)),
  ]);
  const shas = new Set(changed.map((row) => row.sha));
  const changedRuns = runs.filter((run) => shas.has(run.sha));
  const begun = changedRuns.filter((run) => run.is_new).map((run) => run.sha);
  const sent: Promise<unknown>[] = [];
  if (begun.length > 0) sent.push(beginRuns(tx, formatArrayLiteral(begun)));
  if (changedRuns.length > 0)
    sent.push(
      noticeQueues(
        tx,
        changedRuns.map((run) => run.queue_id as QueueId),
      ),
    );
  await Promise.all(sent);
  const decided = new Set(tested.filter(isDecided).map((row) => row.queue_id as QueueId));
  return [...decided].toSorted();
}

const deleteOld = statement<[before: Date]>('delete from commit_check where reported_at < $1');

/** A run that has ended keeps its own check results. */
export async function forgetChecks(tx: Tx, before: Date): Promise<void> {
  await deleteOld(tx, before);
}
