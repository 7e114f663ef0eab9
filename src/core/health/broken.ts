// Broken is a test that fails on the default branch, and keeps failing. Runs are taken by source, in the order in which
// sources were first seen, so that a rerun belongs to its commit.
//
// Failures in an upload that is a mass failure do not count, until the test fails on the source before or after as well:
// then it is no outage, or one that lasts, and either way the branch is broken.

import { type Change, lastChange, type Place } from './changepoint.ts';
import type { History } from './history.ts';
import type { RecentRun } from './recent-run.ts';
import type { ChangepointSettings } from './settings.ts';

type SourcePlace = Place & {
  /** Empty: not kept. */
  readonly source: string;
  readonly at: number;
  readonly isSuspect: boolean;
};

/** The default branch, by source; what was before the ring begins is one place. */
function placesOf(history: History): readonly SourcePlace[] {
  const bySource = new Map<number, { -readonly [key in keyof SourcePlace]: SourcePlace[key] }>();
  let passed = 0;
  let failed = 0;
  for (const run of history.onDefault) {
    const { at, source, sourceHash } = run;
    const place = bySource.get(sourceHash) ?? { passed: 0, failed: 0, source: '', at, isSuspect: false };
    if (isUnexpected(run)) place.failed++;
    else place.passed++;
    if (!isUnexpected(run)) passed++;
    else if (!run.isSuspect) failed++;
    if (place.source === '') place.source = source;
    if (run.isSuspect) place.isSuspect = true;
    bySource.set(sourceHash, place);
  }
  const places = [...bySource.values()];
  const kept = places.filter(
    (place, at) => !place.isSuspect || hasFailed(places[at - 1]) || hasFailed(places[at + 1]),
  );
  const earlier = { passed: -passed, failed: -failed };
  for (const count of history.days)
    if (count.branchClass === 'default') {
      earlier.passed += count.runs - count.failed;
      earlier.failed += count.failed;
    }
  if (earlier.passed <= 0) return kept;
  // Days are forgotten in one go, and the ring may reach back further.
  const before = { passed: earlier.passed, failed: Math.max(0, earlier.failed) };
  return [{ ...before, source: '', at: 0, isSuspect: false }, ...kept];
}

const isUnexpected = ({ outcome }: RecentRun): boolean => outcome === 'failed';
const hasFailed = (place: Place | undefined): boolean =>
  place !== undefined && place.failed > 0 && place.passed === 0;

export type BrokenView = {
  readonly isBroken: boolean;
  /** Sources of the newest segment, and those that failed. */
  readonly failed: number;
  readonly sources: number;
  readonly culprit: { readonly after: string; readonly upTo: string } | null;
  /** Runs in a row, up to the newest, that failed. */
  readonly failingInARow: number;
};

const notBroken: BrokenView = { isBroken: false, failed: 0, sources: 0, culprit: null, failingInARow: 0 };

/** A source counts once, however often it was run: what is run again at once fails for the same reason. */
function verdictOf(place: SourcePlace): Place {
  if (place.at === 0) return place;
  return hasFailed(place) ? { passed: 0, failed: 1 } : { passed: 1, failed: 0 };
}

/** Two passes in a row end it, and for most tests nothing more is reckoned than this. */
const isPassing = ({ onDefault }: History): boolean => onDefault.slice(-2).every((run) => !isUnexpected(run));

export function viewDefaultBranch(history: History, settings: ChangepointSettings): BrokenView {
  if (isPassing(history)) return notBroken;
  const places = placesOf(history);
  const failingInARow = rowOf(history);
  const nothing = { ...notBroken, failingInARow };
  if (!hasFailed(places.at(-1)) && !hasFailed(places.at(-2))) return nothing;
  const change = lastChange(places.map(verdictOf), settings.prior);
  if (change === null) return nothing;
  const segment = places.slice(change.at);
  const failed = segment.filter(hasFailed).length;
  if (failed < settings.brokenRate * segment.length) return nothing;
  const culprit = culpritOf(places, change);
  return { isBroken: true, failed, sources: segment.length, culprit, failingInARow };
}

/** Names are kept around failures only: where one is missing, the nearest that is wider. */
function culpritOf(
  places: readonly SourcePlace[],
  change: Change,
): { readonly after: string; readonly upTo: string } {
  const after = places.slice(0, change.after + 1).findLast(({ source }) => source !== '');
  const upTo = places.slice(change.upTo).find(({ source }) => source !== '');
  return { after: after?.source ?? '', upTo: upTo?.source ?? '' };
}

function rowOf({ onDefault }: History): number {
  const lastPass = onDefault.findLastIndex((run) => !isUnexpected(run));
  return onDefault.slice(lastPass + 1).filter(({ isSuspect }) => !isSuspect).length;
}

/**
 * Does a flaky test fail more often in a row than its flakiness explains? With the rate at which it failed on the default
 * branch before, so many failures in a row come about less than once in 16 times. Never for the first failure.
 */
export function isRowUnlikely(history: History, row: number): boolean {
  if (row < 2) return false;
  let runs = -row;
  let failed = -row;
  for (const count of history.days)
    if (count.branchClass === 'default') {
      runs += count.runs;
      failed += count.failed;
    }
  const rate = Math.max(0, failed) / Math.max(1, runs);
  return rate ** row < 1 / 16;
}
