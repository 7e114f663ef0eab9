import { expect, it } from 'vitest';
import { gatherEvidence } from './evidence.ts';
import { fitHistory, drawWorkload } from './fit.ts';
import type { RecordedHistory, PastRun, PastAttempt } from './history.ts';
import { findSuspicions } from './suspicion.ts';

const minute = 60_000;

const pastAttempt = (pr: number, outcome: PastAttempt['outcome'], endMin: number): PastAttempt => ({
  pr,
  attempt: 1,
  outcome,
  isByTests: outcome !== 'cancelled',
  submittedAt: pr,
  queuedAt: pr,
  concludedAt: endMin * minute,
  headSha: `head-${pr}`,
  priority: 100,
  noBatch: false,
  restarts: 0,
});

/** The last of the members is under test. */
const run = (atMin: number, members: readonly number[], said: 'passed' | 'reported' | 'flaky'): PastRun => ({
  outcome: said === 'passed' ? 'passed' : 'failed',
  createdAt: atMin * minute,
  pushedAt: atMin * minute,
  concludedAt: (atMin + 5) * minute,
  ahead: members.slice(0, -1),
  tested: members.slice(-1),
  byChance: said === 'passed' ? null : said === 'flaky',
});

const suspectsIn = (history: RecordedHistory) => findSuspicions(gatherEvidence(history));

/** #1 and #3 merged; a flaky test removed #2. With #2 ahead of it #3 failed, and not by a flaky test. */
const pair: RecordedHistory = {
  attempts: [pastAttempt(1, 'merged', 8), pastAttempt(2, 'failed', 16), pastAttempt(3, 'merged', 30)],
  runs: [
    run(1, [1], 'passed'),
    run(1, [1, 2], 'passed'),
    run(1, [1, 2, 3], 'reported'),
    run(9, [2], 'flaky'),
    run(17, [3], 'passed'),
  ],
};

it('finds two that break together though one of them merged', () => {
  const [first, second, third] = suspectsIn(pair);
  expect(first).toEqual({ kind: 'sound', again: null });
  expect(second).toEqual({ kind: 'sound', again: false });
  expect(third).toMatchObject({
    kind: 'together',
    place: 1,
    fails: { nonFlakyCount: 1, unclassifiedCount: 0 },
  });
});

it('suspects no change if only flaky tests failed', () => {
  const flaky = { ...pair, runs: pair.runs.map((one) => ({ ...one, byChance: one.outcome === 'failed' })) };
  expect(suspectsIn(flaky).map(({ kind }) => kind)).toEqual(['sound', 'sound', 'sound']);
});

it('does not suspect two that were in a run that passed', () => {
  const runs = [...pair.runs, run(2, [1, 2, 3], 'passed')];
  expect(suspectsIn({ ...pair, runs }).map(({ kind }) => kind)).toEqual(['sound', 'sound', 'sound']);
});

it('is surer of who failed by tests that are not flaky', () => {
  const alone = (byChance: boolean | null): number => {
    const attempts = [pastAttempt(1, 'merged', 8), pastAttempt(2, 'failed', 16)];
    const runs = [run(1, [1], 'passed'), { ...run(9, [2], 'reported'), byChance }];
    return fitHistory({ attempts, runs }).blame.badAlone[1]!;
  };
  expect(alone(false)).toBeGreaterThan(alone(null));
  expect(alone(null)).toBeGreaterThan(alone(true));
});

it('keeps the luck of the time that was, run by run, and draws only what is not known', () => {
  const attempts = [pastAttempt(1, 'merged', 8), pastAttempt(2, 'merged', 30), pastAttempt(3, 'failed', 40)];
  const runs = [
    run(1, [1], 'passed'),
    { ...run(1, [1, 2], 'passed'), outcome: 'cancelled' as const },
    run(9, [2], 'flaky'),
    run(17, [2], 'passed'),
    run(31, [3], 'reported'),
  ];
  const fit = fitHistory({ attempts, runs });
  const [first, second, third] = drawWorkload(fit, 1).changes;
  expect(first!.luck).toEqual([false]);
  expect(second!.luck).toEqual([undefined, true, false]);
  // Whether the last change was bad is drawn; if it was, its luck is unknown.
  expect(third!.luck).toEqual(third!.isGood ? [true] : []);
});
