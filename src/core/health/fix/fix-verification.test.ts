import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '#base/duration.ts';
import {
  countCleanRuns,
  findFixEnd,
  findFixRunEnd,
  type FixCandidate,
  type FixFacts,
  type FixQueue,
  fixRepeatsMax,
  type OpenFixRun,
  planFixRuns,
} from './fix-verification.ts';

const now = 1_000 * hourMs;

describe('a verification', () => {
  const facts: FixFacts = {
    status: 'flaky',
    isAnyMonitorActive: true,
    isStatusManual: false,
    failure: null,
    endsAt: now + hourMs,
  };

  it.each<[string, Partial<FixFacts>, ReturnType<typeof findFixEnd>]>([
    ['continues while a monitor is active', {}, null],
    ['is over once none is', { status: 'healthy', isAnyMonitorActive: false }, 'fixed'],
    ['is not over because the monitors are muted', { status: 'healthy' }, null],
    ['continues for a broken test that is only flaky now', { status: 'flaky' }, null],
    ['is refuted by a failure as before', { failure: { isKnown: true } }, 'refuted'],
    ['says apart that it failed in a new way', { failure: { isKnown: false } }, 'failed_otherwise'],
    [
      'is refuted even if the monitors have just resolved',
      { failure: { isKnown: true }, status: 'healthy', isAnyMonitorActive: false },
      'refuted',
    ],
    ['ends when its time is over', { endsAt: now }, 'expired'],
    ['ends when a person sets the status', { isStatusManual: true, status: 'healthy' }, 'cancelled'],
  ])('%s', (_name, change, end) => {
    expect(findFixEnd({ ...facts, ...change }, now)).toBe(end);
  });
});

describe('a verification run', () => {
  const run: OpenFixRun = {
    id: 'a',
    pushedAt: now - 10 * minuteMs,
    isVerificationOver: false,
    reports: 0,
    areChecksOver: false,
  };
  const free = { concurrency: 5, busy: 4 };

  it.each<[string, Partial<OpenFixRun>, ReturnType<typeof findFixRunEnd>]>([
    ['continues while CI runs', {}, null],
    ['continues while CI has said nothing', { areChecksOver: null }, null],
    ['continues with reports while other jobs run', { reports: 1 }, null],
    ['is over with its report and every check', { reports: 1, areChecksOver: true }, 'reported'],
    ['ends without a report some minutes after its checks', { areChecksOver: true }, 'no_report'],
    ['waits these minutes', { areChecksOver: true, pushedAt: now - minuteMs }, null],
    ['ends after two hours', { pushedAt: now - 2 * hourMs }, 'no_report'],
    ['ends after two hours with what was reported', { pushedAt: now - 2 * hourMs, reports: 1 }, 'reported'],
    ['is stopped with its verification', { isVerificationOver: true, reports: 1 }, 'stopped'],
    ['is stopped if it was not pushed', { pushedAt: null }, 'stopped'],
  ])('%s', (_name, change, end) => {
    expect(findFixRunEnd({ ...run, ...change }, free, now)).toBe(end);
  });

  it('gives way when pull requests use every slot', () => {
    expect(findFixRunEnd(run, { concurrency: 5, busy: 5 }, now)).toBe('gave_way');
  });
});

describe('the plan of verification runs', () => {
  const queue: FixQueue = {
    concurrency: 5,
    busy: 4,
    isRunning: true,
    usesDraftPullRequests: false,
    canSelectTests: true,
    runsPerDay: 24,
    runsToday: 0,
  };
  const candidate: FixCandidate = {
    id: 'a',
    missing: 214,
    hasLanded: true,
    isTipTested: false,
    unreported: 0,
    lastRunAt: 0,
  };
  const plan = (change: Partial<FixQueue>, ...candidates: readonly Partial<FixCandidate>[]) =>
    planFixRuns(
      { ...queue, ...change },
      candidates.map((own) => ({ ...candidate, ...own })),
      false,
    );

  it('repeats as often as clean runs are missing, up to a limit and at least twice', () => {
    expect(plan({}, {}).start).toEqual({ id: 'a', repeats: fixRepeatsMax });
    expect(plan({}, { missing: 23 }).start).toEqual({ id: 'a', repeats: 23 });
    expect(plan({}, { missing: 1 }).start).toEqual({ id: 'a', repeats: 2 });
    expect(plan({}, { missing: null }).start).toEqual({ id: 'a', repeats: 10 });
  });

  it.each<[string, Partial<FixQueue>, Partial<FixCandidate>]>([
    ['off', { runsPerDay: 0 }, {}],
    ['draft_pull_requests', { usesDraftPullRequests: true }, {}],
    ['cannot_select', { canSelectTests: false }, { hasLanded: false }],
    ['not_landed', { busy: 5 }, { hasLanded: false }],
    ['no_report', {}, { unreported: 2 }],
    ['next_commit', {}, { isTipTested: true, missing: null }],
    ['next_commit', {}, { isTipTested: true, missing: 0 }],
    ['queue_stopped', { isRunning: false, busy: 5 }, {}],
    ['busy', { busy: 5, runsToday: 24 }, {}],
    ['budget', { runsToday: 24 }, {}],
  ])('starts none and says %s', (wait, ofQueue, own) => {
    const { start, waits } = plan(ofQueue, own);
    expect(start).toBeNull();
    expect(waits.get('a')).toBe(wait);
  });

  it('starts another one on the same tip while clean runs are missing', () => {
    expect(plan({}, { isTipTested: true }).start).not.toBeNull();
  });

  it('starts one run at a time, and takes the verification that has waited longest', () => {
    const two = [candidate, { ...candidate, id: 'b', lastRunAt: 2 }];
    const waiting = [{ ...candidate, lastRunAt: 3 }, two[1]!];
    expect(planFixRuns(queue, waiting, false).start?.id).toBe('b');
    const during = planFixRuns(queue, two, true);
    expect(during.start).toBeNull();
    expect([...during.waits.values()]).toEqual([null, null]);
  });
});

it('counts as many clean runs as were asked for, the job says and the report has, whichever is least', () => {
  expect(countCleanRuns({ asked: 50, said: 50, attempts: 50 })).toBe(50);
  // The tests of a table have one name, and one repeat has three cases of it.
  expect(countCleanRuns({ asked: 50, said: 50, attempts: 150 })).toBe(50);
  expect(countCleanRuns({ asked: 50, said: 20, attempts: 20 })).toBe(20);
  expect(countCleanRuns({ asked: 50, said: 1, attempts: 3 })).toBe(1);
  expect(countCleanRuns({ asked: 5, said: 1_000, attempts: 1_000 })).toBe(5);
});
