// Requests and responses about queues.

import { z } from 'zod';
import { queueStates, settableQueueStates } from '#core/queue/model.ts';
import {
  defaultSettings,
  directMergeModes,
  landingModes,
  mergeMethods,
  optimizationModes,
  queueModes,
  type QueueSettings,
} from '#core/queue/settings.ts';
import { InstantOut, Repository, lenientEnum, line, queueRef } from './common.ts';
import { entryFields } from './pull-request.ts';

/** Each setting with its bounds and one sentence of what it does. */
const settings = {
  mode: lenientEnum(queueModes).describe('One line, or lanes by impacted targets.'),
  concurrency: z.int().min(1).max(1000).describe('Test runs at once, a pull request or a batch each.'),
  bisectionConcurrency: z
    .int()
    .min(0)
    .max(1000)
    .describe('Runs at once while isolating a failure, a budget of its own; 0 is the same as concurrency.'),
  testingTimeoutMinutes: z
    .int()
    .min(0)
    .max(10_080)
    .describe('Minutes until a run counts as timed out; 0 is never.'),
  pendingFailureDepth: z.int().min(0).max(1000).describe('Successors to wait for before a failure is final.'),
  canOptimisticallyMerge: z.boolean().describe('A passing run also proves what it contains ahead of it.'),
  batch: z.boolean().describe('Test several pull requests in one run.'),
  batchingMaxWaitTimeMinutes: z.int().min(0).max(10_080).describe('Minutes a batch may wait to fill.'),
  batchingMinSize: z
    .int()
    .min(1)
    .max(1000)
    .describe('Target size: a batch starts when it has this many, and never holds more.'),
  mergeMethod: lenientEnum(mergeMethods).describe('How a pull request becomes commits on the branch.'),
  landingMode: lenientEnum(landingModes).describe(
    'Push the tested commits themselves, use the host’s merge call, or whichever lets the host show the merge.',
  ),
  directMergeMode: lenientEnum(directMergeModes).describe(
    'Merge at once what is already tested on the tip of an empty queue.',
  ),
  optimizationMode: lenientEnum(optimizationModes).describe(
    'Reuse a result already known for the same tree.',
  ),
  createPrsForTestingBranches: z.boolean().describe('Open a draft pull request per test branch.'),
  commentsEnabled: z.boolean().describe('Write comments on pull requests.'),
  commandsEnabled: z.boolean().describe('Obey slash commands in comments.'),
  statusCheckEnabled: z.boolean().describe('Show the queue’s own check on pull requests.'),
  enqueueingLabel: line(1, 50).describe('Adding this label submits, removing it cancels.'),
  labelCommandsEnabled: z.boolean().describe('Obey the label.'),
  stateLabelsEnabled: z.boolean().describe('Show the state as a label.'),
  extensionEnabled: z.boolean().describe('Stored and returned for existing configuration tools; no effect.'),
  requiredStatuses: z
    .array(line(1, 255))
    .max(100)
    .nullable()
    .describe('Checks that must pass; null: the repository’s file, then branch protection; empty: none.'),
  notReadyTimeoutHours: z.int().min(0).max(720).describe('Cancels what was never ready; 0 is never.'),
} satisfies Record<keyof QueueSettings, z.ZodType>;

type Settings = typeof settings;
type OptionalSettings = { [Name in keyof Settings]: z.ZodOptional<Settings[Name]> };

const optionalSettings = Object.fromEntries(
  Object.entries(settings).map(([name, schema]) => {
    const initial = JSON.stringify(defaultSettings[name as keyof QueueSettings]);
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

const settingsOut = z.object(settings).shape;

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

export const QueueWithEntries = QueueRecord.extend({
  isHostAway,
  enqueuedPullRequests: z.array(EnqueuedPullRequest).meta({
    description: 'In queue order: under test first, then pending, then not_ready in submission order.',
  }),
}).meta({ id: 'QueueWithEntries' });

export const ListQueuesRequest = z.object({
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
    mode: settings.mode,
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
