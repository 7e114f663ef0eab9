import { describe, expect, it } from 'vitest';
import { type Check, evaluateChecks } from '../check.ts';
import { currentChecks, findExcused, findRerunStart } from './rerun.ts';

const required = ['test', 'lint', 'all-green'].map((name) => ({ name, source: null }));
const run = (name: string, conclusion: string | null, at: number, suite = 'ci'): Check => ({
  kind: 'check',
  suite,
  name,
  status: conclusion === null ? 'queued' : 'completed',
  conclusion,
  url: '',
  at,
});
const status = (name: string, state: 'success' | 'failure'): Check => ({
  kind: 'status',
  name,
  state,
  url: '',
  at: 10,
});
const test = { suite: 'ci', name: 'test', at: 10 };

describe('what is excused', () => {
  it('is every failed check run in the suites of the required checks that failed', () => {
    const checks = [
      run('test', 'failure', 10),
      run('lint', 'success', 11),
      run('all-green', 'skipped', 12),
      run('optional', 'failure', 9),
      run('other', 'failure', 9, 'elsewhere'),
    ];
    expect(findExcused(required, checks, [])).toEqual([test, { suite: 'ci', name: 'optional', at: 9 }]);
  });

  it('is the failure in each suite that has the name', () => {
    const checks = [run('test', 'failure', 10), run('test', 'failure', 11, 'again')];
    expect(findExcused(required.slice(0, 1), checks, [])).toEqual([
      test,
      { suite: 'again', name: 'test', at: 11 },
    ]);
  });

  it('is nothing if a commit status failed, a check was cancelled, or one was skipped elsewhere', () => {
    const failed = run('test', 'failure', 10);
    expect(findExcused(required, [status('test', 'failure')], [])).toBeNull();
    expect(findExcused(required, [failed, status('lint', 'failure')], [])).toBeNull();
    expect(findExcused(required, [failed, run('lint', 'cancelled', 11)], [])).toBeNull();
    expect(findExcused(required, [failed, run('lint', 'skipped', 11, 'elsewhere')], [])).toBeNull();
    expect(findExcused(required, [run('lint', 'skipped', 11)], [])).toBeNull();
  });

  it('leaves a check alone that is still running in another suite, or has not reported', () => {
    const checks = [run('test', 'failure', 10), run('lint', null, 11, 'elsewhere')];
    expect(findExcused(required, checks, [])).toEqual([test]);
  });
});

describe('a new attempt', () => {
  it('has begun when a failed check of each suite is queued or has a newer result', () => {
    const excused = [test, { suite: 'again', name: 'test', at: 11 }];
    const before = [run('test', 'failure', 10), run('test', 'failure', 11, 'again')];
    expect(findRerunStart(excused, before)).toBeNull();
    expect(findRerunStart(excused, [run('test', null, 20), before[1]!])).toBeNull();
    expect(findRerunStart(excused, [run('test', null, 20), run('test', 'success', 25, 'again')])).toBe(20);
  });

  it('has not begun because a job that needs a failed one reports late', () => {
    const late = [run('test', 'failure', 10), run('all-green', null, 11)];
    expect(findRerunStart([test], late)).toBeNull();
  });
});

describe('results of the earlier attempt', () => {
  const verdict = (checks: readonly Check[], since: number | null) =>
    evaluateChecks(required, currentChecks(checks, { excused: [test], since }), []).kind;
  const lint = run('lint', 'success', 9);

  it('do not decide before the new attempt begins, nor while a job that needs a failed one has not run again', () => {
    expect(verdict([run('test', 'failure', 10), lint, run('all-green', 'failure', 12)], null)).toBe('open');
    expect(verdict([run('test', 'success', 25), lint, run('all-green', 'failure', 12)], 20)).toBe('open');
    expect(verdict([run('test', 'success', 25), lint, run('all-green', 'skipped', 12)], 20)).toBe('open');
  });

  it('count if they passed', () => {
    expect(verdict([run('test', 'success', 25), lint, run('all-green', 'success', 26)], 20)).toBe('passed');
  });

  it('are not those of the new attempt, whose failures count', () => {
    expect(verdict([run('test', 'failure', 25), lint, run('all-green', 'failure', 26)], 20)).toBe('failed');
    expect(verdict([run('test', 'cancelled', 25), lint], 20)).toBe('infrastructure');
  });

  it('are all results where nothing runs again', () => {
    const checks = [run('test', 'failure', 10)];
    expect(currentChecks(checks, undefined)).toBe(checks);
  });
});
