// The history of one test, in bounded size: the input of the monitors, and one row of the database that every
// upload with the test rewrites.
//
//   days             runs, failures and sources by day and class of branch: rates of the last two weeks
//   contradictions   the newest sources on which the test passed and failed: what makes a test flaky
//   onDefault        a ring of runs on the default branch, in order: what makes a test broken, and since when
//   elsewhere        a ring of all other runs, where a later run of the same source finds its counterpart
//   flakes           fingerprints of failures that were contradicted: what a quarantine excuses
//   breakages        when the default branch was broken, longer than the ring reaches back: what is explained
//
// Runs are joined by their source, in whatever order they arrive. Example: on 1a2b3c4 a test fails, CI runs
// it again, and an hour later another upload of 1a2b3c4 reports that it passes. The second fact finds the
// first in the ring, and the source is a contradiction, at the time of the failure, with the failure's
// fingerprint. A third run there changes nothing. A fact that arrives twice counts once, as long as the ring
// still holds its run. Where the name of a source is not needed, only its hash is kept.
//
// A run that passed in an upload that is a mass failure counts like any other. A run that failed there is in
// the rings, marked as suspect, and in no rate.

import { dayMs } from '#base/duration.ts';
import { type BranchClass, branchClasses } from './branch.ts';
import { type BranchBreakage, rememberBreakages } from './breakage.ts';
import { explainByDefault } from './explained.ts';
import { hashText, isLater, type RecentRun, recentRun, type RunFact, sourceLengthMax } from './recent-run.ts';

/** Runs of one day and branch class. */
export type DayCount = {
  /** Days since 1970, UTC. */
  readonly day: number;
  readonly branchClass: BranchClass;
  /** Runs, and the runs among them in which every attempt failed. */
  readonly runs: number;
  readonly failed: number;
  /** Sources that were first seen on that day, and sources that were contradicted on it. */
  readonly sources: number;
  readonly contradicted: number;
};

/** A source on which the test passed and failed. */
export type Contradiction = {
  /** Time of the first failure there. */
  readonly at: number;
  readonly source: string;
  readonly branchClass: BranchClass;
  readonly prNumber: number | null;
  readonly isSuspect: boolean;
  /** How many tests of how many failed in that upload. */
  readonly failing: number;
  readonly tests: number;
  /** Some of them failed with the same fingerprint, or unusually many failed. */
  readonly isShared: boolean;
  /** The failure came after many passes in a row, so it is no part of the incident before. */
  readonly isSeparate: boolean;
  /** A hash of the job's name; 0: unknown. */
  readonly job: number;
  /** A hash of the failure's fingerprint. Null: one run has both outcomes, so nothing but the test can explain it. */
  readonly cause: number | null;
  /** The default branch failed in the same way at that time (explained.ts): it says nothing about the test. */
  readonly isExplained: boolean;
};

export type KnownFlake = {
  /** Empty: a failure that gives no reason. */
  readonly fingerprint: string;
  readonly firstAt: number;
  readonly lastAt: number;
};

export type TestCaseHistory = {
  /** Ascending by day, then class. */
  readonly days: readonly DayCount[];
  /** Ascending by instant. */
  readonly contradictions: readonly Contradiction[];
  readonly onDefault: readonly RecentRun[];
  readonly elsewhere: readonly RecentRun[];
  /** The oldest first. */
  readonly flakes: readonly KnownFlake[];
  /** The newest last. */
  readonly breakages: readonly BranchBreakage[];
  /** Runs that passed since the last one that failed or was flaky. */
  readonly cleanPasses: number;
  /** Time of the last run that failed or was flaky; 0: none. */
  readonly lastFailureAt: number;
  /** Tests of the repository, or at least of the largest upload. */
  readonly suite: number;
};

export const emptyHistory: TestCaseHistory = {
  days: [],
  contradictions: [],
  onDefault: [],
  elsewhere: [],
  flakes: [],
  breakages: [],
  cleanPasses: 0,
  lastFailureAt: 0,
  suite: 0,
};

/** A window of 14 days touches 15, and the clocks of two uploads may disagree by one. */
export const daysMax = 16;
const contradictionsMax = 24;
export const onDefaultMax = 64;
const elsewhereMax = 48;
export const flakesMax = 16;

