import { describe, expect, it } from 'vitest';
import { dayMs } from '#base/duration.ts';
import { addPasses, emptyHistory, type TestCaseHistory, record } from '../history.ts';
import type { RunFact } from '../recent-run.ts';
import { evaluate, type ClassifiedBefore, findRecovery } from './monitor.ts';
import { completeSettings, defaultHealthSettings, type ResolvedHealthSettings } from '../settings.ts';

const begunAt = Date.UTC(2026, 10, 1, 8);
const hour = 3_600_000;
const nothing: ClassifiedBefore = { mutes: [], manualStatus: null, wasActive: [] };

const fact = (more: Partial<RunFact>): RunFact => ({
  at: begunAt,
  source: '0'.repeat(40),
  branchClass: 'default',
  prNumber: null,
  outcome: 'passed',
  isSuspect: false,
  fingerprint: null,
  failing: 1,
  tests: 1_000,
  ...more,
});

const sha = (number: number): string => number.toString(16).padStart(40, '0');

/** One run an hour: p passed, f failed, x flaky, F failed in a mass failure. */
function play(
  course: string,
  from: TestCaseHistory = emptyHistory,
  more: Partial<RunFact> = {},
): TestCaseHistory {
  const outcomes = { p: 'passed', f: 'failed', F: 'failed', x: 'flaky' } as const;
  return Array.from(course).reduce((history, mark, at) => {
    const outcome = outcomes[mark as keyof typeof outcomes];
    const own = { at: begunAt + at * hour, source: sha(at + 1), outcome, isSuspect: mark === 'F' };
    return record(history, fact({ ...own, ...more }));
  }, from);
}

const classify = (
  history: TestCaseHistory,
  now: number,
  before: Partial<ClassifiedBefore> = {},
  settings: ResolvedHealthSettings = defaultHealthSettings,
) => evaluate(history, settings, { ...nothing, ...before }, now);

