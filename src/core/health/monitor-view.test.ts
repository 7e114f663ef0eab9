import { describe, expect, it } from 'vitest';
import { addPasses, dayMs, emptyHistory, record, type RunFact } from './history.ts';
import { saysOf, seenBy } from './monitor-view.ts';
import { defaultHealthSettings, monitorIds } from './settings.ts';

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

const seen = (monitor: (typeof monitorIds)[number], history = emptyHistory) =>
  seenBy(monitor, history, defaultHealthSettings, now);

describe('what a monitor sees', () => {
  it('is told of a test that never failed too', () => {
    expect(monitorIds.map((monitor) => seen(monitor))).toEqual([
      'Passed and failed on 0 of 0 commits in 14 days; fires from 2 on that chance does not explain.',
      'Failed in 0 of 0 runs on the default branch in 7 days; fires from 10 % on, with 20 runs or more.',
      'Failed in 0 runs on the default branch in 7 days; fires from 3 on.',
      'Failed in 0 of 0 runs on the default branch in a day; fires from 80 % on, with 5 runs or more.',
      'Failed in 0 runs on the default branch in a day; fires from 5 on.',
      'No run on the default branch is known.',
    ]);
  });

  it('counts what the history holds', () => {
    const passes = addPasses(emptyHistory, { at: now, branchClass: 'default', runs: 5, sources: 5 });
    const history = [run(30, 'passed'), run(20, 'failed'), run(10, 'failed')].reduce(record, passes);
    expect(seen('failure_rate_broken', history)).toMatch(/^Failed in 2 of 8 runs \(25 %\)/);
    expect(seen('failure_count_flaky', history)).toMatch(/^Failed in 2 runs/);
    expect(seen('pass_on_retry', history)).toMatch(/^Passed and failed on 0 of 8 commits/);
    expect(seen('changepoint', history)).toBe('Failed in the newest 2 runs on the default branch.');
    expect(seen('changepoint', record(history, run(1, 'passed')))).toMatch(/^Passed in the newest run/);
  });

  it('speaks for one status', () => {
    expect(monitorIds.map(saysOf)).toEqual(['flaky', 'flaky', 'flaky', 'broken', 'broken', 'broken']);
  });
});
