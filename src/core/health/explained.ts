// Which contradictions does the default branch explain? A pull request is tested together with the default branch as it
// is at that time, and its source is its own head. While the default branch is broken its tests fail, and once it is
// repaired they pass on the same head: the test passed and failed where nothing seems to have changed, and is sound.
//
// So a failure of a pull request says nothing about the test if, within a day, the run of the default branch before or
// after it failed in the same way, in the same job, and never passed on that commit; or if two commits of the default
// branch in a row failed so in the week before, on which the pull request may still be based. A test that flakes in a
// share p of its runs loses some 2 p of its contradictions by this, until it has come back on the default branch. A failure of a new kind counts only after the default
// branch was tested again: it may be broken since its last run.
//
// A breakage explains what failed in the same way meanwhile also when the ring no longer holds it (breakage.ts).
//
// Example. Main breaks at 10:00 and is repaired at 12:00. A pull request fails at 11:00 and passes, run again, at 13:00.
// The run of main at 10:30 failed with the same fingerprint: explained.

import { dayMs, hourMs } from '#base/duration.ts';
import type { BranchClass } from './branch.ts';
import { type BranchBreakage, isLasting, isOftenBroken, lastingMs } from './breakage.ts';
import { listCurrentJobs } from './default-job.ts';
import { hashText, type RecentRun } from './recent-run.ts';

const nearMs = dayMs;
const staleMs = 7 * dayMs;

type Explainable = {
  readonly at: number;
  readonly branchClass: BranchClass;
  readonly job: number;
  /** A hash of the failure's fingerprint; null: nothing but the test can explain it. */
  readonly cause: number | null;
  readonly isExplained: boolean;
};

type Explaining<One> = {
  readonly contradictions: readonly One[];
  readonly onDefault: readonly RecentRun[];
  readonly breakages: readonly BranchBreakage[];
};

/** Marks what the default branch explains, as far back as its runs and breakages are known. The same list if nothing changed. */
export function explainByDefault<One extends Explainable>({
  contradictions,
  onDefault,
  breakages,
}: Explaining<One>): readonly One[] {
  const from = onDefault[0]?.at ?? Infinity;
  let isChanged = false;
  const next = contradictions.map((one) => {
    if (one.branchClass === 'other' || one.cause === null) return one;
    const { cause } = one;
    const known = breakages.filter(({ job, cause: other }) => job === one.job && other === cause);
    const isRemembered = !isOftenBroken(known) && known.some((breakage) => isDuring(one, breakage));
    const lasts = isLasting(known);
    if (one.at < from && !isRemembered && !lasts) return one;
    const own = onDefault.filter(({ job }) => job === one.job);
    const isOwn = lasts || comesBack(own, cause);
    const isExplained =
      isRemembered ||
      (!isOwn && (isBroken(own, one, cause) || isFromDefault(own, one, cause, contradictions)));
    if (isExplained === one.isExplained) return one;
    isChanged = true;
    return { ...one, isExplained };
  });
  return isChanged ? next : contradictions;
}

/** From so many times on a failure that comes back may be the test's own. */
const stretchesMin = 3;

/** Pull requests may show a breakage this much earlier and later than the default branch. */
const aroundMs = 2 * hourMs;

const isDuring = ({ at }: Explainable, { from, to }: BranchBreakage): boolean =>
  at >= from - aroundMs && at <= to + aroundMs;

/**
 * A breakage begins, fails nearly always, and is repaired. A failure that came back on the default branch three times or
 * more, and passed more often than not in between, or for more than two days, is the test's own.
 */
function comesBack(own: readonly RecentRun[], cause: number): boolean {
  const isAlike = (run: RecentRun) => failedWith(run, cause);
  const first = own.findIndex(isAlike);
  if (first === -1) return false;
  const span = own.slice(first, own.findLastIndex(isAlike) + 1);
  const failed = span.filter(isAlike).length;
  const stretches = span.filter((run, index) => isAlike(run) && (index === 0 || !isAlike(span[index - 1]!)));
  const lastedMs = span.at(-1)!.at - span[0]!.at;
  return stretches.length >= stretchesMin && (failed < span.length / 2 || lastedMs > lastingMs);
}

/** A branch that fails on so many commits in a row is broken, even if one more of them passed once. */
const brokenRow = 3;

