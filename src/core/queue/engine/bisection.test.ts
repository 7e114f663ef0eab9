import { describe, expect, it } from 'vitest';
import { aRun } from '../../../../test/fixture/reconcile-input.ts';
import type { Run, Search } from '../planner/model.ts';
import { summarizeBisection } from './bisection.ts';

const search: Search = {
  id: 10,
  base: 'T',
  members: [1, 2, 3, 4, 5, 6, 7, 8],
  passes: 0,
  fails: 8,
  passedRun: null,
  failedRun: null,
};

/** A run of the first so many, requested in this round. */
const run = (id: number, length: number, round: number, change: Partial<Run> = {}): Run => ({
  ...aRun,
  id,
  of: { kind: 'search', search: 10 },
  composition: { base: 'T', members: search.members.slice(0, length), tested: length },
  requestedAt: round,
  ...change,
});
const passed = { status: 'passed' } as const;
const failed = { status: 'failed' } as const;

const rounds = (...runs: readonly Run[]) =>
  summarizeBisection(search, runs).rounds.map(({ from, to, runs: shown }) => ({
    suspects: [from, to],
    runs: shown.map(({ length, status }) => `${length} ${status}`),
  }));

describe('a bisection', () => {
  it('that runs only the failed tests suspects all entries until its end', () => {
    const targeted = { ...search, tests: ['a', 'b'] };
    const runs = [run(11, 8, 1, failed), run(12, 4, 2, passed), run(13, 6, 3)];
    const { cleared, failing, rounds: shown } = summarizeBisection(targeted, runs);
    expect({ cleared, failing }).toEqual({ cleared: 0, failing: 8 });
    expect(shown.map(({ from, to }) => [from, to])).toEqual([
      [0, 8],
      [0, 8],
      [0, 8],
    ]);
  });

  it('shows what is known of its batch', () => {
    expect(summarizeBisection({ ...search, passes: 2, fails: 5 }, [run(11, 4, 1)])).toEqual({
      search: 10,
      base: 'T',
      members: search.members,
      cleared: 2,
      failing: 5,
      rounds: [{ from: 0, to: 8, runs: [{ run: 11, length: 4, status: 'under_way' }] }],
    });
  });

  it('shows its own runs only: not those of the line, of another bisection, or from before it began', () => {
    const others = [
      run(12, 4, 1, { of: { kind: 'line', group: 10 } }),
      run(13, 4, 1, { of: { kind: 'search', search: 11 } }),
      run(9, 8, 0, failed),
      run(10, 8, 0, failed),
    ];
    expect(rounds(...others)).toEqual([]);
    expect(rounds(...others, run(14, 4, 1))).toHaveLength(1);
  });

  it.each([
    ['starting', 'under_way'],
    ['running', 'under_way'],
    ['passed', 'passed'],
    ['failed', 'failed'],
    ['infrastructure', 'retrying'],
    ['timed_out', 'retrying'],
    ['start_failed', 'retrying'],
  ] as const)('shows a run that is %s as %s', (status, shown) => {
    expect(rounds(run(11, 4, 1, { status }))[0]!.runs).toEqual([`4 ${shown}`]);
  });

  it('has a round for each time at which runs were requested, in that order, the shortest run first', () => {
    expect(rounds(run(14, 5, 2), run(12, 6, 1, failed), run(11, 3, 1, passed))).toEqual([
      { suspects: [0, 8], runs: ['3 passed', '6 failed'] },
      { suspects: [3, 6], runs: ['5 under_way'] },
    ]);
  });

  it('counts a repeated run to the round of its first attempt', () => {
    const repeated = run(13, 3, 2, { ...passed, attempt: 1 });
    expect(rounds(run(12, 6, 1, failed), repeated, run(14, 5, 3))).toEqual([
      { suspects: [0, 8], runs: ['3 passed', '6 failed'] },
      { suspects: [3, 6], runs: ['5 under_way'] },
    ]);
    // Its first attempt is not stored any more: the repeated run is a round of its own.
    expect(rounds(repeated)).toEqual([{ suspects: [0, 8], runs: ['3 passed'] }]);
  });

  it('takes the runs requested with the first attempt for one round, also after a repeat', () => {
    const repeated = run(12, 4, 2, { attempt: 1 });
    expect(rounds(run(11, 2, 1), repeated, run(13, 6, 1))).toHaveLength(1);
  });

  it('suspects the entries between the longest run that passed and the shortest that failed behind it', () => {
    const first = [
      run(11, 2, 1, passed),
      run(12, 4, 1, passed),
      run(13, 6, 1, failed),
      run(14, 7, 1, failed),
    ];
    expect(rounds(...first, run(15, 5, 2))[1]!.suspects).toEqual([4, 6]);
    // A failure inside a longer run that passed does not count.
    expect(rounds(run(11, 2, 1, failed), run(12, 4, 1, passed), run(13, 6, 2))[1]!.suspects).toEqual([4, 8]);
    expect(rounds(run(11, 4, 1, failed), run(12, 4, 1, passed), run(13, 6, 2))[1]!.suspects).toEqual([4, 8]);
  });

  it('does not suspect more entries after a later round than before', () => {
    const before = [run(11, 4, 1, passed), run(12, 6, 1, failed)];
    expect(
      rounds(...before, run(13, 3, 2, passed), run(14, 7, 2, failed), run(15, 5, 3))[2]!.suspects,
    ).toEqual([4, 6]);
  });
});
