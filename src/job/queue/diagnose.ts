// The doctor checks the queues of a repository: after a workflow of a target branch changed, and else every few hours, since Git
// hosts do not report every change of a rule or a permission. Each check takes about a dozen calls.

import type { Tx } from '#db/cell.ts';
import { findConnectionHook } from '#db/account/connection-store.ts';
import { enqueueForRepository, type JobPayloads } from '#db/job/job.ts';
import { listStaleRepositories, saveDiagnosis } from '#db/queue/diagnosis-store.ts';
import { listQueues } from '#db/queue/queue-view.ts';
import { hookUrls } from '#host/connection.ts';
import { examine } from '#host/examine.ts';
import { HostError } from '#host/host.ts';
import { type Served, withHost } from '../at-host.ts';
import type { TaskDeps } from '../deps.ts';

export const diagnoseQueues = (deps: TaskDeps, payload: JobPayloads['diagnose-queues']): Promise<void> =>
  withHost(deps, 'diagnose-queues', payload, [], (served) => diagnoseAll(deps, served));

async function diagnoseAll({ cell, clock, publicUrl, log }: TaskDeps, { host, repository }: Served) {
  const connection = await findConnectionHook(cell.db, repository.organizationId, repository.host);
  // The sandbox needs no webhook.
  const webhookUrls = connection === null ? null : hookUrls(publicUrl, cell.name, connection);
  for (const queue of await listQueues(cell.db, repository.id)) {
    const at = clock.now();
    try {
      await saveDiagnosis(cell.db, queue.id, await examine(host, repository, { queue, webhookUrls }), at);
    } catch (error) {
      // The next check is a few hours later.
      if (!(error instanceof HostError) || error.trouble !== 'forbidden') throw error;
      log.warn({ queue: queue.id, err: error }, 'queue not checked');
    }
  }
}

const hourMs = 3_600_000;
/** So that the line on the page of a queue is no older. */
const staleMs = 6 * hourMs;
/** In an hour: a cell with more repositories checks each of them more rarely. */
const repositoriesMax = 200;

/** Spread over an hour. */
export async function enqueueStaleDiagnoses(tx: Tx, now: Date): Promise<void> {
  const stale = await listStaleRepositories(tx, new Date(now.getTime() - staleMs), repositoriesMax);
  for (const [index, repositoryId] of stale.entries())
    await enqueueForRepository(tx, 'diagnose-queues', { repositoryId }, (index * hourMs) / repositoriesMax);
}
