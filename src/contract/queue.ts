// Requests and responses about queues.

import { z } from 'zod';
import { queueStates, settableQueueStates } from '#core/queue/model.ts';
import { InstantOut, Repository, lenientEnum, line, queueRef } from './common.ts';
import { entryFields } from './pull-request.ts';
import { queueSettings, queueSettingDefaults, type QueueSetting } from './queue-settings.ts';

type Settings = typeof queueSettings;
type OptionalSettings = { [Name in keyof Settings]: z.ZodOptional<Settings[Name]> };

const optionalSettings = Object.fromEntries(
  Object.entries(queueSettings).map(([name, schema]) => {
    const initial = JSON.stringify(queueSettingDefaults[name as QueueSetting]);
    return [name, schema.optional().meta({ description: `${schema.description} Default: ${initial}.` })];
  }),
) as OptionalSettings;

const writeOnly = {
  deleteRequiredStatuses: z.boolean().optional().describe('True sets requiredStatuses back to null.'),
};

export const QueueRequest = z.object(queueRef);

export const CreateQueueRequest = z.object({ ...queueRef, ...optionalSettings, ...writeOnly });

export const UpdateQueueRequest = z.object({
  ...queueRef,
  ...optionalSettings,
  ...writeOnly,
  state: lenientEnum(settableQueueStates)
    .optional()
    .describe('What the queue does with its entries. SWITCHING_MODES is only ever read.'),
});

const settingsOut = z.object(queueSettings).shape;

export const QueueRecord = z
  .object({
    repo: Repository,
    targetBranch: z.string(),
    branch: z.string(),
    state: z.enum(queueStates),
    stateReason: z
      .string()
      .nullable()
      .meta({ description: 'Why the queue stopped by itself; null where a person set its state.' }),
    ...settingsOut,
  })
  .meta({ id: 'QueueRecord' });

const EnqueuedPullRequest = z.object(entryFields).meta({ id: 'EnqueuedPullRequest' });

const isHostAway = z
  .boolean()
  .meta({ description: 'The repository’s host does not answer: the queue waits.' });

const repositoryFetch = z
  .object({
    percent: z.int().min(0).max(100).nullable().meta({ description: 'Null: not known yet.' }),
    receivedBytes: z.int().min(0),
  })
  .nullable()
  .meta({
    description:
      'How far the first fetch of the repository is, without which nothing can be tested; null: it is complete, or has not begun.',
  });

export const QueueWithEntries = QueueRecord.extend({
  isHostAway,
  repositoryFetch,
  enqueuedPullRequests: z.array(EnqueuedPullRequest).meta({
    description: 'In queue order: under test first, then pending, then not_ready in submission order.',
  }),
}).meta({ id: 'QueueWithEntries' });

export const ListQueuesRequest = z.object({
  query: line(1, 200)
    .optional()
    .meta({ description: 'Part of owner/name and branch, in any case of letters.' }),
  cursor: z.string().max(2048).optional(),
  take: z.int().min(1).max(100).default(100),
});

const seconds = z.number().min(0);

const ListedQueue = z
  .object({
    repo: Repository,
    targetBranch: z.string(),
    state: z.enum(queueStates),
    stateReason: QueueRecord.shape.stateReason,
    mode: queueSettings.mode,
    depth: z.int().meta({ description: 'Pull requests in line or under test.' }),
    testing: z.int().meta({ description: 'Of these, those under test.' }),
    notReady: z.int().meta({ description: 'Submitted pull requests that are not ready yet.' }),
    oldestEntryAt: InstantOut.nullable().meta({ description: 'Since when the first of these is in line.' }),
    mergedLast24h: z.int(),
    failedLast24h: z.int(),
    timeInQueueP50Seconds: seconds.nullable().meta({
      description: 'Median time in queue of what merged within the last 24 hours; null where nothing did.',
    }),
    isHostAway,
    stall: z
      .string()
      .nullable()
      .meta({ description: 'Why the queue stands still, in a sentence; null: it goes on, or nobody waits.' }),
  })
  .meta({ id: 'ListedQueue' });

export const ListQueuesResponse = z.object({
  queues: z.array(ListedQueue).meta({ description: 'By repository and branch.' }),
  nextCursor: z.string().optional(),
});
