// Where the time of a pull request went.

import { z } from 'zod';
import { reasons } from '#core/queue/reason.ts';
import { timeKinds } from '#core/queue/text/time-spent.ts';
import { InstantOut, Uuid } from './common.ts';

const millis = z.int().min(0);

const TimeSegment = z
  .object({
    kind: z.enum(timeKinds).meta({
      description:
        'waiting: queued. in_doubt: its run failed, and Signalbox was checking which pull request caused it. passed: waiting to merge.',
    }),
    from: InstantOut,
    to: InstantOut,
    ms: millis,
    testRunId: Uuid.optional(),
    because: z
      .object({
        reason: z.enum(reasons).nullable().meta({
          description: 'Null: its run restarted, because it timed out or could not be started.',
        }),
        actor: z.string(),
        prNumber: z
          .int()
          .nullable()
          .meta({ description: 'The pull request ahead that failed, was cancelled or was merged manually.' }),
      })
      .nullable()
      .meta({ description: 'Why it waits or is tested again; null: it is the first time.' }),
    isPaused: z.boolean().meta({ description: 'A person had paused the queue.' }),
  })
  .meta({ id: 'TimeSegment' });

export const TimeSpent = z
  .object({
    trip: z.int(),
    submittedAt: InstantOut,
    concludedAt: InstantOut.nullable().meta({
      description: 'Null: it has not ended, and is counted until now.',
    }),
    totalMs: millis.meta({ description: 'From the submission to the end: the sum of all segments.' }),
    waitMs: millis.meta({ description: 'The sum of waiting.' }),
    testMs: millis.meta({ description: 'The sum of testing.' }),
    inQueueMs: millis.meta({ description: 'The sum of all but not_ready.' }),
    segments: z.array(TimeSegment).meta({ description: 'Oldest first, without gaps.' }),
  })
  .meta({ id: 'TimeSpent' });
export type TimeSpent = z.infer<typeof TimeSpent>;
