// Requests and responses about the history of a queue.

import { z } from 'zod';
import { dayMs } from '#base/duration.ts';
import { bucketSizes, bucketsMax, fits, rangeDaysMax } from '#core/queue/history-range.ts';
import { reasons } from '#core/queue/reason.ts';
import { InstantIn, InstantOut, lenientEnum, line, queueRef, Uuid } from './common.ts';
import { runStatuses, SelectedTestCount } from './testing.ts';

const conclusions = ['merged', 'failed', 'cancelled'] as const;

const window = {
  since: InstantIn.meta({ description: 'Concluded at or after.' }),
  until: InstantIn.meta({ description: 'Concluded before.' }),
  impactedTarget: line(1, 1024)
    .optional()
    .meta({ description: 'Only pull requests that impact this target, or every target.' }),
};

type HistoryPeriod = { readonly since: Date; readonly until: Date };

/** The length of the range; null: it is not valid, which is reported. */
function validateRange({ since, until }: HistoryPeriod, context: z.RefinementCtx): number | null {
  // Refinements are asked also where an instant is none.
  if (!(since instanceof Date) || !(until instanceof Date)) return null;
  const rangeMs = until.getTime() - since.getTime();
  const message =
    rangeMs <= 0
      ? 'must be after since'
      : rangeMs > rangeDaysMax * dayMs
        ? `must be at most ${rangeDaysMax} days after since`
        : null;
  if (message === null) return rangeMs;
  context.addIssue({ code: 'custom', path: ['until'], message });
  return null;
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

export const QueueHistoryRequest = z
  .object({
    ...queueRef,
    ...window,
    bucket: lenientEnum(bucketSizes)
      .optional()
      .meta({
        description: `Default: suited to the range. More than ${bucketsMax} buckets are refused.`,
      }),
    timeZone: z
      .string()
      .max(64)
      .regex(/^[A-Za-z][A-Za-z0-9_+/-]*$/, 'must be the name of a time zone, for example Europe/Berlin')
      .refine(isTimeZone, 'is not a known time zone')
      .optional()
      .meta({ description: 'The time zone in which days and weeks start. Default: UTC.' }),
  })
  .superRefine((asked, context) => {
    const rangeMs = validateRange(asked, context);
    if (asked.bucket !== undefined && rangeMs !== null && !fits(asked.bucket, rangeMs))
      context.addIssue({
        code: 'custom',
        path: ['bucket'],
        message: `must be larger: the range has more than ${bucketsMax} buckets of this size`,
      });
  });

const seconds = z.number().min(0);
const TwoPercentiles = z.object({ p50: seconds, p95: seconds }).meta({ id: 'TwoPercentiles' });
const ThreePercentiles = z
  .object({ p50: seconds, p95: seconds, p99: seconds })
  .meta({ id: 'ThreePercentiles' });

const figures = {
  merged: z.int(),
  failed: z.int(),
  cancelled: z.int(),
  outcomes: z
    .array(z.object({ conclusion: z.enum(conclusions), reason: z.enum(reasons).nullable(), count: z.int() }))
    .meta({ description: 'The same by reason, most frequent first.' }),
  restarts: z.int().meta({ description: 'How often the tests of these pull requests were restarted.' }),
  timeInQueueSeconds: ThreePercentiles.nullable().meta({
    description:
      'Time in the queue of merged pull requests, from when they were ready; null if none merged. The same holds for the next two fields.',
  }),
  waitSeconds: TwoPercentiles.nullable().meta({ description: 'The part of that time spent waiting.' }),
  testSeconds: TwoPercentiles.nullable().meta({ description: 'The part of that time spent under test.' }),
  ciMinutes: z.number().min(0).nullable().meta({
    description:
      'Duration of the test runs that started in this bucket, from the push of the test branch to the end. Null with impactedTarget, because a run tests more than one target.',
  }),
  ciMinutesSaved: z.number().min(0).nullable().meta({
    description:
      'An estimate of the CI time saved by stopping CI of abandoned runs, by the median duration of the runs of the queue. Null with impactedTarget.',
  }),
  ciMinutesPerMerged: z.number().min(0).nullable().meta({ description: 'Null: nothing merged.' }),
};

const HistoryFigures = z.object(figures).meta({ id: 'HistoryFigures' });

const HistoryBucket = z
  .object({
    from: InstantOut,
    to: InstantOut.meta({ description: 'The end of the bucket, exclusive.' }),
    ...figures,
  })
  .meta({ id: 'HistoryBucket' });

export const QueueHistoryResponse = z.object({
  bucket: z.enum(bucketSizes),
  timeZone: z.string(),
  since: InstantOut,
  until: InstantOut,
  totals: HistoryFigures,
  buckets: z.array(HistoryBucket).meta({ description: 'Oldest first, without gaps.' }),
});

export const ListTripsRequest = z
  .object({
    ...queueRef,
    ...window,
    conclusion: lenientEnum(conclusions).optional(),
    reason: lenientEnum(reasons).optional(),
    cursor: z.string().max(2048).optional(),
    take: z.int().min(1).max(100).default(50),
  })
  .superRefine((asked, context) => void validateRange(asked, context));

const ConcludedAttempt = z
  .object({
    prNumber: z.int(),
    prTitle: z.string(),
    prAuthor: z.string(),
    trip: z.int(),
    conclusion: z.enum(conclusions),
    reason: z.enum(reasons).nullable(),
    submittedAt: InstantOut,
    concludedAt: InstantOut,
    timeInQueueSeconds: seconds,
    waitSeconds: seconds,
    testSeconds: seconds,
    restarts: z.int(),
    headSha: z.string().meta({ description: 'The head commit of the pull request; empty: not known.' }),
    priorityValue: z.int().meta({ description: 'Of its latest attempt.' }),
    noBatch: z.boolean().meta({ description: 'Of its latest attempt.' }),
  })
  .meta({ id: 'Trip' });

export const ListTripsResponse = z.object({
  trips: z.array(ConcludedAttempt).meta({ description: 'Latest conclusion first.' }),
  nextCursor: z.string().optional(),
});

export const ListTestRunsRequest = z
  .object({
    ...queueRef,
    since: InstantIn.meta({ description: 'Started at or after.' }),
    until: InstantIn.meta({ description: 'Started before.' }),
    cursor: z.string().max(2048).optional(),
    take: z.int().min(1).max(500).default(100),
  })
  .superRefine((asked, context) => void validateRange(asked, context));

const number = z.int().meta({ description: 'The number of a pull request.' });

const PastTestRun = z
  .object({
    testRunId: Uuid,
    queueType: z.enum(['main', 'bisection']),
    status: z.enum(runStatuses),
    createdAt: InstantOut,
    pushedAt: InstantOut.nullable().meta({ description: 'When CI could start; null: it never could.' }),
    concludedAt: InstantOut.nullable(),
    tested: z.array(number).meta({ description: 'The pull requests under test, in queue order.' }),
    ahead: z
      .array(number)
      .meta({ description: 'The pull requests in the base that are not under test, in queue order.' }),
    failedByFlakyTests: z.boolean().nullable().meta({
      description:
        'Of a failed run: whether every failing test in the reports for its commit is classified as flaky now; null: the reports name no failing test, or the run did not fail.',
    }),
    selectedTests: SelectedTestCount,
  })
  .meta({ id: 'PastTestRun' });

export const ListTestRunsResponse = z.object({
  testRuns: z.array(PastTestRun).meta({ description: 'Latest start first.' }),
  nextCursor: z.string().optional(),
});

export const FailurePredictionsRequest = z.object(queueRef);

const share = z.number().min(0).max(1);

const PredictionPart = z
  .object({
    predictions: z.int(),
    predicted: share.meta({ description: 'The mean of the predicted probabilities to fail.' }),
    observed: share.meta({ description: 'The share that failed.' }),
  })
  .meta({ id: 'PredictionPart' });

export const FailurePredictionsResponse = z.object({
  enabled: z.boolean().meta({ description: 'Whether the queue uses the predictions (predictFailures).' }),
  attempts: z.int().meta({
    description:
      'The attempts that merged or failed within 90 days, at most the last 5,000. They are replayed in order.',
  }),
  failures: z.int().meta({ description: 'How many of these failed.' }),
  failuresNeeded: z.int().meta({
    description: 'As long as fewer have failed nothing is predicted: all pull requests count alike.',
  }),
  predictions: z.int().meta({
    description: 'The attempts that the replay predicted, each from what was known when it was submitted.',
  }),
  calibrationError: share.nullable().meta({
    description:
      'The mean distance of predicted and observed over the parts (expected calibration error). The same holds for skill: null if nothing was predicted.',
  }),
  skill: z.number().nullable().meta({
    description:
      'How much better the predictions are than the share that failed (Brier skill score): 0 is not at all, 1 would be certain and right.',
  }),
  parts: z
    .array(PredictionPart)
    .meta({ description: 'Ten parts of equal size, from the least to the most probable failures.' }),
});
