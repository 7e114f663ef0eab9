// Where the time of a trip went, as rows: what is of one kind for one cause is one row, and the rows add up to the total
// also as they are shown, in whole seconds. For the dashboard and the command line.

import { reasonWords } from './reason-words.ts';
import type { TimeSpent } from './time-spent.ts';

export type TimeSegment = TimeSpent['segments'][number];

export type TimeRow = {
  readonly words: string;
  /** The pull request that the cause is about; named in the words that follow. */
  readonly culprit: number | null;
  /** What comes after the name of the culprit, or the cause where there is none. */
  readonly cause: string;
  readonly tone: 'good' | 'busy' | 'warn' | 'calm';
  readonly seconds: number;
};

const looks = {
  not_ready: { words: 'Not ready', tone: 'calm' },
  waiting: { words: 'In line', tone: 'calm' },
  testing: { words: 'Tested', tone: 'busy' },
  in_doubt: { words: 'Failure in doubt', tone: 'warn' },
  passed: { words: 'Passed, waiting to land', tone: 'good' },
  landing: { words: 'Being put on the branch', tone: 'good' },
} as const satisfies Record<TimeSegment['kind'], object>;

const leftWords: Readonly<Record<string, string>> = {
  PREREQUISITE_MERGE_ITEM_FAILED: 'ahead of it failed',
  PREREQUISITE_MERGE_ITEM_CANCELLED: 'ahead of it was cancelled',
  PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED: 'ahead of it was merged by hand',
};

function causeOf({ because }: TimeSegment): Pick<TimeRow, 'culprit' | 'cause'> {
  if (because === null) return { culprit: null, cause: '' };
  const { reason, prNumber } = because;
  const left = reason === null ? undefined : leftWords[reason];
  if (prNumber !== null && left !== undefined) return { culprit: prNumber, cause: left };
  return { culprit: null, cause: reason === null ? 'its run was begun anew' : reasonWords[reason] };
}

export function toneOf({ kind, isPaused, because }: TimeSegment): TimeRow['tone'] {
  return isPaused || because !== null ? 'warn' : looks[kind].tone;
}

export function wordsOf({ kind, isPaused, because }: TimeSegment): string {
  const again = because === null ? '' : ' again';
  return `${looks[kind].words}${again}${isPaused ? ', the queue was paused' : ''}`;
}

/** In the order in which each began. */
export function timeRows({ segments, totalMs }: TimeSpent): readonly TimeRow[] {
  const rows = new Map<string, TimeRow & { ms: number }>();
  for (const segment of segments) {
    const row = { words: wordsOf(segment), ...causeOf(segment), tone: toneOf(segment), seconds: 0 };
    const key = `${row.words} ${row.culprit} ${row.cause}`;
    rows.set(key, { ...row, ms: (rows.get(key)?.ms ?? 0) + segment.ms });
  }
  // Whole seconds that add up: each row ends where the sum up to it does.
  let ms = 0;
  let told = 0;
  const total = wholeSeconds(totalMs);
  return [...rows.values()].map(({ ms: own, ...row }, index, all) => {
    ms += own;
    const until = index === all.length - 1 ? total : wholeSeconds(ms);
    const seconds = until - told;
    told = until;
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
  const told = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`);
  return told.length === 0 ? '0 s' : told.join(' ');
}
