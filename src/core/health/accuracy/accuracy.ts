// How often were verdicts right? Only what came later can say so:
//
//   flaky       confirmed: it passed and failed on the same commit again while it was flaky
//               overturned: it left that status without showing it again
//   broken      confirmed: it failed again on the default branch while it was broken
//               overturned: it left that status without failing again
//   recovered   a test that was flaky or broken is healthy. Confirmed: it stayed so for 14 days. Overturned: it did not
//   rerun       the queue ran a failed run again, because only flaky tests had failed in it. Confirmed: it passed.
//               Overturned: it failed again
//   people      a person acted on a flaky or broken test. Confirmed: marked it so, or quarantined it. Overturned: marked it
//               otherwise, muted a monitor, or set it never to be quarantined
//
// A verdict that neither has happened to is open. A test that is repaired at once leaves its status without showing it
// again, as a sound test does: the share of `flaky` and `broken` is a lower bound.
//
// Example. A test is flaky on Monday, passes and fails on one commit on Wednesday, and is healthy after a quiet week. The
// verdict of Monday is confirmed. Five days later it is flaky again: that it had recovered is overturned.

import { dayMs } from '#base/duration.ts';
import type { TestCaseHistory } from '../history.ts';
import { wilsonInterval } from '../monitor/statistics.ts';
import type { HealthStatus } from '../status.ts';

export const accuracyKinds = ['flaky', 'broken', 'recovered', 'rerun', 'people'] as const;
export type AccuracyKind = (typeof accuracyKinds)[number];

export const recoveredDays = 14;
/** With fewer verdicts that are confirmed or overturned, no share is named. */
export const decidedMin = 10;

export type Tally = { confirmed: number; overturned: number; open: number };

type Accuracy = Tally & {
  /** The share of decided verdicts that were confirmed, and its 95 % interval; null: there are too few. */
  readonly share: { readonly value: number; readonly low: number; readonly high: number } | null;
};

/** One stay of a test in a status. */
export type StatusSpan = {
  readonly testCaseId: string;
  readonly at: Date;
  readonly status: HealthStatus;
  readonly trigger: 'upload' | 'time' | 'person';
  /** When it left the status; null: it has it still. */
  readonly endedAt: Date | null;
  readonly endTrigger: 'upload' | 'time' | 'person' | null;
  /** How often it showed its status again, as countRepeats says; null: that is not known. */
  readonly repeats: number | null;
};

/** What a person did with a test. */
export type Opinion = {
  readonly testCaseId: string;
  readonly at: Date;
  readonly action: 'flag' | 'quarantine' | 'mute';
  /** The status or the setting that was chosen; null: the choice was undone. */
  readonly value: string | null;
};

/** How often a test showed since an instant what its status says. */
export function countRepeats(history: TestCaseHistory, status: HealthStatus, since: number): number {
  if (status === 'flaky')
    return history.contradictions.filter(({ at, isExplained }) => at > since && !isExplained).length;
  if (status === 'broken')
    return history.onDefault.filter(({ at, outcome }) => at > since && outcome === 'failed').length;
  return 0;
}

export function tallyVerdicts(
  spans: readonly StatusSpan[],
  opinions: readonly Opinion[],
  now: Date,
): Record<Exclude<AccuracyKind, 'rerun'>, Tally> {
  const tallies = {
    flaky: emptyTally(),
    broken: emptyTally(),
    recovered: emptyTally(),
    people: emptyTally(),
  };
  const byTest = Map.groupBy(opinions, ({ testCaseId }) => testCaseId);
  for (const span of spans) {
    // What a person decided is no verdict of ours.
    if (span.trigger === 'person') continue;
    if (span.status === 'healthy') {
      tallies.recovered[resolveRecovery(span, now)]++;
      continue;
    }
    tallies[span.status][resolveVerdict(span)]++;
    const opinion = findOpinion(span, byTest.get(span.testCaseId) ?? []);
    if (opinion !== null) tallies.people[opinion]++;
  }
  return tallies;
}

export const emptyTally = (): Tally => ({ confirmed: 0, overturned: 0, open: 0 });

function resolveVerdict({ endTrigger, repeats }: StatusSpan): keyof Tally {
  if (repeats !== null && repeats > 0) return 'confirmed';
  const isLeft = endTrigger === 'upload' || endTrigger === 'time';
  return isLeft && repeats === 0 ? 'overturned' : 'open';
}

function resolveRecovery({ at, endedAt, endTrigger }: StatusSpan, now: Date): keyof Tally {
  const until = at.getTime() + recoveredDays * dayMs;
  if ((endedAt ?? now).getTime() >= until) return 'confirmed';
  return endTrigger === 'upload' || endTrigger === 'time' ? 'overturned' : 'open';
}

/** The first thing that a person did while the test had the status, if it says anything. */
function findOpinion(
  { at, endedAt, status }: StatusSpan,
  opinions: readonly Opinion[],
): 'confirmed' | 'overturned' | null {
  const during = opinions
    .filter((opinion) => opinion.at >= at && (endedAt === null || opinion.at <= endedAt))
    .toSorted((a, b) => a.at.getTime() - b.at.getTime());
  for (const { action, value } of during) {
    if (value === null) continue;
    if (action === 'mute') return 'overturned';
    if (action === 'flag') return value === status ? 'confirmed' : 'overturned';
    if (status === 'flaky' && value === 'ALWAYS_QUARANTINE') return 'confirmed';
    if (status === 'flaky' && value === 'NEVER_QUARANTINE') return 'overturned';
  }
  return null;
}

export function toAccuracy(tally: Tally): Accuracy {
  const decided = tally.confirmed + tally.overturned;
  if (decided < decidedMin) return { ...tally, share: null };
  return {
    ...tally,
    share: { value: tally.confirmed / decided, ...wilsonInterval(tally.confirmed, decided) },
  };
}