export const dayNumber = (at: number): number => Math.floor(at / dayMs);

/** After so many passes a failure is separate from the one before: during an outage few runs pass. */
const separatePasses = 20;

export function record(before: TestCaseHistory, fact: RunFact): TestCaseHistory {
  const reported = recentRun(fact);
  const isSeparate = reported.outcome !== 'passed' && isSeparateFailure(before, reported);
  const run = isSeparate ? { ...reported, isSeparate } : reported;
  const onDefault = fact.branchClass === 'default';
  const isSameRun = (other: RecentRun): boolean =>
    other.sourceHash === run.sourceHash &&
    other.at === run.at &&
    other.outcome === run.outcome &&
    other.job === run.job;
  if ((onDefault ? before.onDefault : before.elsewhere).some(isSameRun)) return before;
  const isLate = run.outcome !== 'passed' && run.at <= before.lastFailureAt;
  const history = isLate ? joinIncident(before, run.at) : before;
  const ring = onDefault ? history.onDefault : history.elsewhere;
  const isSeen = (other: RecentRun): boolean => other.sourceHash === run.sourceHash;
  const isNew = !history.onDefault.some(isSeen) && !history.elsewhere.some(isSeen);
  const counts = run.outcome === 'passed' || !run.isSuspect;
  const counted: TestCaseHistory = {
    ...history,
    days: addToDay(history.days, dayNumber(run.at), run.branchClass, {
      runs: counts ? 1 : 0,
      failed: counts && run.outcome === 'failed' ? 1 : 0,
      sources: isNew ? 1 : 0,
      contradicted: 0,
    }),
    onDefault: onDefault ? keepNewest(insertRun(ring, run), onDefaultMax) : history.onDefault,
    elsewhere: onDefault ? history.elsewhere : dropLeastUseful(insertRun(ring, run)),
    ...countCleanPasses(history, run),
    suite: Math.max(history.suite, fact.suite ?? fact.tests),
  };
  const joined = isNew && run.outcome !== 'flaky' ? counted : joinSource(counted, run, fact.source);
  return onDefault ? explain(remember(joined, run)) : joined;
}

/** While the ring has lost nothing, a pass that arrives late counts too. */
function remember(history: TestCaseHistory, run: RecentRun): TestCaseHistory {
  const isWhole = history.onDefault.length < onDefaultMax;
  if (run.outcome !== 'failed' && !isWhole) return history;
  const breakages = rememberBreakages(history.breakages, history.onDefault, isWhole);
  return breakages.length === 0 && history.breakages.length === 0 ? history : { ...history, breakages };
}

/** No failure of the last two hours, or many passes since then: this one is no part of the same incident. */
function isSeparateFailure(history: TestCaseHistory, { at }: RecentRun): boolean {
  const { lastFailureAt, cleanPasses, onDefault, elsewhere } = history;
  if (at > lastFailureAt) return cleanPasses >= separatePasses || at - lastFailureAt >= incidentMs;
  const isBefore = (run: RecentRun): boolean =>
    run.outcome !== 'passed' && run.at <= at && at - run.at < incidentMs;
  return !onDefault.some(isBefore) && !elsewhere.some(isBefore);
}

/** After a failure that arrives late those that follow it are no longer separate. */
function joinIncident(history: TestCaseHistory, at: number): TestCaseHistory {
  const join = <One extends { readonly at: number; readonly isSeparate: boolean }>(one: One): One =>
    one.isSeparate && one.at > at && one.at - at < incidentMs ? { ...one, isSeparate: false } : one;
  return {
    ...history,
    contradictions: history.contradictions.map(join),
    onDefault: history.onDefault.map(join),
    elsewhere: history.elsewhere.map(join),
  };
}

export function addToDay(
  days: readonly DayCount[],
  day: number,
  branchClass: BranchClass,
  more: Pick<DayCount, 'runs' | 'failed' | 'sources' | 'contradicted'>,
): readonly DayCount[] {
  const newest = Math.max(day, days.at(-1)?.day ?? day);
  if (day <= newest - daysMax) return days;
  const kept = days[0] !== undefined && days[0].day <= newest - daysMax;
  const next = kept ? days.filter((count) => count.day > newest - daysMax) : days.slice();
  const rank = branchClasses.indexOf(branchClass);
  let at = next.length;
  while (at > 0 && isAfter(next[at - 1]!, day, rank)) at--;
  const found = next[at - 1];
  if (found !== undefined && found.day === day && found.branchClass === branchClass)
    next[at - 1] = {
      day,
      branchClass,
      runs: found.runs + more.runs,
      failed: found.failed + more.failed,
      sources: found.sources + more.sources,
      contradicted: Math.max(0, found.contradicted + more.contradicted),
    };
  else next.splice(at, 0, { day, branchClass, ...more });
  return next;
}