describe('the pass-on-retry monitor', () => {
  it('does not call a test flaky for one contradiction', () => {
    expect(classify(play('pppxpp'), begunAt + 6 * hour).status.value).toBe('healthy');
  });

  it('calls it flaky for two that chance does not explain, and says so in one sentence', () => {
    const { status, mayAutoQuarantine } = classify(play('pppxppxp'), begunAt + 8 * hour);
    expect(status).toEqual({
      value: 'flaky',
      reason:
        'Flaky: passed and failed on the same commit 2 times in 14 days (25 % of 8 verdicts), last on 0000000 at 2026-11-01 14:00 UTC.',
    });
    expect(mayAutoQuarantine).toBe(true);
  });

  it('takes two for chance where a third of the tests failed with it', () => {
    const history = play(`${'p'.repeat(50)}x${'p'.repeat(50)}x`, emptyHistory, { failing: 333 });
    expect(classify(history, begunAt + 102 * hour).status.value).toBe('healthy');
  });

  it('takes several of one pull request for one', () => {
    const own = { branchClass: 'pull_request', prNumber: 7 } as const;
    expect(classify(play('pxxxxp', emptyHistory, own), begunAt + 6 * hour).status.value).toBe('healthy');
    const other = record(
      play('pxxxxp', emptyHistory, own),
      fact({ ...own, prNumber: 8, outcome: 'flaky', source: 'other', at: begunAt + 7 * hour }),
    );
    expect(classify(other, begunAt + 8 * hour).status.value).toBe('flaky');
  });

  it('takes those of one outage that lasts for one', () => {
    const during = [0, 10, 20, 30].map((minutes) =>
      fact({ outcome: 'flaky', source: sha(minutes), at: begunAt + minutes * 60_000, failing: 8 }),
    );
    const history = during.reduce(record, emptyHistory);
    expect(classify(history, begunAt + hour).status.value).toBe('healthy');
    const alone = during.map((one) => ({ ...one, failing: 1 }));
    expect(classify(alone.reduce(record, emptyHistory), begunAt + hour).status.value).toBe('flaky');
    const inShard = alone.map((one) => ({ ...one, suite: 5_000 })).reduce(record, emptyHistory);
    expect(classify(inShard, begunAt + hour).status.value).toBe('healthy');
    const passes = Array.from({ length: 20 }, (_, at) =>
      fact({ source: sha(100 + at), at: begunAt + 15 * 60_000 + at }),
    );
    const busy = [...during.slice(0, 2), ...passes, ...during.slice(2)].map((one) => ({
      ...one,
      failing: 1,
      suite: 5_000,
    }));
    expect(classify(busy.reduce(record, emptyHistory), begunAt + hour).status.value).toBe('flaky');
    const apart = during.map((one, at) => ({ ...one, at: begunAt + at * 5 * hour, failing: 1 }));
    expect(classify(apart.reduce(record, emptyHistory), begunAt + 20 * hour).status.value).toBe('flaky');
  });

  it('takes a contradiction in the midst of failures for an outage of which the shard shows a part', () => {
    const passes = { at: begunAt, branchClass: 'pull_request', runs: 2_000, sources: 2_000 } as const;
    const shard = { failing: 1, tests: 2_000, suite: 20_000, job: 'test' };
    const failAndPass = (history: TestCaseHistory, hours: number, number: number): TestCaseHistory =>
      ['failed' as const, 'passed' as const].reduce((before, outcome, index) => {
        const own = { at: begunAt + (hours + index * 0.2) * hour, source: sha(number), outcome };
        return record(before, fact({ ...own, branchClass: 'queue', ...shard }));
      }, history);
    const first = failAndPass(addPasses(emptyHistory, passes), 1, 1);
    const now = begunAt + 48 * hour;
    expect(classify(failAndPass(first, 24, 2), now).status.value).toBe('flaky');
    const failing = { outcome: 'failed', branchClass: 'queue', ...shard } as const;
    const outage = record(first, fact({ at: begunAt + 23.9 * hour, source: sha(3), ...failing }));
    expect(classify(failAndPass(outage, 24, 2), now).status.value).toBe('healthy');
    const lasting = [30, 36, 42].reduce((before, hours) => {
      const again = record(
        before,
        fact({ at: begunAt + (hours - 0.1) * hour, source: sha(hours), ...failing }),
      );
      return failAndPass(again, hours, hours + 1);
    }, outage);
    expect(classify(lasting, now).status.value).toBe('flaky');
  });

  it('is over after a week without another', () => {
    const history = play('pxpxp');
    const last = begunAt + 3 * hour;
    const before = { wasActive: ['pass_on_retry'] } as const;
    expect(classify(history, last + 7 * dayMs - 1, before).status.value).toBe('flaky');
    expect(classify(history, last + 7 * dayMs, before).status.value).toBe('healthy');
  });

  it('is over after as many passes as make it sure', () => {
    // 4 of 40 verdicts: ln(0.05 / 4) / ln(0.9) = 41.6, and each pass makes the share smaller.
    const history = play(`${'p'.repeat(36)}xxxx`);
    const after = (passes: number): string => {
      const later = addPasses(history, {
        at: begunAt + 41 * hour,
        branchClass: 'default',
        runs: passes,
        sources: 0,
      });
      return classify(later, begunAt + 60 * hour, { wasActive: ['pass_on_retry'] }).status.value;
    };
    expect(after(41)).toBe('flaky');
    expect(after(42)).toBe('healthy');
  });

  it('stays on while old ones leave the window, until it is over', () => {
    const history = record(play('x'), fact({ outcome: 'flaky', source: 'later', at: begunAt + 13 * dayMs }));
    const now = begunAt + 16 * dayMs;
    expect(classify(history, now).status.value).toBe('healthy');
    expect(classify(history, now, { wasActive: ['pass_on_retry'] }).status.value).toBe('flaky');
  });
});

