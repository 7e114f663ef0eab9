// Reads the queue state: everything that a reconcile may take into account (core/queue/engine/reconcile-input.ts).

import type { OrganizationId, RepositoryId, RunId } from '#base/id.ts';
import { type Check, evaluateChecks, type RequiredCheck } from '#core/queue/check.ts';
import {
  type LandingReport,
  type ReconcileInput,
  type InputEntry,
  type RunReport,
  isNewAttempt,
  usesFailedTests,
  usesPredictions,
} from '#core/queue/engine/reconcile-input.ts';
import { type PackedPlan, unpackPlan } from '#core/queue/engine/packed-plan.ts';
import type { StoredPlan } from '#core/queue/engine/stored.ts';
import type { Queue } from '#core/queue/model.ts';
import type { QueueSituation } from '#core/queue/situation.ts';
import type { Targets } from '#core/queue/planner/lane.ts';
import { estimateFailureShare, estimateFlakeShare, limitsFrom } from '#core/queue/planner/history.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { Tx } from '../cell.ts';
import { loadReportedFailures } from '../run/failed-test-view.ts';
import type { KeptQueues } from './kept-entries.ts';
import type { Horizon, OpenEntry } from './open-entry.ts';
import { predictFailures } from './risk-view.ts';
import { horizonColumns, readOpenEntries, renewOpenEntries } from './open-entry-view.ts';
import { requiredChecksColumn } from '../host/required-view.ts';
import { plannedRunsSql } from '../run/run-member.ts';
import { queueColumns, toQueue, type QueueRow } from '../row.ts';
import { statement } from '../statement.ts';
import type { QueueLock } from '../transaction.ts';
import { hasWebhookEndpointsColumn } from '../webhook/webhook-event.ts';

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
    situation: QueueSituation | null;
    measured_at: Date | null;
    start_p99_ms: number | null;
    test_p99_ms: number | null;
    test_p50_ms: number | null;
    ended_count: number | null;
    failed_count: number | null;
    passed_count: number | null;
    flaky_count: number | null;
    has_endpoints: boolean;
  };

const selectHead = statement<[queueId: string], HeadRow>(`
  select ${queueColumns}, q.repository_id, r.organization_id, r.host, r.owner, r.name, q.branch_sha, q.host_away_at,
    p.state as plan, p.situation, p.measured_at, p.start_p99_ms, p.test_p99_ms, p.test_p50_ms, p.ended_count, p.failed_count,
    p.passed_count, p.flaky_count,
    ${hasWebhookEndpointsColumn('r.id')} as has_endpoints, ${horizonColumns}
  from queue q join repository r on r.id = q.repository_id left join queue_plan p on p.queue_id = q.id
  where q.id = $1 and q.deleted_at is null`);

type RunReportRow = {
  id: string;
  number: number;
  pushed_at: Date | null;
  outcome: string | null;
  outcome_detail: object | null;
  required: RequiredCheck[];
  checks: Check[] | null;
  started_at: Date | null;
  is_targeted: boolean;
  is_rerun_refused: boolean;
};

const selectRuns = statement<[queueId: string], RunReportRow>(`
  select t.id, t.number, t.pushed_at, t.outcome, t.outcome_detail, t.started_at,
    t.selected_tests is not null as is_targeted, t.rerun_refusal is not null as is_rerun_refused,
    ${requiredChecksColumn('t')} as required,
    case when t.status = 'in_progress' and t.test_branch_sha is not null then (
      select json_agg(c.body) from commit_check c
      where c.repository_id = q.repository_id and c.sha = t.test_branch_sha) end as checks
  from queue_plan p join queue q on q.id = p.queue_id, ${plannedRunsSql('p.state')} as r
  join test_run t on t.queue_id = $1 and t.number = (r ->> 'id')::bigint
  where p.queue_id = $1`);

type LandingReportRow = { number: number; status: string; landed_sha: string | null; detail: object | null };

const selectLanding = statement<[queueId: string], LandingReportRow>(`
  select number, status, landed_sha, detail from landing
  where queue_id = $1 and not observed and status <> 'intended' order by number limit 1`);

/** Reads the targets of many entries; only parallel lanes need them. */
export type TargetSource = (
  repositoryId: RepositoryId,
  wanted: readonly { readonly prNumber: number; readonly headSha: string; readonly at: number }[],
) => Promise<ReadonlyMap<number, Targets>>;

export type LoadedReconcileInput = {
  readonly input: ReconcileInput;
  readonly repository: RepositoryName & {
    readonly id: RepositoryId;
    readonly organizationId: OrganizationId;
  };
  /** The entries of the queue state, in the same order. */
  readonly open: readonly OpenEntry[];
  /** Whether a status comment of the queue is due; soon, if an attempt starts or has ended. */
  readonly statusCommentDue: 'not' | 'soon' | 'later';
  /** As the last reconcile stored it. */
  readonly situation: QueueSituation | null;
  /** When the times of the queue's runs were last computed. */
  readonly measuredAt: Date | null;
  /** Whether a webhook endpoint of the organization may want the events. */
  readonly hasEndpoints: boolean;
};

