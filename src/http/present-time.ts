// Where the time went, to the wire.

import type { TimeSpent } from '#contract/time-spent.ts';
import { millisOf, type Pause, timeSpent } from '#core/queue/time-spent.ts';
import type { TripMoments } from '#db/time-view.ts';

export function presentTimeSpent(
  { trip, moments }: TripMoments,
  pauses: readonly Pause[],
  now: Date,
): TimeSpent {
  const segments = timeSpent(moments, pauses, now);
  const last = moments.findLast(({ state }) => state !== null);
  const isOver = last?.state === 'merged' || last?.state === 'failed' || last?.state === 'cancelled';
  const totalMs = millisOf(segments);
  return {
    trip,
    submittedAt: moments[0]!.at.toISOString(),
    concludedAt: isOver ? last.at.toISOString() : null,
    totalMs,
    waitMs: millisOf(segments, 'waiting'),
    testMs: millisOf(segments, 'testing'),
    inQueueMs: totalMs - millisOf(segments, 'not_ready'),
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
