// Requests and responses about queues.

import { z } from 'zod';
import { queueStates, settableQueueStates } from '#core/queue/model.ts';
import { InstantOut, Repository, lenientEnum, line, queueRef } from './common.ts';
import { entryFields } from './pull-request.ts';
import { queueSettings, queueSettingDefaults, type QueueSetting } from './queue-settings.ts';

type QueueSettingSchemas = typeof queueSettings;
type OptionalSettings = { [Name in keyof QueueSettingSchemas]: z.ZodOptional<QueueSettingSchemas[Name]> };

const optionalSettings = Object.fromEntries(
  Object.entries(queueSettings).map(([name, schema]) => {
    const initial = JSON.stringify(queueSettingDefaults[name as QueueSetting]);
    return [name, schema.optional().meta({ description: `${schema.description} Default: ${initial}.` })];
  }),
) as OptionalSettings;

const writeOnly = {
  deleteRequiredStatuses: z.boolean().optional().describe('True: sets requiredStatuses to null.'),
};

export const QueueRequest = z.object(queueRef);

export const CreateQueueRequest = z.object({ ...queueRef, ...optionalSettings, ...writeOnly });

export const UpdateQueueRequest = z.object({
  ...queueRef,
  ...optionalSettings,
  ...writeOnly,
  state: lenientEnum(settableQueueStates)
    .optional()
    .describe(
      'RUNNING: tests and merges. PAUSED: neither. DRAINING: finishes its entries, new ones wait. SWITCHING_MODES: set by Signalbox while the mode changes; read-only.',
    ),
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
      .meta({ description: 'Why Signalbox paused the queue; null: a person set its state.' }),
    ...settingsOut,
  })
  .meta({ id: 'QueueRecord' });

const EnqueuedPullRequest = z.object(entryFields).meta({ id: 'EnqueuedPullRequest' });

const isHostAway = z.boolean().meta({ description: 'The Git host is unreachable, so the queue waits.' });

const repositoryFetch = z
  .object({
    percent: z.int().min(0).max(100).nullable().meta({ description: 'Null: not known yet.' }),
    receivedBytes: z.int().min(0),
  })
  .nullable()
  .meta({
    description:
      'Progress of the first fetch of the repository, which must complete before tests start; null: it is complete, or has not started.',
  });

export const QueueWithEntries = QueueRecord.extend({
  isHostAway,
  repositoryFetch,
  enqueuedPullRequests: z.array(EnqueuedPullRequest).meta({
    description: 'In queue order: under test first, then pending, then not_ready in submission order.',
  }),
}).meta({ id: 'QueueWithEntries' });

const Finding = z
  .object({
    verdict: z.enum(['right', 'warning', 'wrong']),
    what: z.string().meta({ description: 'What was found, as a sentence.' }),
    fix: z.string().nullable().meta({ description: 'What to do about it; null: nothing is to be done.' }),
  })
  .meta({ id: 'Finding' });

const Diagnosis = z.object({
  findings: z.array(Finding).meta({ description: 'In the order in which they were checked.' }),
  untriggered: z.array(z.string()).meta({
    description:
      'Paths of the workflows that have a required check and that nothing starts for test branches. proposeTriggers adds the trigger.',
  }),
});

const checkedAt = InstantOut.meta({ description: 'When the doctor checked the queue.' });

export const QueueDiagnosis = Diagnosis.extend({ checkedAt });

export const KeptDiagnosis = z.object({
  diagnosis: QueueDiagnosis.nullable().meta({
    description: 'Null: the doctor has not checked the queue yet.',
  }),
});

export const TriggerProposal = z.object({
  pullRequest: z
    .object({
      number: z.int(),
      url: z.url(),
      isNew: z.boolean().meta({ description: 'False: it was open already, and stays as it is.' }),
    })
    .nullable()
    .meta({ description: 'Null: no file could be changed by a pull request.' }),
  byHand: z
    .array(
      z.object({
        path: z.string(),
        reason: z.string().meta({ description: 'Why Signalbox does not change the file.' }),
        editorUrl: z
          .url()
          .nullable()
          .meta({ description: 'Where a person edits it; null: the Git host has no page for it.' }),
        text: z.string(),
        isWholeFile: z
          .boolean()
          .meta({ description: 'Whether `text` is the whole file, or lines to be added to it.' }),
      }),
    )
    .meta({ description: 'Files that a person has to change.' }),
});

export const RepositoryCheck = Diagnosis.extend({
  requiredChecks: z.array(z.string()).meta({
    description:
      'The checks that the rules of the branch require. A queue requires the same unless its settings name others.',
  }),
  reportedChecks: z.array(z.string()).meta({
    description: 'The checks that reported recently, those of pull requests first.',
  }),
});

export const ListQueuesRequest = z.object({
  query: line(1, 200)
    .optional()
    .meta({ description: 'Only queues whose owner/name or branch contains this text, ignoring case.' }),
  includeLastDay: z
    .boolean()
    .optional()
    .meta({ description: 'Also the last 24 hours by hour, and what is usual.' }),
  cursor: z.string().max(2048).optional(),
  take: z.int().min(1).max(100).default(100),
});

const seconds = z.number().min(0);

const hoursOfDay = 24;

const LastDay = z
  .object({
    mergedByHour: z
      .array(z.int())
      .length(hoursOfDay)
      .meta({ description: 'Merged pull requests by hour, oldest first; the last hour ends now.' }),
    timeInQueueP50SecondsByHour: z
      .array(seconds.nullable())
      .length(hoursOfDay)
      .meta({ description: 'Their median time in the queue; null: none merged in this hour.' }),
    mergedWeekEarlier: z.int().meta({ description: 'Merged in the same 24 hours a week earlier.' }),
    usualTimeInQueueSeconds: seconds.nullable().meta({
      description:
        'The median time in the queue that is usual with its settings, with which `queue.slow` compares; null: it is not measured yet.',
    }),
    isSlow: z.boolean().meta({
      description:
        'Merges take far longer than usual: `queue.slow` was sent, and `queue.recovered` was not yet.',
    }),
  })
  .meta({ id: 'LastDay' });

const ListedQueue = z
  .object({
    repo: Repository,
    targetBranch: z.string(),
    state: z.enum(queueStates),
    stateReason: QueueRecord.shape.stateReason,
    mode: queueSettings.mode,
    depth: z.int().meta({ description: 'Pull requests that are queued or under test.' }),
    testing: z.int().meta({ description: 'How many of these are under test.' }),
    notReady: z.int().meta({ description: 'Submitted pull requests that are not ready yet.' }),
    oldestEntryAt: InstantOut.nullable().meta({ description: 'Since when the oldest of these is queued.' }),
    mergedLast24h: z.int(),
    failedLast24h: z.int(),
    timeInQueueP50Seconds: seconds.nullable().meta({
      description:
        'Median time in the queue of the pull requests merged in the last 24 hours; null: none merged.',
    }),
    usualTestSeconds: z.number().nullable().meta({
      description:
        'Median time under test of the pull requests merged in the last 24 hours; null: none merged after tests.',
    }),
    isHostAway,
    stall: z
      .string()
      .nullable()
      .meta({ description: 'Why the queue is stalled, as a sentence; null: it is not stalled.' }),
    lastDay: LastDay.optional().meta({ description: 'With includeLastDay.' }),
  })
  .meta({ id: 'ListedQueue' });

export const ListQueuesResponse = z.object({
  queues: z.array(ListedQueue).meta({ description: 'Sorted by repository and branch.' }),
  nextCursor: z.string().optional(),
});
