// Breakages of the default branch, which a history remembers for longer than its runs. A busy repository tests the default
// branch so often that the ring of runs reaches back an hour or two only, while pull requests that failed meanwhile, and old
// commits, are run again for days. So a breakage explains what failed in the same way meanwhile, and quarantine does not
// excuse its failure for a week (explained.ts).
//
//   commit     the runs of one job on one commit, in the order in which commits were first seen: a rerun belongs to its commit
//   stretch    failing commits, with less than five passing commits in a row between them
//   breakage   a stretch of eight failing commits or more that begins with a row that the rate before does not explain,
//              and in which three quarters of the commits failed, all of them in the same way
//
// A breakage that comes back is how the test flakes: a test that needs another to run before it fails for hours on end.
// What fails always may be a change that was reverted and landed again, so that takes it one time more. A test that passes now
// and then for more than two days is no breakage either.
//
// Example. `sum` is wrong from 10:00 to 15:00, and one run in seven passes by luck: a breakage. At 9:00 the next day CI runs
// a commit of 14:00 again, and it fails with the same message. Nothing flaked: quarantine does not excuse it.

import { dayMs } from '#base/duration.ts';
import { hashText, type RecentRun } from './recent-run.ts';

export type BranchBreakage = {
  /** Hashes of the fingerprint and of the job's name. */
  readonly cause: number;
  readonly job: number;
  /** Its first and its last failure. */
  readonly from: number;
  readonly to: number;
  /** The test passed on some of the commits in between. */
  readonly isPartial: boolean;
};

/** A breakage that comes back so often is how the test flakes. */
const comesBackMin = 3;
/** What passes now and then fails by chance: it is enough that it came back. */
const partialMin = 2;

/** A breakage is repaired sooner. */
export const lastingMs = 2 * dayMs;

/** Does the test pass now and then, for longer than a breakage lasts? */
export const isLasting = (known: readonly BranchBreakage[]): boolean =>
  known.some(({ from, to, isPartial }) => isPartial && to - from > lastingMs);

/** Are the breakages of one cause in one job the test's own? */
export const isOftenBroken = (known: readonly BranchBreakage[]): boolean =>
  known.length >= comesBackMin ||
  known.filter(({ isPartial }) => isPartial).length >= partialMin ||
  isLasting(known);

export const breakagesMax = 8;
const keptMs = 16 * dayMs;

/** After so many passing commits in a row it is repaired. */
const repairedCommits = 5;
const rowMin = 3;
/** A row of failures that chance yields less often than this. */
const rowChance = 0.001;

/** Fewer commits are not remembered: a test that flakes in half of its runs fails on most of six commits now and then. */
const failedMin = 8;
/** Of the commits of a breakage so many fail. One that turns out to fail less often is forgotten. */
const begunShare = 3 / 4;
const lastingShare = 1 / 2;

type Outcomes = { readonly passed: number; readonly failed: number };

/** Does the highest rate that the runs before allow (one failure more than was seen) not explain so many failures in a row? */
export const isRowUnexplained = (row: number, { passed, failed }: Outcomes): boolean =>
  row >= rowMin && ((failed + 1) / (passed + failed + 2)) ** row < rowChance;

type JobCommit = {
  readonly causes: Set<number>;
  hasPassed: boolean;
  firstAt: number;
  lastFailedAt: number;
};

type Stretch = {
  readonly cause: number;
  readonly from: number;
  to: number;
  failed: number;
  /** Up to the last failure. */
  passed: number;
  isUnexplained: boolean;
};

/** `isWhole`: the runs are all that there were, so nothing but them counts. */
export function rememberBreakages(
  known: readonly BranchBreakage[],
  onDefault: readonly RecentRun[],
  isWhole: boolean,
): readonly BranchBreakage[] {
  let next = isWhole ? [] : known;
  for (const [job, runs] of Map.groupBy(onDefault, ({ job: own }) => own)) {
    if (!runs.some(({ outcome }) => outcome === 'failed')) continue;
    const commits = groupByCommit(runs);
    const causes = new Set(commits.flatMap((commit) => [...commit.causes]));
    for (const cause of causes)
      for (const stretch of listStretches(commits, cause)) next = addStretch(next, job, stretch);
  }
  const newestAt = onDefault.at(-1)?.at ?? 0;
  const kept = next
    .filter(({ to }) => to > newestAt - keptMs)
    .toSorted((a, b) => a.to - b.to || a.cause - b.cause);
  return kept.slice(-breakagesMax);
}

function addStretch(
  known: readonly BranchBreakage[],
  job: number,
  stretch: Stretch,
): readonly BranchBreakage[] {
  const { cause, from, to, failed, passed, isUnexplained } = stretch;
  const isSame = (one: BranchBreakage): boolean => one.job === job && one.cause === cause && one.to >= from;
  const before = known.find(isSame);
  const isBreakage = isUnexplained && failed >= failedMin && failed >= begunShare * (failed + passed);
  if (before === undefined && !isBreakage) return known;
  const others = known.filter((one) => one !== before);
  const isWhole = before === undefined || from <= before.from;
  if (isWhole && failed < lastingShare * (failed + passed)) return others;
  const isPartial = passed > 0 || before?.isPartial === true;
  const whole = { from: Math.min(before?.from ?? from, from), to: Math.max(before?.to ?? to, to) };
  return [...others, { cause, job, ...whole, isPartial }];
}

function groupByCommit(runs: readonly RecentRun[]): readonly JobCommit[] {
  const commits = new Map<number, JobCommit>();
  for (const { at, sourceHash, outcome, fingerprint } of runs) {
    const commit = commits.get(sourceHash) ?? {
      causes: new Set(),
      hasPassed: false,
      firstAt: at,
      lastFailedAt: at,
    };
    commits.set(sourceHash, commit);
    if (outcome !== 'failed') commit.hasPassed = true;
    else {
      commit.causes.add(hashText(fingerprint ?? ''));
      commit.lastFailedAt = at;
    }
  }
  return [...commits.values()];
}

/** A commit on which the test both failed and passed ends no stretch, and counts for none. */
function listStretches(commits: readonly JobCommit[], cause: number): readonly Stretch[] {
  const stretches: Stretch[] = [];
  const before = { passed: 0, failed: 0 };
  let row = 0;
  let passes = 0;
  for (const commit of commits) {
    if (!commit.hasPassed && commit.causes.has(cause)) {
      let stretch = stretches.at(-1);
      if (stretch === undefined || passes >= repairedCommits) {
        for (const one of stretches.slice(-1)) {
          before.passed += one.passed;
          before.failed += one.failed;
        }
        before.passed += passes;
        stretch = { cause, from: commit.firstAt, to: 0, failed: 0, passed: 0, isUnexplained: false };
        stretches.push(stretch);
      } else stretch.passed += passes;
      row++;
      passes = 0;
      stretch.failed++;
      stretch.to = Math.max(stretch.to, commit.lastFailedAt);
      if (isRowUnexplained(row, before)) stretch.isUnexplained = true;
    } else if (commit.causes.size === 0) {
      row = 0;
      passes++;
    }
  }
  return stretches;
}
