import { describe, expect, it } from 'vitest';
import { emptyHistory, record, type TestCaseHistory } from '../history.ts';
import type { RunFact } from '../recent-run.ts';
import { continueHistory } from './continue-history.ts';

const begunAt = Date.UTC(2026, 10, 1);
const hour = 3_600_000;

/** Every six hours a commit: it passes, or fails and then passes. */
function runs(from: number, to: number, flakes: readonly number[]): readonly RunFact[] {
  return Array.from({ length: to - from }, (_, index) => from + index).flatMap((number) => {
    const fact: RunFact = {
      at: begunAt + number * 6 * hour,
      source: String(number).padStart(40, '0'),
      branchClass: number % 3 === 0 ? 'default' : 'pull_request',
      prNumber: number % 3 === 0 ? null : number,
      outcome: 'passed',
      isSuspect: false,
      fingerprint: null,
      failing: 0,
      tests: 100,
      job: 'unit',
    };
    if (!flakes.includes(number)) return [fact];
    const failed = { ...fact, outcome: 'failed' as const, fingerprint: `kind ${number % 2}`, failing: 1 };
    return [failed, { ...fact, at: fact.at + hour }];
  });
}

const recorded = (facts: readonly RunFact[]): TestCaseHistory => facts.reduce(record, emptyHistory);

/** Which runs came after twenty passes is known only if they are recorded in one history. */
const comparable = (history: TestCaseHistory) => ({
  ...history,
  contradictions: history.contradictions.map((one) => ({ ...one, isSeparate: false })),
  onDefault: history.onDefault.map((run) => ({ ...run, isSeparate: false, source: '' })),
  elsewhere: history.elsewhere.map((run) => ({ ...run, isSeparate: false })),
});

describe('a history that continues under another name', () => {
  const [before, after] = [runs(0, 30, [3, 9, 20]), runs(30, 50, [33, 41])];

  it('is that of one test', () => {
    const joined = continueHistory(recorded(before), recorded(after));
    expect(comparable(joined)).toEqual(comparable(recorded([...before, ...after])));
  });

  it('remembers the newest breakages of both', () => {
    const breakage = (to: number) => ({ cause: 1, job: 2, from: to - 1, to, isPartial: false });
    const withBreakages = (ends: readonly number[]) => ({ ...emptyHistory, breakages: ends.map(breakage) });
    const joined = continueHistory(withBreakages([1, 2, 3, 4, 5, 7]), withBreakages([6, 8, 9, 10]));
    expect(joined.breakages.map(({ to }) => to)).toEqual([3, 4, 5, 6, 7, 8, 9, 10]);
  });

  it('counts the passes since the last failure, whichever name that had', () => {
    const quiet = runs(30, 50, []);
    const joined = continueHistory(recorded(before), recorded(quiet));
    expect(joined.lastFailureAt).toBe(recorded(before).lastFailureAt);
    expect(joined.cleanPasses).toBe(recorded([...before, ...quiet]).cleanPasses);
    const passed = runs(0, 30, []);
    expect(continueHistory(recorded(passed), recorded(after)).cleanPasses).toBe(recorded(after).cleanPasses);
  });

  it('is as long as any other', () => {
    const many = (from: number) =>
      recorded(
        runs(
          from,
          from + 300,
          Array.from({ length: 300 }, (_, n) => from + n),
        ),
      );
    const joined = continueHistory(many(0), many(300));
    expect(joined.contradictions).toHaveLength(24);
    expect(joined.onDefault).toHaveLength(64);
    expect(joined.elsewhere).toHaveLength(48);
    expect(joined.days.length).toBeLessThanOrEqual(16 * 4);
    expect(joined.onDefault.at(-1)!.at).toBe(many(300).onDefault.at(-1)!.at);
  });

  it('is the own one if there is no other', () => {
    const own = recorded(after);
    expect(comparable(continueHistory(emptyHistory, own))).toEqual(comparable(own));
    expect(comparable(continueHistory(own, emptyHistory))).toEqual(comparable(own));
  });
});
