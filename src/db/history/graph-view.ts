// The queue as a graph, read with one statement: the queued entries and what the planner remembers of them
// are of the same moment.

import type { QueueId } from '#base/id.ts';
import type { Check, RequiredCheck } from '#core/queue/check.ts';
import type { StoredItem } from '#core/queue/engine/stored.ts';
import type { EntryState } from '#core/queue/model.ts';
import type { Run, Search } from '#core/queue/planner/model.ts';
import { unpackRuns } from '#core/queue/engine/packed-plan.ts';
import type { Tx } from '../cell.ts';
import { type KeptChecks, keptChecks } from '../run/kept-check.ts';
import { type StoredItemRow, toStoredItem } from '../stored-item.ts';
import { plannedRunsSql } from '../run/run-member.ts';
import { requiredChecksColumn } from '../host/required-view.ts';
import { statement } from '../statement.ts';

/** Most entries that are shown, from the front of the queue. */
export const graphEntriesMax = 1_000;

export type GraphRow = {
  readonly prNumber: number;
  readonly title: string;
  readonly headSha: string;
  readonly state: EntryState;
  readonly attempt: number;
  readonly isLanding: boolean;
  readonly plan: StoredItem | null;
  /** Milliseconds; null if no targets were uploaded for its head. */
  readonly targetsAt: number | null;
  readonly impactsAll: boolean | null;
  readonly targetCount: number | null;
};

export type QueueGraphRows = {
  /** In queue order; one more than is shown indicates that there are more. */
  readonly entries: readonly GraphRow[];
  readonly tip: string | null;
  readonly runs: readonly Run[];
  readonly searches: readonly Search[];
  /** Ids of the runs by their numbers in the plan. */
  readonly runIds: Readonly<Record<string, string>>;
};

// Only entries under test or pending.
export const graphStatement = `
  select coalesce((select json_agg(e) from (
      select e.pr_number as "prNumber", e.pr_title as title, e.pr_sha as "headSha", e.state, e.attempt,
        e.landing as "isLanding", e.plan, i.impacts_all as "impactsAll", i.target_count as "targetCount",
        floor(extract(epoch from i.uploaded_at) * 1000) as "targetsAt"
      from queue_entry e left join impacted_targets i on i.repository_id = q.repository_id and i.pr_number = e.pr_number
        and i.head_sha = e.pr_sha
      where e.queue_id = q.id and e.line_rank < 2
      order by e.line_rank, e.line_major, e.line_minor limit ${graphEntriesMax + 1}) e), '[]') as entries,
    p.state ->> 'tip' as tip, p.state -> 'entries' as named, coalesce(p.state -> 'runs', '[]') as runs,
    coalesce(p.state -> 'targetedRuns', '[]') as "targetedRuns", coalesce(p.state -> 'searches', '[]') as searches,
    coalesce((select json_object_agg(t.number, t.id)
      from ${plannedRunsSql('p.state')} as r
      join test_run t on t.queue_id = q.id and t.number = (r ->> 'id')::bigint), '{}') as "runIds"
  from queue q left join queue_plan p on p.queue_id = q.id where q.id = $1`;

type PictureRow = Omit<QueueGraphRows, 'entries'> & {
  readonly entries: readonly (Omit<GraphRow, 'plan'> & { readonly plan: StoredItemRow | null })[];
  readonly named: readonly number[] | null;
  readonly targetedRuns: readonly Run[];
};

const selectGraph = statement<[queueId: string], PictureRow>(graphStatement);

/** Null when the queue was deleted meanwhile. */
export async function readGraph(db: Tx, queueId: QueueId): Promise<QueueGraphRows | null> {
  const [row] = await selectGraph(db, queueId);
  if (row === undefined) return null;
  const { named, targetedRuns, ...graph } = row;
  const entries = graph.entries.map((entry) => ({ ...entry, plan: toStoredItem(entry.plan) }));
  return { ...graph, entries, runs: [...(unpackRuns(named, graph.runs) as readonly Run[]), ...targetedRuns] };
}

export type FailedBatch = {
  readonly search: number;
  readonly runId: string;
  readonly required: readonly RequiredCheck[];
  readonly checks: readonly Check[];
};

type FailedRow = KeptChecks & {
  search: number;
  id: string;
  required: readonly RequiredCheck[];
};

// The run of the whole batch: the newest run of its first member that is not part of the bisection.
const selectFailed = statement<[queueId: string], FailedRow>(`
  select (s ->> 'id')::bigint as search, f.id, f.required, f.status_checks, f.check_suites
  from queue_plan p, jsonb_array_elements(p.state -> 'searches') as s, lateral (
    select t.id, ${requiredChecksColumn('t')} as required, t.status_checks, t.check_suites
    from test_run_member m join test_run t on t.queue_id = m.queue_id and t.id = m.test_run_id
    where m.queue_id = p.queue_id and m.pr_number = (s -> 'members' ->> 0)::bigint and m.under_test
      and t.kind = 'main' and t.status = 'failed' and t.selected_tests is null
    order by m.test_run_id desc limit 1) f
  where p.queue_id = $1`);

/** The failed run of each batch that is being bisected, with its checks. */
export async function listFailedBatches(db: Tx, queueId: QueueId): Promise<readonly FailedBatch[]> {
  return (await selectFailed(db, queueId)).map((row) => ({
    search: row.search,
    runId: row.id,
    required: row.required,
    checks: keptChecks(row),
  }));
}
