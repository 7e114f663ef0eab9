// Where the time of an attempt went: timeSpent(moments) → segments that follow each other without a gap, from
// the submission to the end (or to now), so that they add up to it exactly.
//
// Example. #13 is tested on top of #12. After ten minutes #12 fails, and the tests of #13 restart:
//
//   submitted    queued      testing       #12 fails: pending   testing       passed      landing     merged
//   │ not_ready  │ waiting   │ testing     │ waiting, because   │ testing,    │ passed    │ landing   │
//   │            │           │             │ of #12             │ because …   │           │           │
//
// Each kind counts the same time as evolve.ts: waiting is `waitMs`, testing is `testMs`, and all but
// not_ready is `inQueueMs`.

import type { EntryState } from '../model.ts';
import type { Reason } from '../reason.ts';

export const timeKinds = ['not_ready', 'waiting', 'testing', 'in_doubt', 'passed', 'landing'] as const;
export type TimeKind = (typeof timeKinds)[number];

/** Why tests restarted. */
type RestartCause = {
  /** Null: the run was restarted in place because it ran out of time or could not be started. */
  readonly reason: Reason | null;
  readonly actor: string;
  /** The entry ahead that failed, was cancelled or was merged by hand; null if there is none, or unknown. */
  readonly prNumber: number | null;
};

/** One fact about the entry that moved it or concerns its landing. */
export type Moment = {
  readonly at: Date;
  readonly kind: string;
  /** The state that the entry had then; null for a fact about its landing. */
  readonly state: EntryState | null;
  readonly reason: Reason | null;
  readonly actor: string;
  readonly runId: string | null;
  /** The pull request that made the tests of this entry restart, if one did. */
  readonly culprit: number | null;
};

/** A time in which nothing new was started; `to` is null while the pause lasts. */
export type Pause = { readonly from: Date; readonly to: Date | null };

export type AttemptTimeSegment = {
  readonly kind: TimeKind;
  readonly from: Date;
  readonly to: Date;
  readonly runId: string | null;
  /** Set if the entry waits or is tested again. */
  readonly because: RestartCause | null;
  /** The queue was paused, so that the entry did not advance. */
  readonly isPaused: boolean;
};

/** `isFresh`: the tests that its cause requests have not started yet. */
type OpenTimeSegment = Omit<AttemptTimeSegment, 'to' | 'isPaused'> & { readonly isFresh: boolean };

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

/** For the moments of one attempt, oldest first, from its submission. An open attempt counts until `now`. */
export function timeSpent(
  moments: readonly Moment[],
  pauses: readonly Pause[],
  now: Date,
): readonly AttemptTimeSegment[] {
  const [first, ...rest] = moments;
  if (first === undefined) return [];
  const segments: AttemptTimeSegment[] = [];
  const close = ({ kind, from, runId, because }: OpenTimeSegment, to: Date) =>
    segments.push({ kind, from, to, runId, because: mayRepeat.has(kind) ? because : null, isPaused: false });
  let open: OpenTimeSegment | null = {
    kind: 'not_ready',
    from: first.at,
    runId: null,
    because: null,
    isFresh: false,
  };
  for (const moment of rest) {
    // The clocks of several machines may differ a little: a step that seems to go back takes no time.
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

/** The segment that begins with a moment; the same segment if nothing changes, null if the attempt ends. */
function after(
  open: OpenTimeSegment,
  { at, kind, state, reason, actor, runId, culprit }: Moment,
): OpenTimeSegment | null {
  // An entry that lands from another state (merged directly, or proved by another run) keeps its segment.
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
  // A bisection tests its members step by step for one and the same cause.
  const because =
    isRepeated && !open.isFresh && open.because?.reason !== 'BISECTION_REQUIRED' ? cause : open.because;
  return { kind: next, from: at, runId, because, isFresh: open.isFresh && next !== 'testing' };
}

function splitByPauses(segment: AttemptTimeSegment, pauses: readonly Pause[]): readonly AttemptTimeSegment[] {
  // A pause stops neither tests that are running nor a landing.
  if (segment.kind === 'testing' || segment.kind === 'landing') return [segment];
  const parts: AttemptTimeSegment[] = [];
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

export const sumMilliseconds = (
  segments: readonly AttemptTimeSegment[],
  ...kinds: readonly TimeKind[]
): number =>
  segments
    .filter(({ kind }) => kinds.length === 0 || kinds.includes(kind))
    .reduce((sum, { from, to }) => sum + (to.getTime() - from.getTime()), 0);
