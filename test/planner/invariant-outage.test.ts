// The invariants about entries that CI gave no result for, and about entries that may not be tested.
import { describe, expect, it } from 'vitest';
import { outageRepeatsMax } from '#core/queue/planner/clock.ts';
import { findViolations, violationsOfStep } from '#core/queue/planner/invariant.ts';
import type { PlannerFact, Run, Snapshot } from '#core/queue/planner/model.ts';
import type { FailedReason } from '#core/queue/reason.ts';
import { World } from './world.ts';

/** #1 and #2 in lanes of their own. */
function lanes(): World {
  const world = new World({ mode: 'parallel' });
  world.landsByItself = false;
  for (const pr of [1, 2]) world.submit(pr, { targets: Uint32Array.of(pr) });
  return world;
}

const withRuns = (snapshot: Snapshot, change: Partial<Run>): Snapshot => ({
  ...snapshot,
  runs: new Map([...snapshot.runs].map(([id, run]) => [id, { ...run, ...change }])),
});

describe('an entry that CI gave no result for', () => {
  const world = lanes();
  const failed = (pr: number, reason: FailedReason): PlannerFact => {
    const failedRun = world.run(String(pr)).id;
    return { kind: 'failed', pr, reason, evidence: { failedRun } };
  };
  const inconclusive = withRuns(world.snapshot, { status: 'infrastructure', attempt: 3 });
  const wrong = (before: Snapshot, ...facts: PlannerFact[]) =>
    violationsOfStep(before, { snapshot: before, facts, actions: [] });
  const removedInOutage = (pr: number, reason: FailedReason) =>
    `#${pr} failed (${reason}) although CI has given no result since the last entry was removed for that`;

  it.each(['TEST_RUN_REQUIRED_STATUS_FAILED', 'TEST_RUN_FAILED_BY_OPTIMIZATION'] as const)(
    'is not removed with %s, since no check failed',
    (reason) => {
      const run = world.run('1').id;
      expect(wrong(inconclusive, failed(1, reason))).toEqual([
        `#1 failed (${reason}) by run ${run}, in which no check failed`,
      ]);
      expect(wrong(withRuns(world.snapshot, { status: 'failed' }), failed(1, reason))).toEqual([]);
    },
  );

  it.each(['TEST_RUN_INFRASTRUCTURE_FAILED', 'TEST_RUN_TIMEOUT', 'START_TEST_RUN_RETRY_EXHAUSTED'] as const)(
    'is removed with %s once, and no other entry before CI has given a result',
    (reason) => {
      expect(wrong(inconclusive, failed(1, reason))).toEqual([]);
      expect(wrong(inconclusive, failed(1, reason), failed(2, reason))).toEqual([removedInOutage(2, reason)]);
      expect(wrong({ ...inconclusive, outageSince: 0 }, failed(1, reason))).toEqual([
        removedInOutage(1, reason),
      ]);
    },
  );

  it('is removed in an outage if it was repeated for hours', () => {
    const before = { ...withRuns(inconclusive, { attempt: outageRepeatsMax }), outageSince: 0 };
    expect(wrong(before, failed(1, 'TEST_RUN_TIMEOUT'))).toEqual([]);
    const earlier = { ...withRuns(inconclusive, { attempt: outageRepeatsMax - 1 }), outageSince: 0 };
    expect(wrong(earlier, failed(1, 'TEST_RUN_TIMEOUT'))).toHaveLength(1);
  });

  it('does not keep entries in the queue whose checks failed', () => {
    const before = { ...withRuns(world.snapshot, { status: 'failed' }), outageSince: 0 };
    const red = failed(1, 'TEST_RUN_REQUIRED_STATUS_FAILED');
    expect(wrong(before, red, failed(2, 'TEST_RUN_REQUIRED_STATUS_FAILED'))).toEqual([]);
  });
});

describe('an entry that is not ready', () => {
  const unready = (snapshot: Snapshot, pr: number): Snapshot => ({
    ...snapshot,
    items: new Map(snapshot.items).set(pr, { ...snapshot.items.get(pr)!, ready: false }),
  });

  it('is not under test', () => {
    expect(findViolations(unready(lanes().snapshot, 1))).toEqual(['#1 is under test and not ready']);
  });

  it('is not bisected', () => {
    const world = new World({ batch: true, batchingMinSize: 2 });
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1+2');
    expect(findViolations(unready(world.snapshot, 2))).toEqual(['#2 is under test and not ready']);
  });

  it('may be landing already', () => {
    const world = lanes();
    world.pass('1');
    expect(world.snapshot.landing?.members).toEqual([1]);
    expect(findViolations(unready(world.snapshot, 1))).toEqual([]);
    expect(findViolations(unready(world.snapshot, 2))).toEqual(['#2 is under test and not ready']);
  });

  it('may wait', () => {
    const world = new World();
    world.submit(1, { ready: false });
    expect(findViolations(world.snapshot)).toEqual([]);
  });
});