const isAfter = (count: DayCount, day: number, rank: number): boolean =>
  count.day > day || (count.day === day && branchClasses.indexOf(count.branchClass) > rank);

/** Inserts the run in order of time. */
function insertRun(ring: readonly RecentRun[], run: RecentRun): RecentRun[] {
  const next = ring.slice();
  let at = next.length;
  while (at > 0 && isLater(next[at - 1]!, run)) at--;
  next.splice(at, 0, run);
  forgetName(next, at);
  return next;
}

/** A culprit range begins with one of the last passes before a failure: earlier names are not needed. */
const namedPasses = 6;

function forgetName(ring: RecentRun[], newest: number): void {
  const at = newest - namedPasses;
  const run = ring[at];
  if (run === undefined || run.source === '') return;
  for (let next = at; next <= newest; next++) if (ring[next]!.outcome !== 'passed') return;
  ring[at] = { ...run, source: '' };
}

export const keepNewest = <T>(ring: T[], max: number): readonly T[] =>
  ring.length > max ? ring.slice(ring.length - max) : ring;

/** A failure waits longer for its counterpart than a pass: neither may take more than half of the ring. */
export function dropLeastUseful(ring: RecentRun[]): readonly RecentRun[] {
  if (ring.length <= elsewhereMax) return ring;
  const passes = ring.reduce((sum, { outcome }) => sum + (outcome === 'passed' ? 1 : 0), 0);
  const drops = passes > elsewhereMax / 2;
  ring.splice(
    ring.findIndex(({ outcome }) => (outcome === 'passed') === drops),
    1,
  );
  return ring;
}

function countCleanPasses(
  history: TestCaseHistory,
  run: RecentRun,
): Pick<TestCaseHistory, 'cleanPasses' | 'lastFailureAt'> {
  const { cleanPasses, lastFailureAt } = history;
  if (run.outcome === 'passed')
    return { cleanPasses: cleanPasses + (run.at > lastFailureAt ? 1 : 0), lastFailureAt };
  if (run.at <= lastFailureAt) return { cleanPasses, lastFailureAt };
  const later = [history.onDefault, history.elsewhere]
    .map((ring) => ring.filter(({ at, outcome }) => outcome === 'passed' && at > run.at).length)
    .reduce((sum, count) => sum + count, 0);
  return { cleanPasses: later, lastFailureAt: run.at };
}

/**
 * Combines all known runs of one source. It takes both outcomes in one job: a test that fails in one job and passes in
 * another depends on their platforms.
 */
function joinSource(history: TestCaseHistory, { sourceHash }: RecentRun, source: string): TestCaseHistory {
  const runs = [...history.onDefault, ...history.elsewhere].filter((run) => run.sourceHash === sourceHash);
  const passedIn = new Set(runs.filter(({ outcome }) => outcome !== 'failed').map(({ job }) => job));
  const failures = runs.filter(({ outcome, job }) => outcome !== 'passed' && passedIn.has(job));
  if (failures.length === 0) return history;
  const first = failures.reduce((a, b) => (isLater(a, b) ? b : a));
  const { at, branchClass, prNumber, isSuspect, failing, tests, isShared, isSeparate, job } = first;
  const name = source.slice(0, sourceLengthMax);
  const cause = first.outcome === 'flaky' ? null : hashText(first.fingerprint ?? '');
  const now: Contradiction = {
    at,
    source: name,
    branchClass,
    prNumber,
    isSuspect,
    failing,
    tests,
    isShared,
    isSeparate,
    job,
    cause,
    isExplained: false,
  };
  const flakes = failures.reduce(learnFlake, history.flakes);
  const known = history.contradictions.find((other) => other.source === name);
  if (known !== undefined && known.at <= at) return explain({ ...history, flakes });
  const one = { runs: 0, failed: 0, sources: 0, contradicted: 1 };
  const days =
    known === undefined
      ? history.days
      : addToDay(history.days, dayNumber(known.at), known.branchClass, { ...one, contradicted: -1 });
  const oldest = (history.contradictions.at(-1)?.at ?? at) - daysMax * dayMs;
  const contradictions = [...history.contradictions.filter((other) => other !== known), now]
    .filter((other) => other.at > oldest)
    .sort((a, b) => a.at - b.at || (a.source < b.source ? -1 : 1));
  return explain({
    ...history,
    days: addToDay(days, dayNumber(at), branchClass, one),
    contradictions: dropLeastUsefulContradiction(contradictions),
    flakes,
  });
}

