import { describe, expect, it } from 'vitest';
import type { RunId } from '#base/id.ts';
import { aQueue } from '../../../../test/fixture/entry.ts';
import { aRun, eventsIn } from '../../../../test/fixture/reconcile-input.ts';
import type { Check } from '../check.ts';
import type { Run } from '../planner/model.ts';
import type { FailedTestsReport, RunReport } from './reconcile-input.ts';

describe('the report on a run', () => {
  const report: RunReport = {
    id: 'run-1' as RunId,
    number: 1,
    outcome: null,
    pushedAt: 5,
    required: [{ name: 'ci', source: null }],
    checks: [],
    startedAt: null,
  };
  const check = (conclusion: string): Extract<Check, { kind: 'check' }> => ({
    kind: 'check',
    suite: 's',
    name: 'ci',
    status: 'completed',
    conclusion,
    url: '',
    at: 6,
  });
  const reported = (change: Partial<RunReport>, run: Partial<Run> = {}, queue = aQueue()) =>
    eventsIn({ queue, runs: [{ ...report, ...change }] }, { runs: new Map([[1, { ...aRun, ...run }]]) });
  const pushed = { pushedAt: 5 };

  it('is no event if the planner does not wait for the run any more', () => {
    const runs = [{ ...report, checks: [check('success')] }];
    expect(eventsIn({ runs })).toEqual([]);
    expect(reported({ checks: [check('success')] }, { status: 'failed' })).toEqual([]);
  });

  it('says once that its test branch was pushed', () => {
    expect(reported({})).toEqual([{ kind: 'run-pushed', run: 1, at: 5 }]);
    expect(reported({}, pushed)).toEqual([]);
    expect(reported({ pushedAt: null, checks: [check('success')] })).toEqual([]);
  });

  it('says once that CI has started', () => {
    expect(reported({ startedAt: 6 }, pushed)).toEqual([{ kind: 'run-started', run: 1, at: 6 }]);
    expect(reported({ startedAt: 6 }, { ...pushed, status: 'running' })).toEqual([]);
  });

  it.each([
    ['success', { kind: 'run-passed', run: 1 }],
    ['failure', { kind: 'run-failed', run: 1 }],
    ['skipped', { kind: 'run-failed', run: 1 }],
    ['cancelled', { kind: 'run-infrastructure-failed', run: 1, timedOut: false }],
    ['timed_out', { kind: 'run-infrastructure-failed', run: 1, timedOut: true }],
  ])('of a check that ended %s is the result of the run', (conclusion, event) => {
    expect(reported({ checks: [check(conclusion)], startedAt: 6 }, pushed)).toEqual([event]);
  });

  describe('with a failure', () => {
    const flaky = { isReading: false, failedJobs: 1, areAllFlaky: true, lacksResults: false };
    const failed = (failedTests: FailedTestsReport, change: Partial<RunReport> = {}) =>
      reported({ checks: [check('failure')], failedTests, ...change }, pushed);

    const excused = [{ suite: 's', name: 'ci', at: 6 }];
    const byFlakes = { kind: 'run-failed-by-flakes', run: 1 };

    it('names flaky tests as the cause if every test that failed is known to be flaky, and what is excused', () => {
      expect(failed(flaky)).toEqual([{ ...byFlakes, excused }]);
    });

    it('excuses no commit status by name: it has no jobs that could run again', () => {
      const status: Check = { kind: 'status', name: 'ci', state: 'failure', url: '', at: 6 };
      expect(failed(flaky, { checks: [status] })).toEqual([byFlakes]);
    });

    describe('of jobs that run again', () => {
      const awaited = { ...pushed, status: 'starting', flakes: 1, rerun: { excused, since: null } } as const;
      const newer = (conclusion: string | null): Check => ({
        ...check('success'),
        status: conclusion === null ? 'queued' : 'completed',
        conclusion,
        at: 9,
      });

      it('is no event as long as the result is the one that is excused', () => {
        const old = { checks: [check('failure')], failedTests: flaky, startedAt: 6 };
        expect(reported(old, awaited)).toEqual([]);
        expect(reported(old, { ...awaited, status: 'running', rerun: { excused, since: 7 } })).toEqual([]);
      });

      it('is followed by the start of the new attempt, and by its result', () => {
        expect(reported({ checks: [newer(null)], startedAt: 6 }, awaited)).toEqual([
          { kind: 'run-started', run: 1, at: 9 },
        ]);
        expect(reported({ checks: [newer('success')] }, awaited)).toEqual([{ kind: 'run-passed', run: 1 }]);
        expect(reported({ checks: [newer('failure')], failedTests: flaky }, awaited)).toEqual([
          { kind: 'run-failed', run: 1 },
        ]);
      });

      it('is excused again only where the queue reruns more often', () => {
        const twice = aQueue({ settings: { flakeReruns: 2 } });
        const again = { checks: [newer('failure')], failedTests: flaky };
        expect(reported(again, awaited, twice)).toEqual([
          { ...byFlakes, excused: [{ suite: 's', name: 'ci', at: 9 }] },
        ]);
      });

      it('is followed by a refusal of the Git host, unless the new attempt has begun', () => {
        const refused = { checks: [check('failure')], isRerunRefused: true };
        expect(reported(refused, awaited)).toEqual([{ kind: 'rerun-refused', run: 1 }]);
        const begun = { ...awaited, status: 'running', rerun: { excused, since: 7 } } as const;
        expect(reported(refused, begun)).toEqual([]);
      });
    });

    it('counts if another test failed too, or no report shows a failed test', () => {
      expect(failed({ ...flaky, areAllFlaky: false })).toEqual([{ kind: 'run-failed', run: 1 }]);
      expect(failed({ ...flaky, failedJobs: 0 })).toEqual([{ kind: 'run-failed', run: 1 }]);
    });

    it('counts if more checks failed than reports show failed tests', () => {
      const two = {
        required: [...report.required, { name: 'lint', source: null }],
        checks: [check('failure'), { ...check('failure'), name: 'lint' }],
      };
      expect(failed(flaky, two)).toEqual([{ kind: 'run-failed', run: 1 }]);
      expect(failed({ ...flaky, failedJobs: 2 }, two)).toEqual([
        { ...byFlakes, excused: [...excused, { suite: 's', name: 'lint', at: 6 }] },
      ]);
    });

    it('counts if a check was skipped and none failed', () => {
      expect(failed(flaky, { checks: [check('skipped')] })).toEqual([{ kind: 'run-failed', run: 1 }]);
    });

    it('is no event while a report is being read, but that CI has started is', () => {
      expect(failed({ ...flaky, isReading: true })).toEqual([]);
      expect(failed({ ...flaky, isReading: true }, { startedAt: 6 })).toEqual([
        { kind: 'run-started', run: 1, at: 6 },
      ]);
    });

    it('waits for no report once the reruns are used', () => {
      const reading = { checks: [check('failure')], failedTests: { ...flaky, isReading: true } };
      expect(reported(reading, { ...pushed, flakes: 1 })).toEqual([{ kind: 'run-failed', run: 1 }]);
    });
  });

  describe('with a failure whose tests are known', () => {
    const tests = ['a', 'b'];
    const known = { isReading: false, failedJobs: 1, areAllFlaky: false, lacksResults: false, tests };
    const adaptive = aQueue({ settings: { strategy: 'adaptive', flakeReruns: 0 } });
    const failed = (failedTests: FailedTestsReport, queue = adaptive) =>
      reported({ checks: [check('failure')], failedTests }, pushed, queue);

    it('names them, if the queue looks for the culprit with them', () => {
      expect(failed(known)).toEqual([{ kind: 'run-failed', run: 1, tests }]);
      expect(failed(known, aQueue({ settings: { strategy: 'manual' } }))).toEqual([
        { kind: 'run-failed', run: 1 },
      ]);
    });

    it('names none if more checks failed than jobs have failed tests, or if the report has none', () => {
      expect(failed({ ...known, failedJobs: 0 })).toEqual([{ kind: 'run-failed', run: 1 }]);
      const { tests: _, ...unknown } = known;
      expect(failed(unknown)).toEqual([{ kind: 'run-failed', run: 1 }]);
    });

    it('names none of a run that is run again because only flaky tests failed', () => {
      const queue = aQueue({ settings: { strategy: 'adaptive', flakeReruns: 1 } });
      expect(failed({ ...known, areAllFlaky: true }, queue)).toEqual([
        { kind: 'run-failed-by-flakes', run: 1, excused: [{ suite: 's', name: 'ci', at: 6 }] },
      ]);
      expect(failed({ ...known, areAllFlaky: true })).toEqual([{ kind: 'run-failed', run: 1, tests }]);
    });

    it('is no event while a report is being read', () => {
      expect(failed({ ...known, isReading: true })).toEqual([]);
    });

    it('names none while another required check was cancelled or has not ended', () => {
      const required = [...report.required, { name: 'slow', source: null }];
      const withSlow = (slow: readonly Check[]) =>
        reported({ required, checks: [check('failure'), ...slow], failedTests: known }, pushed, adaptive);
      expect(withSlow([{ ...check('success'), name: 'slow' }])).toEqual([
        { kind: 'run-failed', run: 1, tests },
      ]);
      expect(withSlow([{ ...check('cancelled'), name: 'slow' }])).toEqual([{ kind: 'run-failed', run: 1 }]);
      expect(withSlow([])).toEqual([{ kind: 'run-failed', run: 1 }]);
    });
  });

  describe('of a run of some tests that passed', () => {
    const reports = { isReading: false, failedJobs: 0, areAllFlaky: false, lacksResults: false };
    const adaptive = aQueue({ settings: { strategy: 'adaptive' } });
    const passed = (failedTests?: FailedTestsReport) =>
      reported(
        { checks: [check('success')], ...(failedTests === undefined ? {} : { failedTests }) },
        { ...pushed, tests: ['a'] },
        adaptive,
      );

    it('is a pass if its reports have a result for each test', () => {
      expect(passed(reports)).toEqual([{ kind: 'run-passed', run: 1 }]);
    });

    it('says that results are missing if they are, or if there is no report', () => {
      const event = { kind: 'run-passed', run: 1, lacksResults: true };
      expect(passed({ ...reports, lacksResults: true })).toEqual([event]);
      expect(passed()).toEqual([event]);
    });

    it('is no event while a report is being read', () => {
      expect(passed({ ...reports, isReading: true })).toEqual([]);
    });
  });

  it('of a skipped check passes where the queue lets it be skipped', () => {
    const queue = aQueue({ settings: { skippableStatuses: ['ci'] } });
    expect(reported({ checks: [check('skipped')] }, pushed, queue)).toEqual([{ kind: 'run-passed', run: 1 }]);
  });

  it('of a run that could not be started, that failed otherwise, or that conflicts, names the cause', () => {
    expect(reported({ outcome: { kind: 'not_started', why: null } })).toEqual([
      { kind: 'run-not-started', run: 1 },
    ]);
    const why = 'START_TEST_RUN_NO_REQUIRED_STATUSES';
    expect(reported({ outcome: { kind: 'not_started', why } })).toEqual([
      { kind: 'run-not-started', run: 1, why },
    ]);
    expect(reported({ outcome: { kind: 'failed', why } })).toEqual([{ kind: 'run-failed', run: 1, why }]);
    expect(reported({ outcome: { kind: 'conflict', pr: 7, with: 'tip' } })).toEqual([
      { kind: 'conflict', run: 1, pr: 7, with: 'tip' },
    ]);
  });
});
