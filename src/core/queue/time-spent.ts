// Where the time of a trip went: timeSpent(moments) → segments that follow each other without a gap, from the submission
// to the end (or to now), so that they add up to it exactly.
//
// Example. #13 is tested on top of #12. After ten minutes #12 fails, and #13 begins anew:
//
//   submitted    queued      testing       #12 fails: pending   testing       passed      landing     merged
//   │ not_ready  │ waiting   │ testing     │ waiting, because   │ testing,    │ passed    │ landing   │
//   │            │           │             │ of #12             │ because …   │           │           │
//
// What is counted per kind is what evolve.ts counts: waiting is `waitMs`, testing is `testMs`, and all but not_ready is
// `inQueueMs`.

import type { EntryState } from './model.ts';
import type { Reason } from './reason.ts';

export const timeKinds = ['not_ready', 'waiting', 'testing', 'in_doubt', 'passed', 'landing'] as const;
export type TimeKind = (typeof timeKinds)[number];

/** Why tests began anew. */
type RestartCause = {
  /** Null: the run was begun anew in place because it ran out of time or could not be started. */
  readonly reason: Reason | null;
  readonly actor: string;
  /** The one ahead that failed, was cancelled or was merged by hand; null where it was nobody, or nobody is known. */
  readonly prNumber: number | null;
};

/** One fact about the entry that moved it or has to do with its landing. */
export type Moment = {
  readonly at: Date;
  readonly kind: string;
  /** Where it was then; null for what is about its landing. */
  readonly state: EntryState | null;
  readonly reason: Reason | null;
  readonly actor: string;
  readonly runId: string | null;
  /** Who made its tests begin anew, where this did. */
  readonly culprit: number | null;
};

/** A time in which nothing new was started; null: it still is so. */
export type Pause = { readonly from: Date; readonly to: Date | null };

export type TimeSegment = {
  readonly kind: TimeKind;
  readonly from: Date;
  readonly to: Date;
  readonly runId: string | null;
  /** Set where it is waited or tested again. */
  readonly because: RestartCause | null;
  /** The queue was paused, so that nothing moved it on. */
  readonly isPaused: boolean;
};

/** `isFresh`: the tests that its cause asks for have not begun yet. */
type Open = Omit<TimeSegment, 'to' | 'isPaused'> & { readonly isFresh: boolean };

const kindOf = {
  not_ready: 'not_ready',
  pending: 'waiting',
  testing: 'testing',
  pending_failure: 'in_doubt',
  tests_passed: 'passed',
} as const satisfies Partial<Record<EntryState, TimeKind>>;

const isEnd = (state: EntryState): boolean => !(state in kindOf);
const isUnderTest = (kind: TimeKind): boolean => kind !== 'not_ready' && kind !== 'waiting';
const mayRepeat: ReadonlySet<TimeKind> = new Set(['waiting', 'testing']);

/** Of the moments of one trip, oldest first, beginning with its submission. A trip that goes on is counted until `now`. */
export function timeSpent(
  moments: readonly Moment[],
  pauses: readonly Pause[],
  now: Date,
): readonly TimeSegment[] {
  const [first, ...rest] = moments;
  if (first === undefined) return [];
  const segments: TimeSegment[] = [];
  const close = ({ kind, from, runId, because }: Open, to: Date) =>
    segments.push({ kind, from, to, runId, because: mayRepeat.has(kind) ? because : null, isPaused: false });
  let open: Open | null = { kind: 'not_ready', from: first.at, runId: null, because: null, isFresh: false };
  for (const moment of rest) {
    // Clocks of several machines may differ by a little: what seems to go back takes no time.
    const at: Date = moment.at < open.from ? open.from : moment.at;
    const next = after(open, { ...moment, at });
    if (next === open) continue;
    close(open, at);
    open = next;
    if (open === null) break;
  }
  if (open !== null) close(open, now < open.from ? open.from : now);
  return segments.flatMap((segment) => splitByPauses(segment, pauses)).filter(({ from, to }) => from < to);
}

/** What begins with a moment; the same where it changes nothing, null where the trip ends. */
function after(open: Open, { at, kind, state, reason, actor, runId, culprit }: Moment): Open | null {
  // One that is put on the branch while it shows as something else (tested already, or proved by another) stays that.
  if (kind === 'landing_begun') return open.kind === 'passed' ? { ...open, kind: 'landing', from: at } : open;
  if (kind === 'landing_ended') return open.kind === 'landing' ? { ...open, kind: 'passed', from: at } : open;
  if (state === null) return open;
  if (isEnd(state)) return null;
  const next = kindOf[state as keyof typeof kindOf];
  const cause: RestartCause = { reason, actor, prNumber: culprit };
  if (kind === 'restart_requested') return { ...open, from: at, because: cause, isFresh: true };
  if (next === 'waiting' && isUnderTest(open.kind))
    return { kind: next, from: at, runId, because: cause, isFresh: true };
  if (next === open.kind && runId === open.runId) return open;
  const isRepeated = next === 'testing' && open.kind === 'testing';
  // A search tests its members step by step for one and the same cause.
  const because =
    isRepeated && !open.isFresh && open.because?.reason !== 'BISECTION_REQUIRED' ? cause : open.because;
  return { kind: next, from: at, runId, because, isFresh: open.isFresh && next !== 'testing' };
}

function splitByPauses(segment: TimeSegment, pauses: readonly Pause[]): readonly TimeSegment[] {
  // Tests under way go on, and so does what is being put on the branch.
  if (segment.kind === 'testing' || segment.kind === 'landing') return [segment];
  const parts: TimeSegment[] = [];
  let from = segment.from;
  for (const pause of pauses) {
    const begins = pause.from > from ? pause.from : from;
    const ends = pause.to === null || pause.to > segment.to ? segment.to : pause.to;
    if (begins >= ends) continue;
    parts.push({ ...segment, from, to: begins }, { ...segment, isPaused: true, from: begins, to: ends });
    from = ends;
  }
  return [...parts, { ...segment, from }];
}

export const millisOf = (segments: readonly TimeSegment[], ...kinds: readonly TimeKind[]): number =>
  segments
    .filter(({ kind }) => kinds.length === 0 || kinds.includes(kind))
    .reduce((sum, { from, to }) => sum + (to.getTime() - from.getTime()), 0);
