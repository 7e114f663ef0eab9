// Broken is a test that fails on the default branch, and keeps failing. Runs are taken by source, in the order in which
// sources were first seen, so that a rerun belongs to its commit.
//
// Failures in an upload that is a mass failure do not count, until the test fails on the source before or after as well:
// then it is no outage, or one that lasts, and either way the branch is broken.

import { type Change, lastChange, type Place } from './changepoint.ts';
import type { History } from './history.ts';
import type { RecentRun } from './recent-run.ts';
import type { ChangepointSettings } from './settings.ts';

export type SourcePlace = Place & {
  /** Empty: not kept. */
  readonly source: string;
  readonly at: number;
  readonly isSuspect: boolean;
};

/** The default branch, by source; what passed before the ring begins is one place. */
export function placesOf(history: History): readonly SourcePlace[] {
  const bySource = new Map<number, { -readonly [key in keyof SourcePlace]: SourcePlace[key] }>();
  let passes = 0;
  for (const run of history.onDefault) {
    const { at, source, sourceHash } = run;
    const place = bySource.get(sourceHash) ?? { passed: 0, failed: 0, source: '', at, isSuspect: false };
    if (isUnexpected(run)) place.failed++;
    else place.passed++;
    if (!isUnexpected(run)) passes++;
    if (place.source === '') place.source = source;
    if (run.isSuspect) place.isSuspect = true;
    bySource.set(sourceHash, place);
  }
  const places = [...bySource.values()];
  const kept = places.filter(
    (place, at) => !place.isSuspect || hasFailed(places[at - 1]) || hasFailed(places[at + 1]),
  );
  const earlier = history.days.reduce(
    (sum, { branchClass, runs, failed }) => (branchClass === 'default' ? sum + runs - failed : sum),
    -passes,
  );
  if (earlier <= 0) return kept;
  return [{ passed: earlier, failed: 0, source: '', at: 0, isSuspect: false }, ...kept];
}

const isUnexpected = ({ outcome }: RecentRun): boolean => outcome === 'failed';
const hasFailed = (place: Place | undefined): boolean =>
  place !== undefined && place.failed > 0 && place.passed === 0;

export type BrokenView = {
  readonly isBroken: boolean;
  /** Of the newest segment. */
  readonly failed: number;
  readonly sources: number;
  readonly culprit: { readonly after: string; readonly upTo: string } | null;
};

const notBroken: BrokenView = { isBroken: false, failed: 0, sources: 0, culprit: null };

export function viewChangepoint(places: readonly SourcePlace[], settings: ChangepointSettings): BrokenView {
  // Most tests pass: nothing is reckoned for those.
  if (!hasFailed(places.at(-1)) && !hasFailed(places.at(-2))) return notBroken;
  const change = lastChange(places, settings.prior);
  if (change === null) return notBroken;
  const segment = places.slice(change.at);
  const failed = segment.reduce((sum, place) => sum + place.failed, 0);
  const passed = segment.reduce((sum, place) => sum + place.passed, 0);
  if (failed < settings.brokenRate * (failed + passed)) return notBroken;
  return { isBroken: true, failed, sources: segment.length, culprit: culpritOf(places, change) };
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

/** How many sources in a row, up to the newest, failed without a pass. */
export function failingInARow(places: readonly Place[]): number {
  let row = 0;
  while (hasFailed(places[places.length - 1 - row])) row++;
  return row;
}
