// A test is broken if it fails on the default branch and keeps failing. Each job is looked at alone: a test that fails
// in one and passes in another is broken in that one. Runs are grouped by source, in the order in which sources were
// first seen, so that a rerun belongs to its commit.
//
// A branch with few runs needs many failures for a changepoint. A test is also broken if it fails on so many commits in a
// row that the rate of its earlier runs does not explain it: after 8 passes on three, after 4 passes on four, after one
// on seven.
//
// Failures in an upload that is a mass failure do not count, unless the test also fails on the source before
// or after: then it is no outage, or one that lasts, and either way the branch is broken.

import { dayMs } from '#base/duration.ts';
import { countText } from '#base/number-text.ts';
import { fraction, type SettingValues } from '../../setting.ts';
import { isRowUnexplained } from '../breakage.ts';
import { listCurrentJobs } from '../default-job.ts';
import type { TestCaseHistory } from '../history.ts';
import type { RecentRun } from '../recent-run.ts';
import { type Change, lastChange, type SourceCounts } from './changepoint.ts';
import { isOn, monitor } from './monitor-type.ts';
import { shortSource } from './monitor-text.ts';

const settingTable = {
  isOn: isOn(true),
  prior: fraction({
    min: 1e-9,
    max: 0.1,
    initial: 1e-4,
    label: 'Prior probability of a change',
    description: 'Prior probability that the behaviour of the test changes at a given run.',
  }),
  brokenRate: fraction({
    min: 0.1,
    max: 1,
    initial: 0.6,
    label: 'Failure rate that counts as broken',
    description:
      'The test counts as broken if its failure rate since the last change is at least this, 0 to 1.',
  }),
};

export const changepoint = monitor({
  says: 'broken',
  title: 'Failing since a commit',
  heading: 'Broken: since a change',
  intro: 'Finds the run since which a test fails more often than before.',
  settings: settingTable,
  classify: (history, settings) => {
    const view = viewDefaultBranch(history, settings);
    if (view === null) return null;
    const { culprit, edge } = view;
    return { evidence: describeChange(view), isCertain: true, culprit, edge };
  },
  describe: (history) => {
    const failingInARow = countFailuresInRow(history);
    if (history.onDefault.length === 0) return 'No run on the default branch yet.';
    return failingInARow === 0
      ? 'Passed in the latest run on the default branch.'
      : `Failed in the latest ${countText(failingInARow, 'run')} on the default branch.`;
  },
});

function describeChange({ failed, sources, edge }: BrokenView): string {
  const since = edge.upTo === '' ? '' : ` since ${shortSource(edge.upTo)}`;
  const before = edge.after === '' ? '' : `, and passed up to ${shortSource(edge.after)}`;
  return `fails on the default branch${since} (on ${failed} of ${countText(sources, 'commit')})${before}`;
}

type SourcePlace = SourceCounts & {
  /** Empty: not kept. */
  readonly source: string;
  readonly at: number;
  readonly isSuspect: boolean;
  /** The fingerprints of its failures; null: one that gives no reason. */
  readonly causes: readonly (string | null)[];
};

/**
 * The runs of one of so many jobs on the default branch, by source; everything before the ring begins is one place. How
 * those runs were divided among the jobs is not known: each gets its share.
 */
function groupRunsBySource(
  history: TestCaseHistory,
  runs: readonly RecentRun[],
  jobs: number,
): readonly SourcePlace[] {
  const bySource = new Map<number, { -readonly [key in keyof SourcePlace]: SourcePlace[key] }>();
  for (const run of runs) {
    const { at, source, sourceHash } = run;
    const place = bySource.get(sourceHash) ?? { ...emptyPlace, at };
    if (run.outcome !== 'passed') place.causes = [...place.causes, run.fingerprint];
    if (isUnexpected(run)) place.failed++;
    else place.passed++;
    if (place.source === '') place.source = source;
    if (run.isSuspect) place.isSuspect = true;
    bySource.set(sourceHash, place);
  }
  const places = [...bySource.values()];
  const kept = places.filter(
    (place, at) => !place.isSuspect || hasFailed(places[at - 1]) || hasFailed(places[at + 1]),
  );
  const earlier = countBeforeRing(history);
  if (earlier.passed <= 0) return kept;
  const before = { passed: Math.ceil(earlier.passed / jobs), failed: Math.floor(earlier.failed / jobs) };
  return [{ ...emptyPlace, ...before }, ...kept];
}

const emptyPlace: SourcePlace = { passed: 0, failed: 0, source: '', at: 0, isSuspect: false, causes: [] };

/** Runs of the default branch of the last days that the ring no longer holds. */
function countBeforeRing({ onDefault, days }: TestCaseHistory): SourceCounts {
  let passed = 0;
  let failed = 0;
  for (const { branchClass, ...count } of days)
    if (branchClass === 'default') {
      passed += count.runs - count.failed;
      failed += count.failed;
    }
  for (const run of onDefault)
    if (!isUnexpected(run)) passed--;
    else if (!run.isSuspect) failed--;
  // Old days are dropped all at once, and the ring may reach back further.
  return { passed, failed: Math.max(0, failed) };
}

const isUnexpected = ({ outcome }: RecentRun): boolean => outcome === 'failed';
const hasFailed = (place: SourceCounts | undefined): boolean =>
  place !== undefined && place.failed > 0 && place.passed === 0;

type BrokenView = {
  /** Sources of the newest segment, and those that failed. */
  readonly failed: number;
  readonly sources: number;
  readonly culprit: { readonly after: string; readonly upTo: string };
  readonly edge: { readonly after: string; readonly upTo: string };
};