/** Is it in or next to a row of commits of the default branch that failed in the same way and never passed? */
function isBroken(own: readonly RecentRun[], { at }: Explainable, cause: number): boolean {
  let row = new Set<number>();
  for (const run of own) {
    if (run.at > at + nearMs) break;
    const isAlike = isUncontradicted(own, run) && failedWith(run, cause);
    if (isAlike) row.add(run.sourceHash);
    else if (!own.some((other) => other.sourceHash === run.sourceHash && other.outcome === 'failed'))
      row = new Set();
    if (row.size >= brokenRow && at - run.at <= nearMs) return true;
  }
  return false;
}

function isFromDefault(
  own: readonly RecentRun[],
  { at, branchClass }: Explainable,
  cause: number,
  contradictions: readonly Explainable[],
): boolean {
  if (branchClass !== 'pull_request') return false;
  const last = own.at(-1);
  if (last !== undefined && last.at < at && at - last.at <= staleMs) {
    const isOlder = contradictions.some((one) => one.cause === cause && one.at <= last.at);
    if (!isOlder) return true;
  }
  const isAlike = (run: RecentRun | undefined): run is RecentRun =>
    run !== undefined && isUncontradicted(own, run) && failedWith(run, cause);
  const next = own.findIndex((run) => run.at > at);
  const beside = next === -1 ? [own.at(-1)] : [own[next - 1], own[next]];
  if (beside.some((run) => isAlike(run) && Math.abs(run.at - at) <= nearMs)) return true;
  return own.some(
    (run, index) =>
      run.at < at &&
      at - run.at <= staleMs &&
      isAlike(run) &&
      isAlike(own[index - 1]) &&
      run.sourceHash !== own[index - 1]!.sourceHash,
  );
}

const failedWith = ({ outcome, fingerprint }: RecentRun, cause: number): boolean =>
  outcome === 'failed' && hashText(fingerprint ?? '') === cause;

/** A run that failed on a commit on which the job never passed. */
const isUncontradicted = (own: readonly RecentRun[], { outcome, sourceHash }: RecentRun): boolean =>
  outcome === 'failed' && !own.some((run) => run.outcome !== 'failed' && run.sourceHash === sourceHash);

/**
 * The fingerprints of failures that a quarantine excuses, '' for a failure that gives no reason: of known flakes those with
 * which the default branch does not fail at present, and which were seen before its last pass. What came after it may be
 * what breaks it.
 */
export function excusableFingerprints({
  flakes,
  onDefault,
  contradictions,
  breakages,
}: Explaining<Explainable> & {
  readonly flakes: readonly { readonly fingerprint: string; readonly firstAt: number }[];
}): readonly string[] {
  const failing = new Set<string>();
  const broken = listBrokenBy(breakages, onDefault.at(-1)?.at ?? 0);
  let seenBy = -Infinity;
  let failingSince = Infinity;
  for (const own of listCurrentJobs(onDefault)) {
    const last = own.at(-1)!;
    const passedAt = own.findLast(({ outcome }) => outcome !== 'failed')?.at ?? -Infinity;
    seenBy = Math.max(seenBy, passedAt);
    if (!isUncontradicted(own, last)) continue;
    failing.add(last.fingerprint ?? '');
    failingSince = Math.min(failingSince, passedAt);
  }
  const latest = onDefault.length === 0 ? Infinity : Math.min(seenBy, failingSince);
  return flakes
    .filter(
      ({ fingerprint, firstAt }) =>
        firstAt <= latest &&
        !failing.has(fingerprint) &&
        !broken.has(hashText(fingerprint)) &&
        !isExplainedFlake(contradictions, fingerprint),
    )
    .map(({ fingerprint }) => fingerprint);
}

/** The causes of breakages of the last week: commits from before the repair are run again, and still contain them. */
const listBrokenBy = (breakages: readonly BranchBreakage[], now: number): ReadonlySet<number> =>
  new Set(
    [...Map.groupBy(breakages, ({ job, cause }) => `${job} ${cause}`).values()]
      .filter((known) => !isOftenBroken(known) && known.some(({ to }) => now - to <= staleMs))
      .map((known) => known[0]!.cause),
  );

/** Every contradiction that shows it is explained. */
function isExplainedFlake(contradictions: readonly Explainable[], fingerprint: string): boolean {
  const cause = hashText(fingerprint);
  const own = contradictions.filter((one) => one.cause === cause);
  return own.length > 0 && own.every((one) => one.isExplained);
}
