import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { combineOutcomes, type ReportedCase, type RunOutcome } from '#core/health/reported-case.ts';
import { createCaseList, decodeOutcome } from './ingest-run.ts';

const blank: ReportedCase = {
  name: '',
  classname: '',
  parent: '',
  file: '',
  ownId: null,
  variant: '',
  outcome: 'passed',
  attempts: 1,
  durationMs: null,
  failures: [],
};

describe('the cases of an upload', () => {
  it('make one run of each test, by what all of its cases say together', () => {
    const outcome = fc.constantFrom<RunOutcome[]>('passed', 'failed', 'flaky', 'skipped');
    const cases = fc.array(fc.tuple(fc.nat({ max: 20 }), outcome), { maxLength: 60 });
    fc.assert(
      fc.property(cases, (list) => {
        const gathered = createCaseList();
        const expected = new Map<number, RunOutcome>();
        for (const [number, one] of list) {
          gathered.add(number, { ...blank, outcome: one, attempts: one === 'skipped' ? 0 : 1 });
          expected.set(number, combineOutcomes(expected.get(number) ?? 'skipped', one));
        }
        const runs = gathered.toRuns((number) => number);
        const found = new Map<number, RunOutcome>([
          ...[...runs.ordinals].map((ordinal, index): [number, RunOutcome] => [
            ordinal,
            decodeOutcome(runs.outcomes[index]!),
          ]),
          ...[...runs.skipped].map((ordinal): [number, RunOutcome] => [ordinal, 'skipped']),
        ]);
        expect(found).toEqual(expected);
        expect([...runs.ordinals]).toEqual([...runs.ordinals].toSorted((a, b) => a - b));
      }),
    );
  });

  it('add up attempts and durations, and leave what was skipped out of both', () => {
    const gathered = createCaseList();
    gathered.add(-1, { ...blank, outcome: 'failed', attempts: 2, durationMs: 100 });
    gathered.add(3, { ...blank, durationMs: null });
    gathered.add(-1, { ...blank, outcome: 'passed', durationMs: 155 });
    gathered.add(-1, { ...blank, outcome: 'skipped', attempts: 0, durationMs: 1e6 });
    const runs = gathered.toRuns((number) => (number < 0 ? 7 : number));
    expect([...runs.ordinals]).toEqual([3, 7]);
    expect([...runs.attempts]).toEqual([1, 3]);
    expect([...runs.outcomes]).toEqual([0, 2]);
    expect([...runs.durations]).toEqual([0, 33]);
  });
});
