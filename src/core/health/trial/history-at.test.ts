import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dayMs, hourMs } from '#base/duration.ts';
import { emptyHistory, record, type TestCaseHistory } from '../history.ts';
import type { RunFact } from '../recent-run.ts';
import { historyAt, listInstants } from './history-at.ts';

const begunAt = Date.UTC(2026, 10, 1);
const now = begunAt + 6 * dayMs + 5 * hourMs;

const fact = (more: Partial<RunFact>): RunFact => ({
  at: begunAt,
  source: 'a'.repeat(40),
  branchClass: 'default',
  prNumber: null,
  outcome: 'passed',
  isSuspect: false,
  fingerprint: more.outcome === 'failed' ? '00112233aabbccdd' : null,
  failing: 1,
  tests: 100,
  ...more,
});

const fold = (facts: readonly RunFact[]): TestCaseHistory => facts.reduce(record, emptyHistory);

/** Runs of six days, each on a commit of its own, so few that the rings hold all of them. */
const runs = fc
  .uniqueArray(
    fc.record({
      minute: fc.integer({ min: 0, max: 6 * 24 * 60 - 1 }),
      outcome: fc.constantFrom('passed' as const, 'passed' as const, 'failed' as const, 'flaky' as const),
    }),
    { maxLength: 40, selector: ({ minute }) => minute },
  )
  .map((list) =>
    list
      .toSorted((a, b) => a.minute - b.minute)
      .map(({ minute, outcome }) =>
        fact({ at: begunAt + minute * 60_000, source: String(minute).padStart(40, '0'), outcome }),
      ),
  );

const endOfDay = (day: number): number => begunAt + (day + 1) * dayMs - 1;

describe('the history at an earlier instant', () => {
  it('is what was recorded up to it, at the end of every day', () => {
    fc.assert(
      fc.property(runs, fc.integer({ min: 0, max: 5 }), (facts, day) => {
        const at = endOfDay(day);
        const past = historyAt(fold(facts), at, now);
        const recorded = fold(facts.filter((one) => one.at <= at));
        const { cleanPasses, ...known } = past;
        expect(known.days).toEqual(recorded.days);
        expect(known.contradictions).toEqual(recorded.contradictions);
        expect(known.lastFailureAt).toBe(recorded.lastFailureAt);
        expect(known.onDefault.map((run) => [run.at, run.outcome])).toEqual(
          recorded.onDefault.map((run) => [run.at, run.outcome]),
        );
        const lastDay = facts.filter((one) => Math.abs(one.at - recorded.lastFailureAt) <= dayMs).length;
        expect(Math.abs(cleanPasses - recorded.cleanPasses)).toBeLessThanOrEqual(lastDay);
      }),
    );
  });

  it('has the runs of the default branch of a day exactly, as long as the ring holds them', () => {
    fc.assert(
      fc.property(runs, fc.integer({ min: 0, max: 6 * 24 * 60 }), (facts, minute) => {
        const at = begunAt + minute * 60_000;
        if ((facts[0]?.at ?? Infinity) > at) return;
        expect(historyAt(fold(facts), at, now).days.filter(({ sources }) => sources > 0)).toEqual(
          fold(facts.filter((one) => one.at <= at)).days,
        );
      }),
    );
  });

  it('counts other runs of its day in proportion to the time', () => {
    const facts = Array.from({ length: 24 }, (_, hour) =>
      fact({ at: begunAt + hour * hourMs, source: `${hour}`, branchClass: 'pull_request', prNumber: hour }),
    );
    const [day] = historyAt(fold(facts), begunAt + 12 * hourMs - 1, now).days;
    expect(day).toMatchObject({ runs: 12, sources: 12, failed: 0 });
  });

  it('is the history itself now', () => {
    const history = fold([fact({ outcome: 'failed' })]);
    expect(historyAt(history, now, now)).toBe(history);
  });

  it('has not yet the explanation that a later run of the default branch gave', () => {
    const onPull = { branchClass: 'pull_request' as const, prNumber: 7, source: 'b'.repeat(40) };
    const history = fold([
      fact({ at: begunAt + hourMs, source: '1'.repeat(40) }),
      fact({ at: begunAt + 2 * hourMs, ...onPull, outcome: 'failed' }),
      fact({ at: begunAt + 3 * hourMs, ...onPull }),
      fact({ at: begunAt + 4 * hourMs, source: '2'.repeat(40) }),
    ]);
    expect(history.contradictions.map(({ isExplained }) => isExplained)).toEqual([false]);
    const { contradictions } = historyAt(history, begunAt + 3 * hourMs, now);
    // A failure of a new kind counts only after the default branch was tested again.
    expect(contradictions.map(({ isExplained }) => isExplained)).toEqual([true]);
  });
});

it('looks at every failure, the end of every day, and now', () => {
  const history = fold([
    fact({ at: begunAt + hourMs }),
    fact({ at: begunAt + 5 * hourMs, source: '1'.repeat(40), outcome: 'failed' }),
    fact({ at: begunAt + dayMs + hourMs, source: '2'.repeat(40), outcome: 'flaky' }),
  ]);
  expect(listInstants(history, begunAt, begunAt + 2 * dayMs + hourMs)).toEqual([
    begunAt + 5 * hourMs,
    endOfDay(0),
    begunAt + dayMs + hourMs,
    endOfDay(1),
    begunAt + 2 * dayMs + hourMs,
  ]);
});
