// What the worker does. Each task is at least once and idempotent: it reads the present state and acts on that.

import { changeEntry } from '#command/change-entry.ts';
import { forgetChecks } from '#db/check-store.ts';
import { forgetDeliveries } from '#db/delivery-store.ts';
import { enqueueIdleSweeps, type JobPayloads } from '#db/job.ts';
import { dropOldPartitions, ensurePartitions } from '#db/partition.ts';
import { forgetStrikes } from '#db/strike-store.ts';
import { listQueuesOf } from '#db/queue-view.ts';
import { forgetHeads } from '#db/head-store.ts';
import { forgetHeard, forgetStrangerAnswers } from '#db/words-store.ts';
import { findRepository } from '#db/repository-store.ts';
import type { TaskDeps } from './deps.ts';
import { forgetTests } from './forget-tests.ts';
import { ingestUpload } from './ingest.ts';
import { examineHeads, refreshApproval } from './head-review.ts';
import { land } from './land.ts';
import { heardKeptMs, obeyComment } from './obey.ts';
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

const checksKeptMs = 7 * 86_400_000;
const headsKeptMs = 90 * 86_400_000;
/** What was sent to webhook endpoints is kept for 14 days. */
const deliveriesKeptMs = 14 * 86_400_000;

/** Once a day: the partitions of the coming months, and an end to what is too old. */
async function maintainHistory({ cell, clock, historyMonths }: TaskDeps): Promise<void> {
  await ensurePartitions(cell.maintenance.db, clock.now());
  await dropOldPartitions(cell.maintenance.db, clock.now(), historyMonths);
  await forgetChecks(cell.db, new Date(clock.now().getTime() - checksKeptMs));
  await forgetHeard(cell.db, new Date(clock.now().getTime() - heardKeptMs));
  await forgetStrangerAnswers(cell.db, new Date(clock.now().getTime() - heardKeptMs));
  await forgetHeads(cell.db, new Date(clock.now().getTime() - headsKeptMs));
  await forgetDeliveries(cell.db, new Date(clock.now().getTime() - deliveriesKeptMs));
  await forgetStrikes(cell.db);
  await forgetTests(cell, clock.now());
}

type Tasks = {
  readonly [Name in keyof JobPayloads]: (deps: TaskDeps, payload: JobPayloads[Name]) => Promise<void>;
} & {
  readonly [Name in 'maintain-history' | 'sweep-idle' | 'revisit-tests']: (deps: TaskDeps) => Promise<void>;
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