describe('what still makes a flaky test healthy', () => {
  const flaky = play(`${'p'.repeat(60)}xppppxppppxpppp`);
  const now = begunAt + 80 * hour;
  const before = { ...nothing, wasActive: ['pass_on_retry'] as const };

  /** It passes so often on one commit that was tested before. */
  const repeat = (times: number): TestCaseHistory =>
    Array.from({ length: times }).reduce<TestCaseHistory>(
      (history, _, at) => record(history, fact({ at: now + at, source: sha(75) })),
      flaky,
    );

  it('is as many clean runs as the monitor itself asks for, to the last one', () => {
    const recovery = findRecovery(flaky, defaultHealthSettings, before, now)!;
    const missing = recovery.cleanRunsNeeded! - recovery.cleanRuns;
    expect([recovery.cleanRuns, recovery.cleanRunsNeeded]).toEqual([4, 101]);
    const after = now + hour;
    expect(classify(repeat(missing - 1), after, before).status.value).toBe('flaky');
    expect(findRecovery(repeat(missing - 1), defaultHealthSettings, before, after)).toMatchObject({
      cleanRuns: recovery.cleanRunsNeeded! - 1,
      cleanRunsNeeded: recovery.cleanRunsNeeded,
    });
    expect(classify(repeat(missing), after, before).status.value).toBe('healthy');
    expect(findRecovery(repeat(missing), defaultHealthSettings, before, after)).toBeNull();
  });

  it('is also the time without another contradiction, to the millisecond', () => {
    const { quietAt } = findRecovery(flaky, defaultHealthSettings, before, now)!;
    expect(classify(flaky, quietAt - 1, before).status.value).toBe('flaky');
    expect(classify(flaky, quietAt, before).status.value).toBe('healthy');
  });

  it('is time alone where no number of passes is enough', () => {
    const settings = completeSettings({ monitors: { pass_on_retry: { windowDays: 1 } } });
    const late = now + 2 * dayMs;
    expect(findRecovery(flaky, settings, before, late)).toMatchObject({ cleanRunsNeeded: null });
  });

  it('is not known for a healthy test, for what a person decided, nor for a rate', () => {
    expect(findRecovery(emptyHistory, defaultHealthSettings, nothing, now)).toBeNull();
    expect(findRecovery(flaky, defaultHealthSettings, { ...before, manualStatus: 'flaky' }, now)).toBeNull();
    const counted = completeSettings({ monitors: { failure_count_flaky: { isOn: true } } });
    const both = { ...before, wasActive: ['pass_on_retry', 'failure_count_flaky'] as const };
    expect(findRecovery(flaky, counted, both, now)).toBeNull();
  });
});

describe('the changepoint monitor', () => {
  const passes = addPasses(emptyHistory, { at: begunAt, branchClass: 'default', runs: 100, sources: 100 });

  it('calls a test broken that passed a hundred times and then fails on three commits', () => {
    const { status, culprit, mayAutoQuarantine } = classify(play('ppfff', passes), begunAt + 5 * hour);
    expect(status.value).toBe('broken');
    expect(status.reason).toContain('Broken: fails on the default branch since 0000000 (on 3 of 3 commits)');
    expect(culprit?.upTo).toBe(sha(3));
    expect(mayAutoQuarantine).toBe(false);
  });

  it('names the last pass and the first failure, unless passes and failures mix there', () => {
    const sharp = classify(play(`${'p'.repeat(50)}ffff`), begunAt + 54 * hour);
    expect(sharp.edge).toEqual({ after: sha(50), upTo: sha(51) });
    const mixed = classify(play(`${'p'.repeat(50)}fpffff`), begunAt + 56 * hour);
    expect(mixed.status.value).toBe('broken');
    expect(mixed.edge).toEqual(mixed.culprit);
  });

  it('finds the first failure of a flaky test by the way in which it fails now, and never failed before', () => {
    const course = `${'p'.repeat(50)}fpfpffffff`;
    const flakes = new Set([51, 53]);
    const failing = (cause: (number: number) => string | null) =>
      Array.from(course).reduce((history, mark, at) => {
        const outcome = mark === 'f' ? 'failed' : 'passed';
        const fingerprint = mark === 'f' ? cause(at + 1) : null;
        return record(history, fact({ at: begunAt + at * hour, source: sha(at + 1), outcome, fingerprint }));
      }, emptyHistory);
    const edgeOf = (cause: (number: number) => string | null) => {
      const { status, edge, culprit } = classify(failing(cause), begunAt + 60 * hour);
      expect(status.value).toBe('broken');
      return { edge, culprit };
    };
    const another = edgeOf((number) => (flakes.has(number) ? 'timeout' : 'sum'));
    expect(another.edge).toEqual({ after: sha(54), upTo: sha(55) });
    expect(another.culprit).not.toEqual(another.edge);
    for (const cause of [
      () => 'timeout',
      () => null,
      (number: number) => (flakes.has(number) ? 'timeout' : `sum ${number % 2}`),
    ]) {
      const { edge, culprit } = edgeOf(cause);
      expect(edge).toEqual(culprit);
    }
  });

  it('does not for one failure, nor for what fails elsewhere', () => {
    expect(classify(play('ppf', passes), begunAt + 3 * hour).status.value).toBe('healthy');
    const elsewhere = play('ppfffff', passes, { branchClass: 'pull_request' });
    expect(classify(elsewhere, begunAt + 7 * hour).status.value).toBe('healthy');
  });

  it('is over with two passes in a row', () => {
    expect(classify(play('ppffffp', passes), begunAt + 7 * hour).status.value).toBe('broken');
    expect(classify(play('ppffffpp', passes), begunAt + 8 * hour).status.value).toBe('healthy');
  });

  it('leaves a mass failure out, until the test fails on another source', () => {
    const { monitors } = classify(play('ppF', passes), begunAt + 3 * hour);
    expect(monitors.every(({ isActive }) => !isActive)).toBe(true);
    expect(classify(play('ppFpf', passes), begunAt + 5 * hour).culprit).toBeNull();
    expect(classify(play('ppFff', passes), begunAt + 5 * hour).culprit?.upTo).toBe(sha(3));
  });

  it('does not take a test for broken that always failed every other time', () => {
    const history = play('pf'.repeat(40));
    expect(classify(play('fff', history), begunAt + 90 * hour).status.value).not.toBe('broken');
  });
});

