// Which troubles of a queue are reported, and when each is over. A trouble is reported once when it begins and once
// when it is over, however often it is looked at.

import { minuteMs } from '#base/duration.ts';
import { formatRoughDuration, type Progress, explainStandstill } from '../text/stall.ts';

export const troubleKinds = ['stalled', 'slow'] as const;
export type TroubleKind = (typeof troubleKinds)[number];

export type ObservedQueue = Progress & {
  /** Median time in the queue of its last merges; null: there are too few within a short time. */
  readonly recentInQueueMs: number | null;
  /** The same of the merges that it is compared with; null: there were too few. */
  readonly usualInQueueMs: number | null;
};

export type OpenTrouble = {
  readonly kind: TroubleKind;
  /** Since when nothing of it is seen; null: it is seen. */
  readonly clearSince: Date | null;
};

export type TroubleChange =
  | { readonly kind: 'begin'; readonly trouble: TroubleKind; readonly reason: string }
  /** Whether it is seen. */
  | { readonly kind: 'mark'; readonly trouble: TroubleKind; readonly isClear: boolean }
  /** It is not reported where someone stopped the queue. */
  | { readonly kind: 'end'; readonly trouble: TroubleKind; readonly isReported: boolean };

/** A trouble is over when nothing of it was seen for so long: one that comes and goes is reported once. */
const clearMs = 5 * minuteMs;

/** A queue is slow from twice the usual time on, and until it is down to one and a half times. */
const slowFactor = 2;
const usualFactor = 1.5;
/** What a queue may always take longer. */
const slowMarginMs = 10 * minuteMs;

/** What changes for a queue with these open troubles. */
export function watchTroubles(
  observed: ObservedQueue,
  open: readonly OpenTrouble[],
  now: Date,
): readonly TroubleChange[] {
  const changes: TroubleChange[] = [];
  const isStopped = observed.queue.state === 'PAUSED';
  for (const trouble of troubleKinds) {
    const found = open.find(({ kind }) => kind === trouble);
    if (isStopped) {
      if (found !== undefined) changes.push({ kind: 'end', trouble, isReported: false });
      continue;
    }
    const reason =
      trouble === 'stalled'
        ? explainStandstill(observed, now)
        : explainSlowness(observed, found === undefined ? slowFactor : usualFactor);
    if (found === undefined) {
      if (reason !== null) changes.push({ kind: 'begin', trouble, reason });
    } else if (reason !== null) {
      if (found.clearSince !== null) changes.push({ kind: 'mark', trouble, isClear: false });
    } else if (found.clearSince === null) changes.push({ kind: 'mark', trouble, isClear: true });
    else if (now.getTime() - found.clearSince.getTime() >= clearMs)
      changes.push({ kind: 'end', trouble, isReported: true });
  }
  return changes;
}

function explainSlowness({ recentInQueueMs, usualInQueueMs }: ObservedQueue, factor: number): string | null {
  if (recentInQueueMs === null || usualInQueueMs === null) return null;
  if (recentInQueueMs <= factor * usualInQueueMs || recentInQueueMs <= usualInQueueMs + slowMarginMs)
    return null;
  return `Half of the last pull requests took longer than ${formatRoughDuration(recentInQueueMs)} to merge; the usual time is ${formatRoughDuration(usualInQueueMs)}.`;
}