/** A source counts once, however often it was run: an immediate rerun fails for the same reason. */
function countSourceOnce(place: SourcePlace): SourceCounts {
  if (place.at === 0) return place;
  return hasFailed(place) ? { passed: 0, failed: 1 } : { passed: 1, failed: 0 };
}

/** Two passes in a row end it: most tests need no further computation. */
const isPassing = (runs: readonly RecentRun[]): boolean => runs.slice(-2).every((run) => !isUnexpected(run));

/** Null: the test is not broken in any job. */
function viewDefaultBranch(
  history: TestCaseHistory,
  settings: SettingValues<typeof settingTable>,
): BrokenView | null {
  const jobs = listCurrentJobs(history.onDefault);
  for (const runs of jobs) {
    const view = viewJob(history, runs, jobs.length, settings);
    if (view !== null) return view;
  }
  return null;
}

function viewJob(
  history: TestCaseHistory,
  runs: readonly RecentRun[],
  jobs: number,
  settings: SettingValues<typeof settingTable>,
): BrokenView | null {
  if (isPassing(runs)) return null;
  const places = groupRunsBySource(history, runs, jobs);
  if (!hasFailed(places.at(-1)) && !hasFailed(places.at(-2))) return null;
  const change = lastChange(places.map(countSourceOnce), settings.prior);
  const segment = change === null ? [] : places.slice(change.at);
  const failed = segment.filter(hasFailed).length;
  if (change !== null && failed >= settings.brokenRate * segment.length)
    return { failed, sources: segment.length, ...locate(places, change) };
  const row = countUnlikelyRow(history, places);
  if (row === 0) return null;
  const at = places.length - row;
  return { failed: row, sources: row, ...locate(places, { at, after: at - 1, upTo: at }) };
}

const contradictedMs = 14 * dayMs;

/**
 * The commits up to the newest on which a test failed, if the highest rate that its earlier runs allow (one failure more
 * than was seen, contradictions included) does not explain so many; else 0.
 */
function countUnlikelyRow({ contradictions }: TestCaseHistory, places: readonly SourcePlace[]): number {
  const lastPass = places.findLastIndex((place) => !hasFailed(place));
  const row = places.length - 1 - lastPass;
  if (row === 0) return 0;
  const begunAt = places[lastPass + 1]!.at;
  let passed = 0;
  let failed = contradictions.filter(
    ({ at, isExplained }) => !isExplained && at < begunAt && at > begunAt - contradictedMs,
  ).length;
  for (const counts of places.slice(0, lastPass + 1).map(countSourceOnce)) {
    passed += counts.passed;
    failed += counts.failed;
  }
  return isRowUnexplained(row, { passed, failed }) ? row : 0;
}

/**
 * The change lies in its range with 99 %, which allows for passes of a broken test. Where every place of the range before the
 * change passed, and every one since then failed, it lies between the last pass and the first failure. A flaky test may fail
 * before the change too: then it is found by the way in which the test fails since then, and never failed before.
 */
function locate(places: readonly SourcePlace[], change: Change): Pick<BrokenView, 'culprit' | 'edge'> {
  const culprit = locateCulprit(places, change);
  const { at, after } = change;
  const isSharp =
    !places.slice(after + 1, at).some(({ failed }) => failed > 0) && places.slice(at).every(hasFailed);
  const first = isSharp ? at : findNewCause(places);
  if (first === null) return { culprit, edge: culprit };
  return { culprit, edge: locateCulprit(places, { at: first, after: first - 1, upTo: first }) };
}

/** The first of the places up to the newest that all failed, in one way in which none failed before; null: there is none. */
function findNewCause(places: readonly SourcePlace[]): number | null {
  const cause = places.at(-1)?.causes.at(-1) ?? null;
  const first = places.findLastIndex((place) => !hasFailed(place)) + 1;
  const isOnly = places.slice(first).every(({ causes }) => causes.every((other) => other === cause));
  const isNew = !places.slice(0, first).some(({ causes }) => causes.includes(cause));
  return cause !== null && first > 0 && first < places.length && isOnly && isNew ? first : null;
}

/** Names are kept around failures only: if one is missing, the range extends to the nearest name outside. */
function locateCulprit(
  places: readonly SourcePlace[],
  change: Change,
): { readonly after: string; readonly upTo: string } {
  const after = places.slice(0, change.after + 1).findLast(({ source }) => source !== '');
  const upTo = places.slice(change.upTo).find(({ source }) => source !== '');
  return { after: after?.source ?? '', upTo: upTo?.source ?? '' };
}

/** Consecutive runs of one job on the default branch, up to the newest, that failed: the most of any job. */
const countFailuresInRow = ({ onDefault }: TestCaseHistory): number =>
  Math.max(
    0,
    ...listCurrentJobs(onDefault).map((runs) => {
      const lastPass = runs.findLastIndex((run) => !isUnexpected(run));
      return runs.slice(lastPass + 1).filter(({ isSuspect }) => !isSuspect).length;
    }),
  );

/**
 * Does a flaky test fail more often in a row than its flakiness explains? At the rate at which it failed on
 * the default branch before, so many failures in a row occur less than once in 16 days. Never for the first
 * failure.
 */
export function isRowUnlikely(history: TestCaseHistory): boolean {
  const row = countFailuresInRow(history);
  if (row < 2) return false;
  let runs = -row;
  let failed = -row;
  let days = 0;
  for (const count of history.days)
    if (count.branchClass === 'default') {
      runs += count.runs;
      failed += count.failed;
      days++;
    }
  const rate = Math.max(0, failed) / Math.max(1, runs);
  return rate ** row * Math.max(1, runs / Math.max(1, days)) < 1 / 16;
}
