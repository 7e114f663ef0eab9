// A test breaks on the default branch. After how many runs is it called broken, and is the commit that broke it in the
// range that is named?
//
// It passes for 100 to 300 runs. Between two runs lie 1 to 10 commits, and any of those after the last good run may be
// the culprit. In three of ten trials the test flakes by itself before and after, in 0.5 to 5 % of its runs, and half of
// those are run again. In one of ten trials what breaks the test leaves it a tenth of its runs.

import { emptyHistory, type TestCaseHistory, record } from '#core/health/history.ts';
import { evaluate } from '#core/health/monitor/monitor.ts';
import { defaultHealthSettings } from '#core/health/settings.ts';
import { createRandom, drawLogUniform, drawWhole, type Random } from './random.ts';

export type Trial = {
  readonly isFlaky: boolean;
  /** It fails in every run. */
  readonly isWhole: boolean;
  /** Runs after the breakage until it was called broken; Infinity: not within 20. */
  readonly runs: number;
  /** The culprit is in the range. */
  readonly isInside: boolean;
  /** Commits in the range; null: its beginning is not known. */
  readonly width: number | null;
};

const runsMax = 20;
const hourMs = 3_600_000;

/** Commits are numbered, and named by their number. */
const nameOf = (commit: number): string => commit.toString(16).padStart(40, '0');
const numberOf = (name: string): number => (name === '' ? Number.NaN : Number.parseInt(name, 16));

type Course = { history: TestCaseHistory; at: number };

function run(random: Random, course: Course, commit: number, chance: number): void {
  const fact = (isFailed: boolean) => ({
    at: course.at,
    source: nameOf(commit),
    branchClass: 'default' as const,
    prNumber: null,
    outcome: isFailed ? ('failed' as const) : ('passed' as const),
    isSuspect: false,
    fingerprint: null,
    failing: 1,
    tests: 1_000,
  });
  course.at += hourMs;
  const isFailed = random() < chance;
  course.history = record(course.history, fact(isFailed));
  if (!isFailed || random() < 0.5) return;
  course.at += hourMs / 4;
  course.history = record(course.history, fact(random() < chance));
}

export function tryChangepoint(seed: number, trial: number): Trial {
  const random = createRandom(seed, `changepoint/${trial}`);
  const isFlaky = random() < 0.3;
  const rate = isFlaky ? drawLogUniform(random, 0.005, 0.05) : 0;
  const brokenRate = random() < 0.1 ? 0.9 : 1;
  const course: Course = { history: emptyHistory, at: Date.UTC(2026, 0, 5) };
  let commit = 0;
  for (let left = 100 + drawWhole(random, 201); left > 0; left--) {
    commit += 1 + drawWhole(random, 10);
    run(random, course, commit, rate);
  }
  const lastGood = commit;
  const gap = 1 + drawWhole(random, 10);
  const culprit = lastGood + 1 + drawWhole(random, gap);
  commit += gap;
  for (let runs = 1; runs <= runsMax; runs++) {
    run(random, course, commit, brokenRate);
    const before = { mutes: [], manualStatus: null, wasActive: [] };
    const { status, culprit: range } = evaluate(course.history, defaultHealthSettings, before, course.at);
    if (status.value === 'broken') {
      const after = numberOf(range?.after ?? '');
      const upTo = numberOf(range?.upTo ?? '');
      const isInside = !(culprit <= after) && !(culprit > upTo);
      return {
        isFlaky,
        isWhole: brokenRate === 1,
        runs,
        isInside,
        width: Number.isNaN(after) ? null : upTo - after,
      };
    }
    commit += 1 + drawWhole(random, 10);
  }
  return { isFlaky, isWhole: brokenRate === 1, runs: Infinity, isInside: false, width: null };
}
