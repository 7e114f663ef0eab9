// What the worker does. Each task is at least once and idempotent: it reads the present state and acts on that.

import { changeEntry } from '#command/change-entry.ts';
import { enqueueIdleSweeps, type JobPayloads, type ScheduledTask } from '#db/job.ts';
import { listQueuesOf } from '#db/queue-view.ts';
import { findRepository } from '#db/repository-store.ts';
import type { TaskDeps } from './deps.ts';
import { ingestUpload } from './ingest.ts';
import { examineHeads, refreshApproval } from './head-review.ts';
import { land } from './land.ts';
import { maintainHistory } from './maintain-history.ts';
import { obeyComment } from './obey.ts';
import { obeyLabel } from './obey-label.ts';
import { probeEntries } from './probe.ts';
import { publishRuns } from './publish.ts';
import { runSandboxCi } from './sandbox-ci.ts';
import { reconcileQueue } from './reconcile.ts';
import { revisitTests } from './revisit-tests.ts';
import { sweepQueue } from './sweep.ts';
import { tell } from './tell.ts';
import { tryMerges } from './try-merge.ts';

/** Asks the host for a pull request and tells every queue of its repository what it said. */
async function refreshPullRequest(
  deps: TaskDeps,
  { repositoryId, prNumber }: JobPayloads['refresh-pull-request'],
): Promise<void> {
  const { cell, clock, hostFor } = deps;
  const repository = await findRepository(cell.reader, repositoryId);
  if (repository === null) return;
  const host = hostFor(cell.name, repository.host);
  if (host === null) return;
  for (const { queueId, branch } of await listQueuesOf(cell.reader, repositoryId, prNumber)) {
    const pullRequest = await host.readPullRequest({ repository, number: prNumber, targetBranch: branch });
    await changeEntry({ cell, queueId, prNumber }, () => ({ kind: 'observe', pullRequest }), clock.now());
    await refreshApproval(deps, host, queueId, prNumber);
  }
}

/** Once an hour: idle queues are looked at too. */
async function sweepIdle({ cell }: TaskDeps): Promise<void> {
  await enqueueIdleSweeps(cell.db);
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
  'sweep-queue': sweepQueue,
  'probe-entries': probeEntries,
  'try-merges': tryMerges,
  'examine-heads': examineHeads,
  tell,
  'obey-comment': obeyComment,
  'obey-label': obeyLabel,
  'sandbox-ci': runSandboxCi,
  'ingest-upload': ingestUpload,
  'maintain-history': maintainHistory,
  'sweep-idle': sweepIdle,
  'revisit-tests': revisitTests,
};
