// Converts where the time went to the wire format.

import type { TimeSpent } from '#contract/time-spent.ts';
import { sumMilliseconds, type Pause, timeSpent } from '#core/queue/text/time-spent.ts';
import type { AttemptMoments } from '#db/history/time-view.ts';

export function presentTimeSpent(
  { attempt, moments }: AttemptMoments,
  pauses: readonly Pause[],
  now: Date,
): TimeSpent {
  const segments = timeSpent(moments, pauses, now);
  const last = moments.findLast(({ state }) => state !== null);
  const isOver = last?.state === 'merged' || last?.state === 'failed' || last?.state === 'cancelled';
  const totalMs = sumMilliseconds(segments);
  return {
    trip: attempt,
    submittedAt: moments[0]!.at.toISOString(),
    concludedAt: isOver ? last.at.toISOString() : null,
    totalMs,
    waitMs: sumMilliseconds(segments, 'waiting'),
    testMs: sumMilliseconds(segments, 'testing'),
    inQueueMs: totalMs - sumMilliseconds(segments, 'not_ready'),
    segments: segments.map(({ kind, from, to, runId, because, isPaused }) => ({
      kind,
      from: from.toISOString(),
      to: to.toISOString(),
      ms: to.getTime() - from.getTime(),
      ...(runId === null ? {} : { testRunId: runId }),
      because,
      isPaused,
    })),
  };
}
