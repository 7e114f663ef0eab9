// Requests and responses about what became of the pull requests of a queue over time.

import { z } from 'zod';
import { bucketSizes, bucketsMax, fits, rangeDaysMax } from '#core/queue/history-range.ts';
import { reasons } from '#core/queue/reason.ts';
import { InstantIn, InstantOut, lenientEnum, line, queueRef, Uuid } from './common.ts';
import { runStatuses } from './testing.ts';

const conclusions = ['merged', 'failed', 'cancelled'] as const;

const dayMs = 86_400_000;

const window = {
  since: InstantIn.meta({ description: 'Concluded at or after.' }),
  until: InstantIn.meta({ description: 'Concluded before.' }),
  impactedTarget: line(1, 1024)
    .optional()
    .meta({ description: 'Only pull requests that impact this target, or every target.' }),
};

type Window = { readonly since: Date; readonly until: Date };

/** How long it is; null where it is wrong, which is said. */
function rangeOf({ since, until }: Window, context: z.RefinementCtx): number | null {
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
        description: `Absent: as the range asks for. More than ${bucketsMax} are refused.`,
      }),
    timeZone: z
      .string()
      .max(64)
      .regex(/^[A-Za-z][A-Za-z0-9_+/-]*$/, 'must be the name of a time zone, for example Europe/Berlin')
      .refine(isTimeZone, 'is no time zone that is known here')
      .optional()
      .meta({ description: 'Where days and weeks begin. Default: UTC.' }),
  })
  .superRefine((asked, context) => {
    const rangeMs = rangeOf(asked, context);
    if (asked.bucket !== undefined && rangeMs !== null && !fits(asked.bucket, rangeMs))
      context.addIssue({
        code: 'custom',
        path: ['bucket'],
        message: `must be larger: the range has more than ${bucketsMax} of them`,
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
    .meta({ description: 'The same by reason, the most frequent first.' }),
  restarts: z.int().meta({ description: 'How often tests of these pull requests were started anew.' }),
  timeInQueueSeconds: ThreePercentiles.nullable().meta({
    description: 'Of what merged, from when it was ready; null where nothing did. So are the next two.',
  }),
  waitSeconds: TwoPercentiles.nullable().meta({ description: 'Of these, the time in line.' }),
  testSeconds: TwoPercentiles.nullable().meta({ description: 'Of these, the time under test.' }),
  ciMinutes: z.number().min(0).nullable().meta({
    description:
      'Of test runs that were begun then, from the push of the test branch to the end. Null with impactedTarget: a run tests more than one target.',
  }),
  ciMinutesSaved: z.number().min(0).nullable().meta({
    description:
      'An estimate: what CI would still have worked on runs that were given up and whose CI was stopped, by the median of the queue’s runs. Null with impactedTarget.',
  }),
  ciMinutesPerMerged: z.number().min(0).nullable().meta({ description: 'Null where nothing merged.' }),
};

const HistoryFigures = z.object(figures).meta({ id: 'HistoryFigures' });

const HistoryBucket = z
  .object({
    from: InstantOut,
    to: InstantOut.meta({ description: 'The first instant after it.' }),
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
  .superRefine((asked, context) => void rangeOf(asked, context));

const Trip = z
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
    headSha: z.string().meta({ description: 'What was to land; empty where it is not known.' }),
    priorityValue: z.int().meta({ description: 'Of its latest trip.' }),
    noBatch: z.boolean().meta({ description: 'Of its latest trip.' }),
  })
  .meta({ id: 'Trip' });

export const ListTripsResponse = z.object({
  trips: z.array(Trip).meta({ description: 'The last to conclude first.' }),
  nextCursor: z.string().optional(),
});

export const ListTestRunsRequest = z
  .object({
    ...queueRef,
    since: InstantIn.meta({ description: 'Begun at or after.' }),
    until: InstantIn.meta({ description: 'Begun before.' }),
    cursor: z.string().max(2048).optional(),
    take: z.int().min(1).max(500).default(100),
  })
  .superRefine((asked, context) => void rangeOf(asked, context));

const number = z.int().meta({ description: 'The number of a pull request.' });

const PastTestRun = z
  .object({
    testRunId: Uuid,
    queueType: z.enum(['main', 'bisection']),
    status: z.enum(runStatuses),
    createdAt: InstantOut,
    pushedAt: InstantOut.nullable().meta({ description: 'When CI could begin; null: it never could.' }),
    concludedAt: InstantOut.nullable(),
    tested: z.array(number).meta({ description: 'Under test, in the order of the line.' }),
    ahead: z.array(number).meta({ description: 'In the base but not under test, in the same order.' }),
    failedByFlakyTests: z.boolean().nullable().meta({
      description:
        'Of a failed run: whether all tests that reports for its commit name as failing are flaky, as it is judged by now; null: none is named, or it did not fail.',
    }),
  })
  .meta({ id: 'PastTestRun' });

export const ListTestRunsResponse = z.object({
  testRuns: z.array(PastTestRun).meta({ description: 'The last to begin first.' }),
  nextCursor: z.string().optional(),
});
