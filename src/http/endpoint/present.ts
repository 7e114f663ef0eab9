// Converts domain objects to the wire format.

import type { SubmittedPullRequest } from '#contract/pull-request.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import type { TestRun } from '#contract/testing.ts';
import { type EntryStatus, explainStatus } from '#core/queue/text/entry-status.ts';
import { estimateMerge, type Forecast } from '#core/queue/estimate/estimate.ts';
import type { FailedTests } from '#core/queue/rule/failed-test.ts';
import { type Entry, isEnded, type Queue } from '#core/queue/model.ts';
import { defaultPriorityName, isUrgent, formatPriority } from '#core/queue/priority.ts';
import { assessReadiness } from '#core/queue/rule/readiness.ts';
import { explainStall } from '#core/queue/text/stall.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { ListedQueue } from '#db/queue/queue-list-view.ts';
import type { TimelineRow } from '#db/queue/queue-view.ts';

type EnqueuedPullRequest = ResponseOf<'getQueue'>['enqueuedPullRequests'][number];

export function presentEnqueued(entry: Entry): EnqueuedPullRequest {
  const { pullRequest } = entry;
  return {
    id: entry.id,
    state: entry.stage.kind,
    stateChangedAt: entry.stageChangedAt.toISOString(),
    priorityValue: entry.priority,
    priorityName: formatPriority(entry.priority),
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
  status: EntryStatus,
  now: Date,
  forecast: Forecast | null,
  timeline?: readonly TimelineRow[],
): SubmittedPullRequest {
  const { entry, hasImpactedTargets, position, failedTests } = status;
  const { stage } = entry;
  const readiness = assessReadiness(queue, entry, hasImpactedTargets);
  const estimate = estimateMerge(queue, status, forecast, now);
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
    waitingFor: [...explainStatus(queue, status, now)],
    failedTests: failedTests === null ? null : presentFailedTests(failedTests),
    estimatedMergeAt: estimate?.at.toISOString() ?? null,
    estimatedMergeInterval: estimate?.interval.map((at) => at.toISOString()) ?? null,
    ...(timeline === undefined ? {} : { timeline: timeline.map(presentMoment) }),
  };
}

export const presentFailedTests = ({ count, first }: FailedTests): TestRun['failedTests'] => ({
  count,
  first: [...first],
});

const presentMoment = (row: TimelineRow): NonNullable<SubmittedPullRequest['timeline']>[number] => ({
  timestamp: row.recorded_at.toISOString(),
  state: row.state,
  reason: row.reason,
  actor: row.actor,
  ...(row.test_run_id === null ? {} : { testRunId: row.test_run_id }),
  trip: row.attempt,
  ...(row.rule_change !== null && {
    ruleChange: { added: [...row.rule_change.added], removed: [...row.rule_change.removed] },
  }),
  ...(row.branch_rule_change !== null && {
    branchRuleChange: {
      added: [...row.branch_rule_change.added],
      bound: row.branch_rule_change.bound.map(({ name, source }) => ({ name, source })),
      removed: [...row.branch_rule_change.removed],
    },
  }),
});

export function presentQueue(repository: RepositoryName, queue: Queue): ResponseOf<'updateQueue'> {
  const { host, owner, name } = repository;
  return {
    repo: { host, owner, name },
    targetBranch: queue.targetBranch,
    branch: queue.targetBranch,
    state: queue.state,
    stateReason: queue.stateReason,
    ...queue.settings,
  };
}

export function presentListed(listed: ListedQueue, now: Date): ResponseOf<'listQueues'>['queues'][number] {
  const {
    repository,
    queue,
    oldestEntryAt,
    hostAwayAt,
    longestTest,
    movedAt,
    usualTestMs,
    lastDay,
    ...numbers
  } = listed;
  const { host } = repository;
  const { depth } = numbers;
  return {
    repo: repository,
    targetBranch: queue.targetBranch,
    state: queue.state,
    stateReason: queue.stateReason,
    mode: queue.settings.mode,
    usualTestSeconds: usualTestMs === null ? null : usualTestMs / 1_000,
    isHostAway: hostAwayAt !== null,
    stall: explainStall({ queue, host, hostAwayAt, depth, longestTest, movedAt, usualTestMs }, now),
    oldestEntryAt: oldestEntryAt?.toISOString() ?? null,
    ...numbers,
    ...(lastDay === null
      ? {}
      : {
          lastDay: {
            ...lastDay,
            mergedByHour: [...lastDay.mergedByHour],
            timeInQueueP50SecondsByHour: [...lastDay.timeInQueueP50SecondsByHour],
          },
        }),
  };
}
