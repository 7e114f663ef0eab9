// Reads the picture of a queue: everything that a reconcile may take into account (core/queue/engine/picture.ts).

import type { OrganizationId, RepositoryId, RunId } from '#base/id.ts';
import type { Check, RequiredCheck } from '#core/queue/check.ts';
import type { LandingReport, Picture, PictureEntry, RunReport } from '#core/queue/engine/picture.ts';
import { type PackedPlan, unpackPlan } from '#core/queue/engine/packed-plan.ts';
import type { StoredPlan } from '#core/queue/engine/stored.ts';
import type { Targets } from '#core/queue/planner/lane.ts';
import { limitsFrom } from '#core/queue/planner/limits.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { Tx } from './cell.ts';
import type { KeptQueues } from './kept-entries.ts';
import {
  type Horizon,
  horizonColumns,
  type OpenEntry,
  readOpenEntries,
  renewOpenEntries,
} from './open-entry-view.ts';
import { requiredChecksColumn } from './required-view.ts';
import { queueColumns, queueOf, type QueueRow } from './row.ts';
import { statement } from './statement.ts';
import type { QueueLock } from './transaction.ts';
import { isToldColumn } from './webhook-event.ts';

type HeadRow = QueueRow &
  Horizon & {
    repository_id: string;
    organization_id: string;
    host: string;
    owner: string;
    name: string;
    branch_sha: string | null;
    host_away_at: Date | null;
    plan: StoredPlan | PackedPlan | null;
    measured_at: Date | null;
    start_p99_ms: number | null;
    test_p99_ms: number | null;
    is_told: boolean;
  };

const selectHead = statement<[queueId: string], HeadRow>(`
  select ${queueColumns}, q.repository_id, r.organization_id, r.host, r.owner, r.name, q.branch_sha, q.host_away_at,
    p.state as plan, p.measured_at, p.start_p99_ms, p.test_p99_ms, ${isToldColumn('r.id')} as is_told, ${horizonColumns}
  from queue q join repository r on r.id = q.repository_id left join queue_plan p on p.queue_id = q.id
  where q.id = $1 and q.deleted_at is null`);

type RunRow = {
  id: string;
  number: number;
  pushed_at: Date | null;
  outcome: string | null;
  outcome_detail: object | null;
  required: RequiredCheck[];
  checks: Check[] | null;
  started_at: Date | null;
};

const selectRuns = statement<[queueId: string], RunRow>(`
  select t.id, t.number, t.pushed_at, t.outcome, t.outcome_detail, t.started_at,
    ${requiredChecksColumn('t')} as required,
    case when t.status = 'in_progress' and t.test_branch_sha is not null then (
      select json_agg(c.body) from commit_check c
      where c.repository_id = q.repository_id and c.sha = t.test_branch_sha) end as checks
  from queue_plan p join queue q on q.id = p.queue_id, jsonb_array_elements(p.state -> 'runs') as r
  join test_run t on t.queue_id = $1 and t.number = (r ->> 'id')::bigint
  where p.queue_id = $1`);

type LandingRow = { number: number; status: string; landed_sha: string | null; detail: object | null };

const selectLanding = statement<[queueId: string], LandingRow>(`
  select number, status, landed_sha, detail from landing
  where queue_id = $1 and not observed and status <> 'intended' order by number limit 1`);

/** Where the targets of many entries come from; only lanes need them. */
export type TargetSource = (
  repositoryId: RepositoryId,
  wanted: readonly { readonly prNumber: number; readonly headSha: string; readonly at: number }[],
) => Promise<ReadonlyMap<number, Targets>>;

export type LoadedPicture = {
  readonly picture: Picture;
  readonly repository: RepositoryName & {
    readonly id: RepositoryId;
    readonly organizationId: OrganizationId;
  };
  /** The entries of the picture, in the same order. */
  readonly open: readonly OpenEntry[];
  /** Whether some pull request is to be told where it stands; soon, if its trip begins or has ended. */
  readonly untold: 'not' | 'soon' | 'later';
  /** When the times of the queue's runs were last computed. */
  readonly measuredAt: Date | null;
  /** Whether an endpoint of the organization may want to know of what happens. */
  readonly isTold: boolean;
};

