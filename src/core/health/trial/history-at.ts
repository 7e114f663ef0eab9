// The history of a test as it was at an earlier instant, from the history that is stored now. Settings are tried with it:
// the monitors see what they would have seen then.
//
// Runs of the rings, contradictions and flakes have their instants, so what came later is left out. Counts are kept by day:
// whole days are exact. Of the day of the instant itself, later runs of the default branch are subtracted if the ring still
// holds them, and other runs count in proportion to the time. Passes in a row are counted by day in the same way.
//
// What a bounded history has dropped is missing: at high traffic the rings hold the runs of hours, and earlier instants
// have days and contradictions only.

import { dayMs } from '#base/duration.ts';
import { explainByDefault } from '../explained.ts';
import { type DayCount, dayNumber, type TestCaseHistory } from '../history.ts';
import type { RecentRun } from '../recent-run.ts';

/** `now`: the instant up to which the history was recorded. */
export function historyAt(history: TestCaseHistory, at: number, now: number): TestCaseHistory {
  if (at >= now) return history;
  const isBefore = (one: { readonly at: number }): boolean => one.at <= at;
  const onDefault = history.onDefault.filter(isBefore);
  const breakages = history.breakages
    .filter(({ from }) => from <= at)
    .map((breakage) => ({ ...breakage, to: Math.min(breakage.to, at) }));
  const known = history.contradictions.filter(isBefore);
  const lastFailureAt = findLastFailureAt(history, at);
  return {
    days: cutDays(history, at, now),
    contradictions: explainByDefault({ contradictions: known, onDefault, breakages }),
    onDefault,
    elsewhere: history.elsewhere.filter(isBefore),
    flakes: history.flakes.filter(({ firstAt }) => firstAt <= at),
    breakages,
    cleanPasses: countCleanPasses(history, lastFailureAt, at, now),
    lastFailureAt,
    suite: history.suite,
  };
}

/** Instants at which the classification of a test may have changed: its failures, and the end of each day. Ascending. */
export function listInstants(history: TestCaseHistory, from: number, now: number): readonly number[] {
  const failures = [...history.onDefault, ...history.elsewhere].filter(({ outcome }) => outcome !== 'passed');
  const instants = new Set<number>([now]);
  for (const { at } of [...history.contradictions, ...failures]) if (at >= from && at < now) instants.add(at);
  for (let day = dayNumber(from); day < dayNumber(now); day++) instants.add(endOfDay(day));
  return [...instants].toSorted((a, b) => a - b);
}

const endOfDay = (day: number): number => (day + 1) * dayMs - 1;

function cutDays(history: TestCaseHistory, at: number, now: number): readonly DayCount[] {
  const today = dayNumber(at);
  return history.days.flatMap((count) => {
    if (count.day !== today) return count.day < today ? [count] : [];
    return at === endOfDay(today) ? [count] : [cutDay(history, count, at, now)];
  });
}

function cutDay(history: TestCaseHistory, count: DayCount, at: number, now: number): DayCount {
  const { day, branchClass } = count;
  const isLater = (one: { readonly at: number }): boolean => one.at > at && dayNumber(one.at) === day;
  const later = history.contradictions.filter((one) => isLater(one) && one.branchClass === branchClass);
  const contradicted = Math.max(0, count.contradicted - later.length);
  const isKnown = branchClass === 'default' && (history.onDefault[0]?.at ?? Infinity) <= at;
  if (!isKnown) {
    const share = shareOfDay(day, { after: 0, upTo: at, now });
    const runs = Math.ceil(count.runs * share);
    const failed = Math.min(runs, Math.ceil(count.failed * share));
    return { day, branchClass, runs, failed, sources: Math.ceil(count.sources * share), contradicted };
  }
  const laterRuns = history.onDefault.filter((run) => isLater(run) && (isPass(run) || !run.isSuspect));
  const earlier = new Set(history.onDefault.filter((run) => run.at <= at).map((run) => run.sourceHash));
  const laterSources = new Set(history.onDefault.filter(isLater).map((run) => run.sourceHash));
  const newSources = [...laterSources].filter((source) => !earlier.has(source)).length;
  return {
    day,
    branchClass,
    runs: Math.max(0, count.runs - laterRuns.length),
    failed: Math.max(0, count.failed - laterRuns.filter(({ outcome }) => outcome === 'failed').length),
    sources: Math.max(0, count.sources - newSources),
    contradicted,
  };
}

const isPass = ({ outcome }: RecentRun): boolean => outcome === 'passed';

/** The last failure up to the instant; 0: none is known. Of a failure that only a day has counted, the end of that day. */
function findLastFailureAt(history: TestCaseHistory, at: number): number {
  if (history.lastFailureAt <= at) return history.lastFailureAt;
  let last = 0;
  for (const run of [...history.onDefault, ...history.elsewhere])
    if (!isPass(run) && run.at <= at) last = Math.max(last, run.at);
  for (const one of history.contradictions) if (one.at <= at) last = Math.max(last, one.at);
  for (const { day, failed, contradicted } of history.days)
    if (failed + contradicted > 0 && day > dayNumber(last) && endOfDay(day) <= at) last = endOfDay(day);
  return last;
}

function countCleanPasses(history: TestCaseHistory, lastFailureAt: number, at: number, now: number): number {
  if (lastFailureAt === history.lastFailureAt)
    return Math.max(0, history.cleanPasses - countPasses(history, { after: at, upTo: now, now }));
  return countPasses(history, { after: lastFailureAt, upTo: at, now });
}

type PassSpan = { readonly after: number; readonly upTo: number; readonly now: number };

/** Runs that passed in the span; of a day in proportion to the time. */
const countPasses = ({ days }: TestCaseHistory, span: PassSpan): number =>
  Math.round(days.reduce((sum, { day, runs, failed }) => sum + (runs - failed) * shareOfDay(day, span), 0));

/** The share of a day, as far as it has passed, that lies in the span. */
function shareOfDay(day: number, { after, upTo, now }: PassSpan): number {
  const begun = day * dayMs - 1;
  const ended = Math.min(endOfDay(day), now);
  const inside = Math.min(upTo, ended) - Math.max(after, begun);
  return ended <= begun ? 0 : Math.max(0, inside) / (ended - begun);
}
