// The tasks of the worker. Each runs at least once and is idempotent: it reads the current state and acts on
// it.

import { changeEntry } from '#command/change-entry.ts';
import { enqueueIdleSweeps, type JobPayloads, type ScheduledTask } from '#db/job/job.ts';
import { listQueuesWithPullRequest } from '#db/queue/queue-view.ts';
import { withHost } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';
import { commentCulprit } from '../health/culprit-comment.ts';
import { findCulprits } from '../health/find-culprit.ts';
import { ingestUpload } from '../health/ingest.ts';
import { examineHeads, refreshApproval } from '../queue/head-review.ts';
import { land } from '../landing/land.ts';
import { maintainHistory } from './maintain-history.ts';
import { handleCommentCommand } from '../comment/comment-command.ts';
import { handleLabelCommand } from '../comment/label-command.ts';
import { probeEntries } from '../queue/probe.ts';
import { publishRuns } from '../queue/publish.ts';
import { runSandboxCi } from './sandbox-ci.ts';
import { reconcileQueue } from '../queue/reconcile.ts';
import { revisitTests } from '../health/revisit-tests.ts';
import { rerunFailedJobs } from '../queue/rerun-jobs.ts';
import { searchRenames } from '../health/search-renames.ts';
import { syncIssues } from '../health/sync-issues.ts';
import { verifyFixes } from '../health/verify-fixes.ts';
import { diagnoseQueues, enqueueStaleDiagnoses } from '../queue/diagnose.ts';
import { setWebhook } from '../queue/set-webhook.ts';
import { sweepQueue } from '../queue/sweep.ts';
import { reportStatuses } from '../queue/status-comment.ts';
import { tryMerges } from '../queue/try-merge.ts';
import { watchQueues } from '../queue/watch.ts';

/** Reads a pull request from its host and passes it to every queue in which the pull request is live. */
async function refreshPullRequest(
  deps: TaskDeps,
  payload: JobPayloads['refresh-pull-request'],
): Promise<void> {
  const { cell, clock } = deps;
  const { repositoryId, prNumber } = payload;
  const queues = await listQueuesWithPullRequest(cell.reader, repositoryId, prNumber);
  if (queues.length === 0) return;
  await withHost(deps, 'refresh-pull-request', payload, queues, async ({ host, repository }) => {
    const pullRequest = await host.readPullRequest({ repository, number: prNumber });
    for (const { queueId } of queues) {
      await changeEntry({ cell, queueId, prNumber }, () => ({ kind: 'observe', pullRequest }), clock.now());
      await refreshApproval(deps, host, queueId, prNumber);
    }
  });
}

/** Once an hour: idle queues are polled too, and the doctor checks those that it has not checked for long. */
async function sweepIdle({ cell, clock }: TaskDeps): Promise<void> {
  await enqueueIdleSweeps(cell.db);
  await enqueueStaleDiagnoses(cell.db, clock.now());
}

type Tasks = {
  readonly [Name in keyof JobPayloads]: (deps: TaskDeps, payload: JobPayloads[Name]) => Promise<void>;
} & {
  readonly [Name in ScheduledTask]: (deps: TaskDeps) => Promise<void>;
};

export const tasks: Tasks = {
  'reconcile-queue': reconcileQueue,
  'refresh-pull-request': refreshPullRequest,
  'publish-runs': publishRuns,
  land,
  'rerun-jobs': rerunFailedJobs,
  'sweep-queue': sweepQueue,
  'probe-entries': probeEntries,
  'try-merges': tryMerges,
  'examine-heads': examineHeads,
  'post-status': reportStatuses,
  'handle-comment': handleCommentCommand,
  'handle-label': handleLabelCommand,
  'sync-issues': syncIssues,
  'find-culprits': findCulprits,
  'find-renames': searchRenames,
  'comment-culprit': commentCulprit,
  'set-webhook': setWebhook,
  'diagnose-queues': diagnoseQueues,
  'verify-fixes': verifyFixes,
  'sandbox-ci': runSandboxCi,
  'ingest-upload': ingestUpload,
  'maintain-history': maintainHistory,
  'sweep-idle': sweepIdle,
  'revisit-tests': revisitTests,
  'watch-queues': watchQueues,
};
