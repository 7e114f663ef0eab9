// Where the time of a pull request went.

import { z } from 'zod';
import { reasons } from '#core/queue/reason.ts';
import { timeKinds } from '#core/queue/time-spent.ts';
import { InstantOut, Uuid } from './common.ts';

const millis = z.int().min(0);

const TimeSegment = z
  .object({
    kind: z.enum(timeKinds).meta({
      description:
        'waiting: in line. in_doubt: its run failed, and whose fault that is was not settled. passed: waiting to land.',
    }),
    from: InstantOut,
    to: InstantOut,
    ms: millis,
    testRunId: Uuid.optional(),
    because: z
      .object({
        reason: z.enum(reasons).nullable().meta({
          description: 'Null: its run was begun anew, because it ran out of time or could not be started.',
        }),
        actor: z.string(),
        prNumber: z
          .int()
          .nullable()
          .meta({ description: 'The one ahead that failed, was cancelled or was merged by hand.' }),
      })
      .nullable()
      .meta({ description: 'Why it waits or is tested again; null where it is the first time.' }),
    isPaused: z.boolean().meta({ description: 'People had paused the queue, so that nothing moved it on.' }),
  })
  .meta({ id: 'TimeSegment' });

export const TimeSpent = z
  .object({
    trip: z.int(),
    submittedAt: InstantOut,
    concludedAt: InstantOut.nullable().meta({ description: 'Null: it goes on, and is counted until now.' }),
    totalMs: millis.meta({ description: 'From the submission to the end: the sum of all segments.' }),
    waitMs: millis.meta({ description: 'The sum of waiting.' }),
    testMs: millis.meta({ description: 'The sum of testing.' }),
    inQueueMs: millis.meta({ description: 'The sum of all but not_ready.' }),
    segments: z.array(TimeSegment).meta({ description: 'Oldest first, without gaps.' }),
  })
  .meta({ id: 'TimeSpent' });
export type TimeSpent = z.infer<typeof TimeSpent>;
