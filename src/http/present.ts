// Nouns to the wire.

import type { SubmittedPullRequest } from '#contract/pull-request.ts';
import type { ResponseOf } from '#contract/endpoint.ts';
import { verdictOf } from '#core/queue/check.ts';
import { estimateMerge, type Forecast } from '#core/queue/estimate.ts';
import { explainWaiting, type Situation } from '#core/queue/explain.ts';
import { type Entry, isEnded, type Queue } from '#core/queue/model.ts';
import { defaultPriorityName, isUrgent, priorityNameOf } from '#core/queue/priority.ts';
import { readinessOf } from '#core/queue/readiness.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { TimelineRow } from '#db/queue-view.ts';
import type { LineFacts, ScopedEntry } from '#db/scope-view.ts';

type EnqueuedPullRequest = ResponseOf<'getQueue'>['enqueuedPullRequests'][number];

export function presentEnqueued(entry: Entry): EnqueuedPullRequest {
  const { pullRequest } = entry;
  return {
    id: entry.id,
    state: entry.stage.kind,
    stateChangedAt: entry.stageChangedAt.toISOString(),
    priorityValue: entry.priority,
    priorityName: priorityNameOf(entry.priority),
    ...(entry.usedDefaultPriority ? { usedDefaultPriorityName: defaultPriorityName } : {}),
    skipTheLine: isUrgent(entry.priority),
    noBatch: entry.noBatch,
    prNumber: pullRequest.number,
    prTitle: pullRequest.title,
    prSha: pullRequest.headSha,
    prBaseBranch: pullRequest.baseBranch,
    prAuthor: pullRequest.author,
  };
}

export function presentEntry(
  queue: Queue,
  { entry, hasImpactedTargets, position, line }: ScopedEntry,
  now: Date,
  forecast: Forecast | null,
  timeline?: readonly TimelineRow[],
): SubmittedPullRequest {
  const { stage } = entry;
  const readiness = readinessOf(queue, entry, hasImpactedTargets);
  const estimate = estimateMerge(queue, { entry, position, isHostAway: line.isHostAway }, forecast, now);
  return {
    ...presentEnqueued(entry),
    forceEnqueued: entry.forced,
    isCurrentlySubmittedToQueue: !isEnded(stage),
    readiness: {
      requiresImpactedTargets: readiness.requiresImpactedTargets,
      doesBaseBranchMatch: readiness.doesBaseBranchMatch,
      hasImpactedTargets: readiness.hasImpactedTargets,
      gitHubMergeability: entry.pullRequest.mergeability,
    },
    verifiedByTestRun: stage.kind === 'merged' ? stage.runId : null,
    conclusionReason: isEnded(stage) && 'reason' in stage ? stage.reason : null,
    queuePosition: position,
    waitingFor: [
      ...explainWaiting(queue, entry, {
        readiness,
        situation: situationOf(queue, entry, position ?? 0, line, now.getTime()),
        isHostAway: line.isHostAway,
      }),
    ],
    estimatedMergeAt: estimate?.at.toISOString() ?? null,
    estimatedMergeInterval: estimate?.interval.map((at) => at.toISOString()) ?? null,
    ...(timeline === undefined ? {} : { timeline: timeline.map(presentMoment) }),
  };
}

/** What the tables say about an entry's place, as explain.ts wants it. */
function situationOf(
  { settings }: Queue,
  entry: Entry,
  position: number,
  { run, pending }: LineFacts,
  now: number,
): Situation | null {
  if (entry.landing) return { kind: 'landing' };
  if (pending !== null) {
    const { concurrency: slots, batch, batchingMinSize, batchingMaxWaitTimeMinutes } = settings;
    const fills = batch && !entry.noBatch && !isUrgent(entry.priority);
    return {
      kind: 'pending',
      conflictsWith: pending.conflictsWith,
      before: pending.before,
      beforeCount: Math.max(0, position - pending.testingCount),
      slots,
      slotsTaken: pending.slotsTaken,
      batch: fills ? { size: batchingMinSize, waitMinutes: batchingMaxWaitTimeMinutes } : null,
    };
  }
  if (run === null) return null;
  const { ahead, isBatch } = run;
  if (run.isBisection) return { kind: 'searched', suspects: run.tested };
  switch (entry.stage.kind) {
    case 'tests_passed':
      return { kind: 'passed', ahead };
    case 'pending_failure':
      return { kind: 'failed', ahead, isBatch };
    default:
      return run.status === 'in_progress' ? testingSituation(settings, run, now) : { kind: 'retrying' };
  }
}

function testingSituation(
  { testingTimeoutMinutes }: Queue['settings'],
  run: NonNullable<LineFacts['run']>,
  now: number,
): Situation {
  const verdict = verdictOf(run.required, run.checks);
  const checks = verdict.kind === 'open' ? verdict : null;
  const askedAt = Date.parse(run.createdAt);
  const hasBegun = run.checks.length > 0;
  const endsAt = testingTimeoutMinutes === 0 ? null : askedAt + testingTimeoutMinutes * 60_000;
  return {
    kind: 'testing',
    ahead: run.ahead,
    askedMs: now - askedAt,
    runningMs: hasBegun ? now - Date.parse(run.pushedAt ?? run.createdAt) : null,
    timesOutInMs: endsAt === null || !hasBegun ? null : endsAt - now,
    checks: run.pushedAt === null ? null : checks,
  };
}

const presentMoment = (row: TimelineRow): NonNullable<SubmittedPullRequest['timeline']>[number] => ({
  timestamp: row.recorded_at.toISOString(),
  state: row.state,
  reason: row.reason,
  actor: row.actor,
  ...(row.test_run_id === null ? {} : { testRunId: row.test_run_id }),
  trip: row.trip,
});

export function presentQueue(repository: RepositoryName, queue: Queue): ResponseOf<'updateQueue'> {
  const { host, owner, name } = repository;
  const { requiredStatuses, ...settings } = queue.settings;
  return {
    repo: { host, owner, name },
    targetBranch: queue.targetBranch,
    branch: queue.targetBranch,
    state: queue.state,
    stateReason: queue.stateReason,
    ...settings,
    requiredStatuses: requiredStatuses === null ? null : [...requiredStatuses],
  };
}
