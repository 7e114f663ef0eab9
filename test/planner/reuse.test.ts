// What is already known is not tested again: known results, the prefix a search proved, and time that nobody had.
import { describe, expect, it } from 'vitest';
import { World } from './world.ts';

const minutes = (count: number) => count * 60_000;
const batches = { batch: true, batchingMinSize: 2, concurrency: 2 } as const;
const reuse = { optimizationMode: 'bisection_skip_redundant_tests' } as const;

const endOf = (world: World, pr: number) => world.facts.findLast((fact) => 'pr' in fact && fact.pr === pr);

describe('a queue that reuses known results', () => {
  it('blames by the run of the whole batch, which is the very same commits', () => {
    const world = new World({ ...batches, ...reuse });
    for (const pr of [1, 2]) world.submit(pr);
    const { id } = world.run('1+2');
    world.fail('1+2');
    world.pass('1');
    expect(endOf(world, 2)).toMatchObject({
      kind: 'failed',
      reason: 'TEST_RUN_FAILED_BY_OPTIMIZATION',
      evidence: { failedRun: id },
    });
  });

  it('runs the whole batch again where it is off', () => {
    const world = new World(batches);
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1+2');
    world.pass('1');
    expect(world.active('search')).toEqual(['1+2']);
    world.fail('1+2');
    expect(endOf(world, 2)).toMatchObject({ kind: 'failed', reason: 'TEST_RUN_REQUIRED_STATUS_FAILED' });
  });

  it('runs it again if another lane landed meanwhile: those are other commits', () => {
    const world = new World({ ...batches, ...reuse, mode: 'parallel', concurrency: 3 });
    world.submit(3, { targets: Uint32Array.of(9), noBatch: true });
    for (const pr of [1, 2]) world.submit(pr, { targets: Uint32Array.of(1) });
    world.pass('3');
    world.fail('1+2');
    world.pass('1');
    expect(world.active('search')).toEqual(['1+2']);
  });

  it('names the reason that a run gave', () => {
    const world = new World({ ...batches, ...reuse });
    for (const pr of [1, 2]) world.submit(pr);
    const why = 'START_TEST_RUN_CONFIG_PARSING_FAILURE';
    world.send({ kind: 'run-failed', run: world.run('1+2').id, why });
    world.pass('1');
    expect(endOf(world, 2)).toMatchObject({ kind: 'failed', reason: why });
  });
});

describe('the prefix that a search proved', () => {
  it('lands as it is, if the branch is where the search began and the line is empty', () => {
    const world = new World({ ...batches, batchingMinSize: 3, bisectionConcurrency: 2 });
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.fail('1+2+3');
    const { id } = world.run('1+2');
    world.pass('1+2');
    world.fail('1+2+3');
    expect(world.merged()).toEqual([1, 2]);
    expect(endOf(world, 2)).toMatchObject({ kind: 'merged', proof: { kind: 'exact', run: id } });
    expect(world.outcome(3)).toBe('failed');
  });

  it('is tested again if something else is under test: nothing there holds it', () => {
    const world = new World(batches);
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1+2');
    world.submit(3, { noBatch: true });
    world.pass('1');
    world.fail('1+2');
    world.fail('2');
    expect(world.outcome(2)).toBe('failed');
    expect([world.merged(), world.active()]).toEqual([[], ['3', '3+1']]);
  });

  it('is tested again if the branch has moved', () => {
    const world = new World(batches);
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1+2');
    world.send({ kind: 'branch-moved', tip: 'X' });
    world.pass('1');
    world.fail('1+2');
    world.fail('2');
    expect([world.merged(), world.outcome(2), world.state(1)]).toEqual([[], 'failed', 'testing']);
    expect(world.run('1').composition.base).toBe('X');
  });
});

describe('while the host is away no time passes', () => {
  it('for the patience with what is not ready', () => {
    const world = new World({ notReadyTimeoutHours: 1 });
    world.submit(1, { ready: false });
    world.advance(minutes(30));
    world.send({ kind: 'host-away' });
    world.advance(minutes(600));
    world.send({ kind: 'host-back' });
    world.advance(minutes(29));
    expect(world.state(1)).toBe('not_ready');
    world.advance(minutes(1));
    expect(endOf(world, 1)).toMatchObject({ kind: 'cancelled', reason: 'NOT_READY_TIMEOUT_EXPIRED' });
  });

  it('for what is submitted meanwhile, no more than it waited', () => {
    const world = new World({ notReadyTimeoutHours: 1 });
    world.send({ kind: 'host-away' });
    world.advance(minutes(600));
    world.submit(1, { ready: false });
    world.advance(minutes(10));
    world.send({ kind: 'host-back' });
    expect(world.wakeAt).toBe(minutes(670));
  });

  it('for a batch that fills', () => {
    const world = new World({ ...batches, batchingMaxWaitTimeMinutes: 5 });
    world.submit(1);
    world.send({ kind: 'host-away' });
    world.advance(minutes(60));
    world.send({ kind: 'host-back' });
    expect(world.active()).toEqual([]);
    world.advance(minutes(5));
    expect(world.active()).toEqual(['1']);
  });
});

describe('a run that could not be started for a stated reason', () => {
  it('fails by that reason when the attempts are used up', () => {
    const world = new World();
    world.submit(1);
    const why = 'START_TEST_RUN_PERMISSIONS_BLOCK_TEST_BRANCH';
    for (let attempt = 0; attempt < 5; attempt++) {
      world.send({ kind: 'run-not-started', run: world.run('1').id, why });
      if (world.outcome(1) === undefined) world.advance(minutes(5));
    }
    expect(endOf(world, 1)).toMatchObject({ kind: 'failed', reason: why });
  });
});

describe('a landing that the host refuses', () => {
  it('fails only the member that the host will not have', () => {
    const world = new World({ canOptimisticallyMerge: true });
    world.landsByItself = false;
    for (const pr of [1, 2]) world.submit(pr);
    world.pass('1+2');
    const landing = world.snapshot.landing!.id;
    world.send({ kind: 'landing-refused', landing, pr: 3, reason: 'MERGE_REFUSED_BY_HOST' });
    expect(world.snapshot.landing?.id).toBe(landing);
    world.send({ kind: 'landing-refused', landing, pr: 2, reason: 'PR_UPDATED_AT_MERGE_TIME' });
    expect(endOf(world, 2)).toMatchObject({ kind: 'failed', reason: 'PR_UPDATED_AT_MERGE_TIME' });
    expect(world.outcome(1)).toBeUndefined();
  });
});

it('a landing of which the host took only the beginning keeps what it took, and fails the one it refused', () => {
  const world = new World({ batch: true, batchingMinSize: 3 });
  world.landsByItself = false;
  for (const pr of [1, 2, 3]) world.submit(pr);
  world.pass('1+2+3');
  const landing = world.snapshot.landing!.id;
  const reason = 'MERGE_REFUSED_BY_HOST';
  world.send({ kind: 'landed-in-part', landing, members: [1], tip: 'T1', pr: 2, reason });
  expect([world.merged(), world.outcome(2), world.snapshot.tip]).toEqual([[1], 'failed', 'T1']);
  world.advance(minutes(5));
  expect(world.run('3').composition).toEqual({ base: 'T1', members: [3], tested: 1 });
});