export function explain(history: TestCaseHistory): TestCaseHistory {
  const contradictions = explainByDefault(history);
  return contradictions === history.contradictions ? history : { ...history, contradictions };
}

/** Contradictions that are closer than this belong to one incident. */
export const incidentMs = 2 * 60 * 60 * 1_000;

/** Of an incident its first and its newest contradiction say all: those between them are dropped first. */
export function dropLeastUsefulContradiction(contradictions: Contradiction[]): readonly Contradiction[] {
  if (contradictions.length <= contradictionsMax) return contradictions;
  const between = contradictions.findIndex(
    ({ at, isSeparate }, index) =>
      index > 0 &&
      !isSeparate &&
      at - contradictions[index - 1]!.at < incidentMs &&
      (contradictions[index + 1]?.at ?? Infinity) - contradictions[index - 1]!.at < incidentMs,
  );
  return contradictions.toSpliced(Math.max(between, 0), 1);
}

/** A failure during an outage does not show how the test flakes. */
function learnFlake(flakes: readonly KnownFlake[], run: RecentRun): readonly KnownFlake[] {
  if (run.isSuspect) return flakes;
  const fingerprint = run.fingerprint ?? '';
  const known = flakes.find((flake) => flake.fingerprint === fingerprint);
  if (known !== undefined && known.firstAt <= run.at && known.lastAt >= run.at) return flakes;
  const next = flakes.filter((flake) => flake !== known);
  next.push({
    fingerprint,
    firstAt: Math.min(known?.firstAt ?? run.at, run.at),
    lastAt: Math.max(known?.lastAt ?? run.at, run.at),
  });
  next.sort((a, b) => a.lastAt - b.lastAt || (a.fingerprint < b.fingerprint ? -1 : 1));
  return keepNewest(next, flakesMax);
}

/** The runs of a test before its history was first recorded: all of them passed. */
export type EarlierPasses = {
  /** Milliseconds, any time of the day in question. */
  readonly at: number;
  readonly branchClass: BranchClass;
  readonly runs: number;
  readonly sources: number;
};

export function addPasses(
  history: TestCaseHistory,
  { at, branchClass, runs, sources }: EarlierPasses,
): TestCaseHistory {
  const days = addToDay(history.days, dayNumber(at), branchClass, {
    runs,
    failed: 0,
    sources,
    contradicted: 0,
  });
  const isLate = at > history.lastFailureAt;
  return { ...history, days, cleanPasses: history.cleanPasses + (isLate ? runs : 0) };
}

/** A run that passed repeated the test so many more times: clean runs, and no further runs in any rate. */
export const addRepeats = (history: TestCaseHistory, at: number, repeats: number): TestCaseHistory =>
  at > history.lastFailureAt ? { ...history, cleanPasses: history.cleanPasses + repeats } : history;

/** The known flakes that have new evidence. */
export function findNewFlakes(before: TestCaseHistory, after: TestCaseHistory): readonly KnownFlake[] {
  if (after.flakes === before.flakes) return [];
  const knownAt = new Map(before.flakes.map(({ fingerprint, lastAt }) => [fingerprint, lastAt]));
  return after.flakes.filter(({ fingerprint, lastAt }) => lastAt > (knownAt.get(fingerprint) ?? -1));
}

/** The fingerprints of failures that were contradicted; '' for a failure that gives no reason. */
export const flakeFingerprints = (history: TestCaseHistory): readonly string[] =>
  history.flakes.map(({ fingerprint }) => fingerprint);
