import { describe, expect, it } from 'vitest';
import { dayMs } from '#base/duration.ts';
import { addPasses, emptyHistory, record } from '../history.ts';
import type { RunFact } from '../recent-run.ts';
import { defaultHealthSettings } from '../settings.ts';
import { describeBy, type MonitorId, monitorIds, monitors } from './monitors.ts';

const now = 20_000 * dayMs + 3_600_000;

const run = (minutesAgo: number, outcome: RunFact['outcome']): RunFact => ({
  at: now - minutesAgo * 60_000,
  source: `commit ${minutesAgo}`,
  branchClass: 'default',
  prNumber: null,
  outcome,
  isSuspect: false,
  fingerprint: null,
  failing: 1,
  tests: 10,
});

const seen = (monitor: MonitorId, history = emptyHistory) =>
  describeBy(monitor, history, defaultHealthSettings.monitors, now);

describe('what a monitor sees', () => {
  it('is described for a test that never failed, too', () => {
    expect(Object.fromEntries(monitorIds.map((monitor) => [monitor, seen(monitor)]))).toMatchObject({
      pass_on_retry:
        'Passed and failed on 0 of 0 commits in 14 days; fires at 2 that chance does not explain.',
      failure_rate_flaky:
        'Failed in 0 of 0 runs on the default branch in 7 days; fires at 10 % or more, with at least 20 runs.',
      failure_count_flaky: 'Failed in 0 runs on the default branch in 7 days; fires at 3 failures or more.',
      failure_rate_broken:
        'Failed in 0 of 0 runs on the default branch in a day; fires at 80 % or more, with at least 5 runs.',
      failure_count_broken: 'Failed in 0 runs on the default branch in a day; fires at 5 failures or more.',
      changepoint: 'No run on the default branch yet.',
    });
  });

  it('counts what the history holds', () => {
    const passes = addPasses(emptyHistory, { at: now, branchClass: 'default', runs: 5, sources: 5 });
    const history = [run(30, 'passed'), run(20, 'failed'), run(10, 'failed')].reduce(record, passes);
    expect(seen('failure_rate_broken', history)).toMatch(/^Failed in 2 of 8 runs \(25 %\)/);
    expect(seen('failure_count_flaky', history)).toMatch(/^Failed in 2 runs/);
    expect(seen('pass_on_retry', history)).toMatch(/^Passed and failed on 0 of 8 commits/);
    expect(seen('changepoint', history)).toBe('Failed in the latest 2 runs on the default branch.');
    expect(seen('changepoint', record(history, run(1, 'passed')))).toMatch(/^Passed in the latest run/);
  });

  it('speaks for one status', () => {
    expect(Object.fromEntries(monitorIds.map((id) => [id, monitors[id].says]))).toMatchObject({
      pass_on_retry: 'flaky',
      failure_rate_flaky: 'flaky',
      failure_count_flaky: 'flaky',
      failure_rate_broken: 'broken',
      failure_count_broken: 'broken',
      changepoint: 'broken',
    });
  });
});
