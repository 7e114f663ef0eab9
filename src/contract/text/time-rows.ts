// Where the time of an attempt went, as rows: time of one kind with one cause is one row, and the rows add up
// to the total also as they are shown, in whole seconds. For the dashboard and the command line.

import { reasonText } from './reason-text.ts';
import type { TimeSpent } from '../time-spent.ts';

export type TimeSegment = TimeSpent['segments'][number];

export type TimeRow = {
  readonly text: string;
  /** The pull request that the cause is about; the text that follows names it. */
  readonly culprit: number | null;
  /** The text after the name of the culprit, or the cause if there is no culprit. */
  readonly cause: string;
  readonly tone: 'good' | 'busy' | 'warn' | 'calm';
  readonly seconds: number;
};

const segmentStyles = {
  not_ready: { label: 'Not ready', tone: 'calm' },
  waiting: { label: 'Queued', tone: 'calm' },
  testing: { label: 'Tested', tone: 'busy' },
  in_doubt: { label: 'Pending failure', tone: 'warn' },
  passed: { label: 'Passed, waiting to merge', tone: 'good' },
  landing: { label: 'Merging', tone: 'good' },
} as const satisfies Record<TimeSegment['kind'], object>;

const removalCauses: Readonly<Record<string, string>> = {
  PREREQUISITE_MERGE_ITEM_FAILED: 'ahead of it failed',
  PREREQUISITE_MERGE_ITEM_CANCELLED: 'ahead of it was cancelled',
  PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED: 'ahead of it was merged manually',
};

export function describeCause({ because }: TimeSegment): Pick<TimeRow, 'culprit' | 'cause'> {
  if (because === null) return { culprit: null, cause: '' };
  const { reason, prNumber } = because;
  const left = reason === null ? undefined : removalCauses[reason];
  if (prNumber !== null && left !== undefined) return { culprit: prNumber, cause: left };
  return { culprit: null, cause: reason === null ? 'its run restarted' : reasonText[reason] };
}

export function segmentTone({ kind, isPaused, because }: TimeSegment): TimeRow['tone'] {
  return isPaused || because !== null ? 'warn' : segmentStyles[kind].tone;
}

export function segmentLabel({ kind, isPaused, because }: TimeSegment): string {
  const again = because === null ? '' : ' again';
  return `${segmentStyles[kind].label}${again}${isPaused ? ', the queue was paused' : ''}`;
}

/** In the order in which each began. */
export function timeRows({ segments, totalMs }: Pick<TimeSpent, 'segments' | 'totalMs'>): readonly TimeRow[] {
  const rows = new Map<string, TimeRow & { ms: number }>();
  for (const segment of segments) {
    const row = {
      text: segmentLabel(segment),
      ...describeCause(segment),
      tone: segmentTone(segment),
      seconds: 0,
    };
    const key = `${row.text} ${row.culprit} ${row.cause}`;
    rows.set(key, { ...row, ms: (rows.get(key)?.ms ?? 0) + segment.ms });
  }
  // Whole seconds that add up: each row ends at the rounded running total.
  let ms = 0;
  let shown = 0;
  const total = wholeSeconds(totalMs);
  return [...rows.values()].map(({ ms: own, ...row }, index, all) => {
    ms += own;
    const until = index === all.length - 1 ? total : wholeSeconds(ms);
    const seconds = until - shown;
    shown = until;
    return { ...row, seconds };
  });
}

export const wholeSeconds = (ms: number): number => Math.round(ms / 1_000);

/** `1 h 2 min 5 s`: every unit that is not zero, so that sums can be checked. */
export function exactSpan(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const shown = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`);
  return shown.length === 0 ? '0 s' : shown.join(' ');
}