describe('rates and counts', () => {
  it('calls a test broken whose failure rate is near to always, even at its low end', () => {
    const alone = completeSettings({ monitors: { changepoint: { isOn: false } } });
    expect(classify(play('f'.repeat(15)), begunAt + 15 * hour, {}, alone).status.value).toBe('healthy');
    const { status } = classify(play('f'.repeat(17)), begunAt + 17 * hour, {}, alone);
    expect(status.reason).toBe('Broken: failed in 17 of 17 runs (100 %) on the default branch in a day.');
  });

  it('keeps a rate until it is below the lower threshold', () => {
    const settings = completeSettings({ monitors: { changepoint: { isOn: false } } });
    const before = { wasActive: ['failure_rate_broken'] } as const;
    expect(classify(play('fffppppp'), begunAt + 8 * hour, before, settings).status.value).toBe('healthy');
    expect(classify(play('ffffpppp'), begunAt + 8 * hour, before, settings).status.value).toBe('broken');
  });

  it('counts failures where that is switched on', () => {
    const settings = completeSettings({ monitors: { failure_count_flaky: { isOn: true } } });
    const now = begunAt + 7 * hour;
    expect(classify(play('fpfppp'), now, {}, settings).status.value).toBe('healthy');
    const { status } = classify(play('fpfpfp'), now, {}, settings);
    expect(status.reason).toBe('Flaky: failed 3 times on the default branch in 7 days.');
  });
});

describe('the status', () => {
  const flaky = play('pppxppxp');
  const passes = addPasses(flaky, { at: begunAt, branchClass: 'default', runs: 100, sources: 100 });
  const broken = ['a', 'b', 'c', 'd'].reduce(
    (history, source, at) =>
      record(history, fact({ source, outcome: 'failed', at: begunAt + (10 + at) * hour })),
    passes,
  );
  const now = begunAt + 15 * hour;

  it('is broken where a test is both, and it is not quarantined', () => {
    const { status, monitors, mayAutoQuarantine } = classify(broken, now);
    expect(status.value).toBe('broken');
    expect(monitors.filter(({ isActive }) => isActive).map(({ monitor }) => monitor)).toEqual([
      'pass_on_retry',
      'changepoint',
    ]);
    expect(mayAutoQuarantine).toBe(false);
  });

  it('leaves muted monitors out, until then', () => {
    const mutes = [{ monitor: 'changepoint', until: now + 1 }];
    expect(classify(broken, now, { mutes }).status.value).toBe('flaky');
    expect(classify(broken, now + 1, { mutes }).status.value).toBe('broken');
    const all = classify(broken, now, { mutes: [{ monitor: '*', until: now + 1 }] });
    expect(all.status).toEqual({
      value: 'healthy',
      reason: 'Healthy: the active monitors are muted (pass_on_retry, changepoint).',
    });
  });

  it('is what a person says, above all', () => {
    expect(classify(broken, now, { manualStatus: 'healthy' }).status).toEqual({
      value: 'healthy',
      reason: 'Healthy: marked manually.',
    });
    expect(classify(emptyHistory, now, { manualStatus: 'flaky' }).mayAutoQuarantine).toBe(true);
  });

  it('is not quarantined while it fails in a row more often than it flakes', () => {
    const row = ['a', 'b'].reduce(
      (history, source, at) =>
        record(history, fact({ source, outcome: 'failed', at: begunAt + (10 + at) * hour })),
      play('pppxppxp'),
    );
    const first = classify(row, now, { wasActive: ['pass_on_retry'] });
    expect(first.status.value).toBe('flaky');
    expect(first.mayAutoQuarantine).toBe(false);
  });

  it('is healthy for a test that nothing is known of', () => {
    expect(classify(emptyHistory, now)).toMatchObject({
      status: { value: 'healthy', reason: 'Healthy: no monitor is active.' },
      culprit: null,
    });
  });
});
