// Reads the picture of a queue: everything that a reconcile may take into account (core/queue/engine/picture.ts).

import type { OrganizationId, RepositoryId, RunId } from '#base/id.ts';
import type { Check, RequiredCheck } from '#core/queue/check.ts';
import type { LinePlace } from '#core/queue/engine/line-place.ts';
import type { LandingReport, Picture, PictureEntry, RunReport } from '#core/queue/engine/picture.ts';
import type { StoredItem, StoredPlan } from '#core/queue/engine/stored.ts';
import type { Targets } from '#core/queue/planner/lane.ts';
import { limitsFrom } from '#core/queue/planner/limits.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { Tx } from './cell.ts';
import { requiredChecksColumn } from './required-view.ts';
import {
  plannedColumns,
  plannedEntryOf,
  type PlannedRow,
  queueColumns,
  queueOf,
  type QueueRow,
} from './row.ts';
import { statement } from './statement.ts';
import type { QueueLock } from './transaction.ts';
import { isToldColumn } from './webhook-event.ts';

type HeadRow = QueueRow & {
  repository_id: string;
  organization_id: string;
  host: string;
  owner: string;
  name: string;
  branch_sha: string | null;
  host_away_at: Date | null;
  plan: StoredPlan | null;
  measured_at: Date | null;
  start_p99_ms: number | null;
  test_p99_ms: number | null;
  is_told: boolean;
};

const selectHead = statement<[queueId: string], HeadRow>(`
  select ${queueColumns}, q.repository_id, r.organization_id, r.host, r.owner, r.name, q.branch_sha, q.host_away_at,
    p.state as plan, p.measured_at, p.start_p99_ms, p.test_p99_ms, ${isToldColumn('r.id')} as is_told
  from queue q join repository r on r.id = q.repository_id left join queue_plan p on p.queue_id = q.id
  where q.id = $1 and q.deleted_at is null`);

type OpenRow = PlannedRow & {
  plan: StoredItem | null;
  probed_tip: string | null;
  tested_on_tip: string | null;
  line_rank: number | null;
  line_major: number | null;
  line_minor: number | null;
  targets_at: Date | null;
  impacts_all: boolean | null;
  untold: 'not' | 'soon' | 'later';
};

const selectOpen = statement<[queueId: string], OpenRow>(`
  select ${plannedColumns}, e.plan, e.probed_tip, e.tested_on_tip, e.line_rank, e.line_major, e.line_minor,
    i.uploaded_at as targets_at, i.impacts_all,
    case when l.told_at is null then 'soon'
      when l.told_at = e.state_changed_at then case e.state when 'not_ready' then 'later' else 'not' end
      when e.concluded_at is not null then 'soon' else 'later' end as untold
  from entry e join queue q on q.id = e.queue_id
  left join telling l on l.queue_id = e.queue_id and l.pr_number = e.pr_number
  left join impacted_targets i on i.repository_id = q.repository_id and i.pr_number = e.pr_number
    and i.head_sha = e.pr_sha
  where e.queue_id = $1 and (e.line_rank is not null or e.plan is not null)
  order by e.seniority`);

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
  /** As the rows hold them now. */
  readonly places: ReadonlyMap<number, LinePlace>;
  /** Whether some pull request is to be told where it stands; soon, if its trip begins or has ended. */
  readonly untold: 'not' | 'soon' | 'later';
  /** When the times of the queue's runs were last computed. */
  readonly measuredAt: Date | null;
  /** Whether an endpoint of the organization may want to know of what happens. */
  readonly isTold: boolean;
};

/** Null when the queue was deleted meanwhile. */
export async function loadPicture(
  tx: Tx,
  lock: QueueLock,
  targetsOf: TargetSource,
): Promise<LoadedPicture | null> {
  const { queueId } = lock;
  const [heads, open, runs, landings] = await Promise.all([
    selectHead(tx, queueId),
    selectOpen(tx, queueId),
    selectRuns(tx, queueId),
    selectLanding(tx, queueId),
  ]);
  const [head] = heads;
  if (head === undefined) return null;
  const queue = queueOf(head);
  const repositoryId = head.repository_id as RepositoryId;
  const inLanes = queue.settings.mode === 'parallel' || queue.switching?.mode === 'parallel';
  const wanted = open.flatMap((row) =>
    inLanes && row.targets_at !== null && row.impacts_all === false
      ? [{ prNumber: row.pr_number, headSha: row.pr_sha, at: row.targets_at.getTime() }]
      : [],
  );
  const sets = wanted.length === 0 ? new Map<number, Targets>() : await targetsOf(repositoryId, wanted);
  const { organization_id: organizationId, host, owner, name } = head;
  return {
    repository: { id: repositoryId, organizationId: organizationId as OrganizationId, host, owner, name },
    places: new Map(open.flatMap(placeOf)),
    untold: (['soon', 'later'] as const).find((when) => open.some((row) => row.untold === when)) ?? 'not',
    measuredAt: head.measured_at,
    isTold: head.is_told,
    picture: {
      queue,
      branchSha: head.branch_sha,
      limits: limitsFrom({ startP99Ms: head.start_p99_ms, testP99Ms: head.test_p99_ms }),
      hostAwayAt: head.host_away_at,
      stored: head.plan,
      entries: open.map((row) => pictureEntry(row, sets)),
      runs: runs.map(reportOf),
      landing: landings.map(landingReport)[0] ?? null,
    },
  };
}

const placeOf = ({ pr_number: pr, line_rank: rank, line_major: major, line_minor: minor }: OpenRow) =>
  rank === null || major === null || minor === null
    ? []
    : [[pr, { rank: rank as LinePlace['rank'], major, minor }] as const];

function pictureEntry(row: OpenRow, sets: ReadonlyMap<number, Targets>): PictureEntry {
  return {
    entry: plannedEntryOf(row),
    stored: row.plan,
    targets:
      row.targets_at === null
        ? null
        : { at: row.targets_at.getTime(), set: sets.get(row.pr_number) ?? 'ALL' },
    probedTip: row.probed_tip,
    testedOnTip: row.tested_on_tip,
  };
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