/** Null if the queue was deleted. `queues`: this worker's kept entries; without it, all rows are read. */
export async function loadReconcileInput(
  tx: Tx,
  lock: QueueLock,
  targetsOf: TargetSource,
  now: Date,
  queues?: KeptQueues,
): Promise<LoadedReconcileInput | null> {
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
  const queue = toQueue(head);
  const repositoryId = head.repository_id as RepositoryId;
  // Impacted targets are stored beside the entries, so a queue with parallel lanes is always read whole.
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
    statusCommentDue:
      (['soon', 'later'] as const).find((when) =>
        open.some(({ statusCommentDue }) => statusCommentDue === when),
      ) ?? 'not',
    situation: head.situation,
    measuredAt: head.measured_at,
    hasEndpoints: head.has_endpoints,
    input: {
      queue,
      branchSha: head.branch_sha,
      limits: limitsFrom({
        startP99Ms: head.start_p99_ms,
        testP99Ms: head.test_p99_ms,
        testP50Ms: head.test_p50_ms,
      }),
      failureShare: estimateFailureShare({ failed: head.failed_count ?? 0, ended: head.ended_count ?? 0 }),
      flakeShare: estimateFlakeShare({
        flaky: head.flaky_count ?? 0,
        passed: head.passed_count ?? 0,
        failed: head.failed_count ?? 0,
      }),
      hostAwayAt: head.host_away_at,
      stored: head.plan === null ? null : unpackPlan(head.plan),
      entries: await withOdds(
        tx,
        queue,
        isSingle ? open.map(({ shown }) => shown) : await withTargets(repositoryId, open, targetsOf),
        now,
      ),
      runs: await withFailedTests(tx, queue, runs.map(toRunReport), now),
      landing: landings.map(landingReport)[0] ?? null,
    },
  };
}

async function withTargets(
  repositoryId: RepositoryId,
  open: readonly OpenEntry[],
  targetsOf: TargetSource,
): Promise<readonly InputEntry[]> {
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

/** An entry is predicted once, when it is submitted: the planner remembers it. */
async function withOdds(
  tx: Tx,
  queue: Queue,
  entries: readonly InputEntry[],
  now: Date,
): Promise<readonly InputEntry[]> {
  if (!usesPredictions(queue)) return entries;
  const added = entries.filter(isNewAttempt).map(({ entry }) => entry.pullRequest.number);
  if (added.length === 0) return entries;
  const failures = await predictFailures(tx, queue.id, added, now);
  return entries.map((shown) => {
    const probability = isNewAttempt(shown) ? failures.get(shown.entry.pullRequest.number) : undefined;
    return probability === undefined ? shown : { ...shown, odds: 1 - probability };
  });
}

/** Reports are read for failed runs, and for runs of some tests that passed: most runs pass, and run all tests. */
async function withFailedTests(
  tx: Tx,
  { id, settings }: Queue,
  reports: readonly RunReport[],
  now: Date,
): Promise<readonly RunReport[]> {
  const withTests = usesFailedTests({ settings });
  if (settings.flakeReruns === 0 && !withTests) return reports;
  const failed = reports.filter(({ outcome, required, checks, isTargeted = false }) => {
    if (outcome !== null) return false;
    const { kind } = evaluateChecks(required, checks, settings.skippableStatuses);
    return kind === 'failed' || (kind === 'passed' && isTargeted);
  });
  if (failed.length === 0) return reports;
  const tests = await loadReportedFailures(
    tx,
    id,
    failed.map(({ number }) => number),
    now,
    withTests,
  );
  return reports.map((report) => {
    const failedTests = tests.get(report.number);
    return failedTests === undefined ? report : { ...report, failedTests };
  });
}

function toRunReport(row: RunReportRow): RunReport {
  return {
    id: row.id as RunId,
    number: row.number,
    // The jobs write this row in the shape of the union.
    outcome:
      row.outcome === null ? null : ({ kind: row.outcome, ...row.outcome_detail } as RunReport['outcome']),
    pushedAt: row.pushed_at?.getTime() ?? null,
    required: row.required,
    checks: row.checks ?? [],
    startedAt: row.started_at?.getTime() ?? null,
    ...(row.is_targeted ? { isTargeted: true } : {}),
    ...(row.is_rerun_refused ? { isRerunRefused: true } : {}),
  };
}

function landingReport({ number, status, landed_sha: sha, detail }: LandingReportRow): LandingReport {
  // The landing job writes this row in the shape of the union.
  return { number, kind: status, ...(sha === null ? {} : { tip: sha }), ...detail } as LandingReport;
}