/** Null when the queue was deleted meanwhile. `queues`: what this worker keeps of long ones; without it each is read whole. */
export async function loadPicture(
  tx: Tx,
  lock: QueueLock,
  targetsOf: TargetSource,
  queues?: KeptQueues,
): Promise<LoadedPicture | null> {
  const { queueId } = lock;
  const kept = queues?.find(queueId);
  const [heads, found, runs, landings] = await Promise.all([
    selectHead(tx, queueId),
    kept === undefined ? readOpenEntries(tx, queueId) : renewOpenEntries(tx, queueId, kept),
    selectRuns(tx, queueId),
    selectLanding(tx, queueId),
  ]);
  const [head] = heads;
  if (head === undefined) return null;
  const queue = queueOf(head);
  const repositoryId = head.repository_id as RepositoryId;
  // What impacts which lane is written beside the entries, so a queue with lanes is always read whole.
  const isSingle = queue.settings.mode === 'single' && queue.switching === null;
  const isRenewed = kept !== undefined && isSingle && found !== null;
  const open =
    isRenewed || (kept === undefined && found !== null) ? found : await readOpenEntries(tx, queueId);
  if (!isSingle) queues?.forget(queueId);
  else if (!isRenewed) queues?.keep(queueId, head, open);
  const { organization_id: organizationId, host, owner, name } = head;
  return {
    repository: { id: repositoryId, organizationId: organizationId as OrganizationId, host, owner, name },
    open,
    untold: (['soon', 'later'] as const).find((when) => open.some(({ untold }) => untold === when)) ?? 'not',
    measuredAt: head.measured_at,
    isTold: head.is_told,
    picture: {
      queue,
      branchSha: head.branch_sha,
      limits: limitsFrom({ startP99Ms: head.start_p99_ms, testP99Ms: head.test_p99_ms }),
      hostAwayAt: head.host_away_at,
      stored: head.plan === null ? null : unpackPlan(head.plan),
      entries: isSingle ? open.map(({ shown }) => shown) : await withTargets(repositoryId, open, targetsOf),
      runs: runs.map(reportOf),
      landing: landings.map(landingReport)[0] ?? null,
    },
  };
}

async function withTargets(
  repositoryId: RepositoryId,
  open: readonly OpenEntry[],
  targetsOf: TargetSource,
): Promise<readonly PictureEntry[]> {
  const wanted = open.flatMap(({ shown: { entry, targets }, hasTargets }) =>
    hasTargets && targets !== null
      ? [{ prNumber: entry.pullRequest.number, headSha: entry.pullRequest.headSha, at: targets.at }]
      : [],
  );
  const sets = wanted.length === 0 ? new Map<number, Targets>() : await targetsOf(repositoryId, wanted);
  return open.map(({ shown }) => {
    const set = sets.get(shown.entry.pullRequest.number);
    return shown.targets === null || set === undefined
      ? shown
      : { ...shown, targets: { at: shown.targets.at, set } };
  });
}

function reportOf(row: RunRow): RunReport {
  return {
    id: row.id as RunId,
    number: row.number,
    // Written by the jobs as the union says.
    outcome:
      row.outcome === null ? null : ({ kind: row.outcome, ...row.outcome_detail } as RunReport['outcome']),
    pushedAt: row.pushed_at?.getTime() ?? null,
    required: row.required,
    checks: row.checks ?? [],
    startedAt: row.started_at?.getTime() ?? null,
  };
}

function landingReport({ number, status, landed_sha: sha, detail }: LandingRow): LandingReport {
  // Written by the landing job as the union says.
  return { number, kind: status, ...(sha === null ? {} : { tip: sha }), ...detail } as LandingReport;
}
