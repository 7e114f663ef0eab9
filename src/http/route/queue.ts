// Queues and their metrics.

import { appError } from '#base/error.ts';
import { changeQueue, createQueue, deleteQueue } from '#command/change-queue.ts';
import type { RequestOf } from '#contract/endpoint/endpoint.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { readQueueNumbers } from '#db/history/metrics-view.ts';
import { readRepositoryFetch } from '#db/host/mirror-store.ts';
import { listQueuesAfter } from '#db/queue/queue-list-view.ts';
import { listEnqueued } from '#db/queue/queue-view.ts';
import { renderMetrics } from '#event/metrics.ts';
import {
  auditorFrom,
  connectedRepository,
  type Handlers,
  knownRepository,
  noQueue,
  requireQueue,
} from '../endpoint/context.ts';
import { queueCursorFrom, queueCursorText } from '../guard/page-token.ts';
import { presentEnqueued, presentListed, presentQueue } from '../endpoint/present.ts';
import { metricsRepository } from '../guard/scope-key.ts';

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
      { repository: repo, branch: input.targetBranch, settings: givenSettings(input) },
      auditorFrom(context),
    );
    return presentQueue(repository, queue);
  },

  updateQueue: async (context, input) => {
    const { queue, repository } = requireQueue(context, input);
    const { cell } = context;
    const change = { settings: givenSettings(input), state: input.state };
    const ref = { cell, queueId: queue.id, repository, by: auditorFrom(context) };
    return presentQueue(repository, await changeQueue(ref, change));
  },

  deleteQueue: async (context, input) => {
    const { queue, repository } = requireQueue(context, input);
    const { cell } = context;
    await deleteQueue({ cell, queueId: queue.id, repository, by: auditorFrom(context) });
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

  listQueues: async ({ cell, scope, now }, { cursor, take, query = null, includeLastDay = false }) => {
    const after = cursor === undefined ? null : queueCursorFrom(cursor);
    const { organizationId } = scope.principal;
    // One more row than requested shows whether there is a next page.
    const listed = { organizationId, query, includeLastDay };
    // The last day of many queues takes long, and would delay those who share the reader.
    const db = includeLastDay ? cell.db : cell.reader;
    const rows = await listQueuesAfter(db, listed, after, take + 1, now);
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

/** Only the given settings: an absent one must not overwrite. */
function givenSettings(input: RequestOf<'createQueue'>): Partial<QueueSettings> {
  const { repo: _repo, targetBranch: _branch, deleteRequiredStatuses, ...rest } = input;
  const { state: _state, ...settings } = rest as typeof rest & { readonly state?: unknown };
  const given = Object.entries(settings).filter(([, value]) => value !== undefined);
  return {
    ...(Object.fromEntries(given) as Partial<QueueSettings>),
    ...(deleteRequiredStatuses === true ? { requiredStatuses: null } : {}),
  };
}
