// Queues and their metrics.

import { appError } from '#base/error.ts';
import { changeQueue, createQueue, deleteQueue } from '#command/change-queue.ts';
import type { RequestOf } from '#contract/endpoint.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { readQueueNumbers } from '#db/metrics-view.ts';
import { readRepositoryFetch } from '#db/mirror-store.ts';
import { listQueuesAfter } from '#db/queue-list-view.ts';
import { listEnqueued } from '#db/queue-view.ts';
import { renderMetrics } from '#event/metrics.ts';
import {
  auditorOf,
  connectedRepository,
  type Handlers,
  knownRepository,
  noQueue,
  requireQueue,
} from '../context.ts';
import { queueCursorFrom, queueCursorText } from '../page-token.ts';
import { presentEnqueued, presentListed, presentQueue } from '../present.ts';
import { metricsRepository } from '../scope-key.ts';

export const queueHandlers: Handlers<
  | 'createQueue'
  | 'updateQueue'
  | 'deleteQueue'
  | 'getQueue'
  | 'getQueueGraph'
  | 'listQueues'
  | 'getMergeQueueMetrics'
> = {
  createQueue: async (context, input) => {
    const repo = await connectedRepository(context, input.repo);
    const { queue, repository } = await createQueue(
      context.cell,
      { repository: repo, branch: input.targetBranch, settings: settingsOf(input) },
      auditorOf(context),
    );
    return presentQueue(repository, queue);
  },

  updateQueue: async (context, input) => {
    const { queue, repository } = requireQueue(context, input);
    const { cell } = context;
    const change = { settings: settingsOf(input), state: input.state };
    const ref = { cell, queueId: queue.id, repository, by: auditorOf(context) };
    return presentQueue(repository, await changeQueue(ref, change));
  },

  deleteQueue: async (context, input) => {
    const { queue, repository } = requireQueue(context, input);
    const { cell } = context;
    await deleteQueue({ cell, queueId: queue.id, repository, by: auditorOf(context) });
    return {};
  },

  getQueue: async (context, input) => {
    const { queue, repository } = requireQueue(context, input);
    const { reader } = context.cell;
    const [entries, repositoryFetch] = await Promise.all([
      listEnqueued(reader, queue.id),
      readRepositoryFetch(reader, repository.id),
    ]);
    return {
      ...presentQueue(repository, queue),
      isHostAway: context.scope.isHostAway,
      repositoryFetch,
      enqueuedPullRequests: entries.map(presentEnqueued),
    };
  },

  getQueueGraph: async (context, input) => {
    const { queue, repository } = requireQueue(context, input);
    const graph = await context.readQueueGraph(context.cell, repository, queue);
    if (graph === null) throw noQueue(repository, queue.targetBranch);
    return graph;
  },

  listQueues: async ({ cell, scope, now }, { cursor, take, query = null }) => {
    const after = cursor === undefined ? null : queueCursorFrom(cursor);
    const { organizationId } = scope.principal;
    // One more than asked for tells whether there is a next page.
    const rows = await listQueuesAfter(cell.reader, { organizationId, query }, after, take + 1, now);
    const page = rows.slice(0, take);
    const last = page.at(-1);
    return {
      queues: page.map((listed) => presentListed(listed, now)),
      ...(rows.length > take && last ? { nextCursor: queueCursorText(last.queue.id) } : {}),
    };
  },

  getMergeQueueMetrics: async (context, input) => {
    const { cell, scope, now } = context;
    const named = metricsRepository(input);
    const repository = named === undefined ? null : knownRepository(context, named);
    const noQueueAtAll = () =>
      appError('QUEUE_NOT_FOUND', {
        public: `The repository ${input.repo} has no merge queue. Create one with createQueue.`,
      });
    if (named !== undefined && repository === null) throw noQueueAtAll();
    const numbers = await readQueueNumbers(
      cell.reader,
      scope.principal.organizationId,
      repository?.id ?? null,
      now,
    );
    if (named !== undefined && numbers.length === 0) throw noQueueAtAll();
    return renderMetrics(numbers);
  },
};

/** The settings that were given: what is absent stays out, so that it does not overwrite. */
function settingsOf(input: RequestOf<'createQueue'>): Partial<QueueSettings> {
  const { repo: _repo, targetBranch: _branch, deleteRequiredStatuses, ...rest } = input;
  const { state: _state, ...settings } = rest as typeof rest & { readonly state?: unknown };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(given) as Partial<QueueSettings>),
    ...(deleteRequiredStatuses === true ? { requiredStatuses: null } : {}),
  };
}
