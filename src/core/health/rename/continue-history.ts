// The history of a renamed test: what is known of its former name, continued by its own. Both stay as they are stored, and are
// combined when they are read, so that undoing a rename leaves nothing behind.

import { dayMs } from '#base/duration.ts';
import { breakagesMax } from '../breakage.ts';
import {
  addToDay,
  daysMax,
  dropLeastUseful,
  dropLeastUsefulContradiction,
  explain,
  flakesMax,
  keepNewest,
  type KnownFlake,
  onDefaultMax,
  type TestCaseHistory,
} from '../history.ts';
import { isLater, type RecentRun } from '../recent-run.ts';

export function continueHistory(former: TestCaseHistory, own: TestCaseHistory): TestCaseHistory {
  const days = [...former.days, ...own.days]
    .toSorted((a, b) => a.day - b.day)
    .reduce<TestCaseHistory['days']>(
      (all, { day, branchClass, ...counts }) => addToDay(all, day, branchClass, counts),
      [],
    );
  return explain({
    days,
    contradictions: joinContradictions(former, own),
    onDefault: keepNewest(joinRuns(former.onDefault, own.onDefault), onDefaultMax),
    elsewhere: joinElsewhere(former, own),
    flakes: joinFlakes(former.flakes, own.flakes),
    breakages: keepNewest(
      [...former.breakages, ...own.breakages].toSorted((a, b) => a.to - b.to),
      breakagesMax,
    ),
    ...continueCleanPasses(former, own),
    suite: Math.max(former.suite, own.suite),
  });
}

/** In order of time. */
const joinRuns = (a: readonly RecentRun[], b: readonly RecentRun[]): RecentRun[] =>
  [...a, ...b].toSorted((one, other) => (isLater(one, other) ? 1 : isLater(other, one) ? -1 : 0));

function joinElsewhere(former: TestCaseHistory, own: TestCaseHistory): readonly RecentRun[] {
  const ring: RecentRun[] = [];
  for (const run of joinRuns(former.elsewhere, own.elsewhere)) {
    ring.push(run);
    dropLeastUseful(ring);
  }
  return ring;
}

function joinContradictions(
  former: TestCaseHistory,
  own: TestCaseHistory,
): TestCaseHistory['contradictions'] {
  const all = [...former.contradictions, ...own.contradictions].toSorted(
    (a, b) => a.at - b.at || (a.source < b.source ? -1 : 1),
  );
  const oldest = (all.at(-1)?.at ?? 0) - daysMax * dayMs;
  let kept: TestCaseHistory['contradictions'] = [];
  for (const one of all) if (one.at > oldest) kept = dropLeastUsefulContradiction([...kept, one]);
  return kept;
}

function joinFlakes(former: readonly KnownFlake[], own: readonly KnownFlake[]): readonly KnownFlake[] {
  const joined = new Map<string, KnownFlake>();
  for (const flake of [...former, ...own]) {
    const known = joined.get(flake.fingerprint);
    joined.set(flake.fingerprint, {
      fingerprint: flake.fingerprint,
      firstAt: Math.min(known?.firstAt ?? flake.firstAt, flake.firstAt),
      lastAt: Math.max(known?.lastAt ?? flake.lastAt, flake.lastAt),
    });
  }
  const inOrder = [...joined.values()].toSorted(
    (a, b) => a.lastAt - b.lastAt || (a.fingerprint < b.fingerprint ? -1 : 1),
  );
  return keepNewest(inOrder, flakesMax);
}

function continueCleanPasses(
  former: TestCaseHistory,
  own: TestCaseHistory,
): Pick<TestCaseHistory, 'cleanPasses' | 'lastFailureAt'> {
  const isOwnLater = own.lastFailureAt >= former.lastFailureAt;
  const [last, other] = isOwnLater ? [own, former] : [former, own];
  const { lastFailureAt } = last;
  const passes = [...other.onDefault, ...other.elsewhere].filter(({ outcome }) => outcome === 'passed');
  const later = passes.filter(({ at }) => at > lastFailureAt).length;
  // All passes under the new name are counted, also those that its rings have dropped. Few of them are earlier.
  const isNeverFailed = !isOwnLater && other.lastFailureAt === 0;
  const counted = isNeverFailed ? Math.max(later, other.cleanPasses - (passes.length - later)) : later;
  return { cleanPasses: last.cleanPasses + counted, lastFailureAt };
}
