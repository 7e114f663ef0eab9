// What an event changes by itself, and what it leaves alone.
import { describe, expect, it } from 'vitest';
import { type Input, take } from './reading.ts';
import { anItem, World } from './world.ts';

const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });
const reasonsOf = (world: World, pr: number) =>
  world.facts.flatMap((fact) => (fact.kind === 'queued' && fact.pr === pr ? [fact.reason] : []));

const seen = (world: World, event: Input) => take(world.snapshot, event, world.now);
const nothingChanged = (world: World) => ({ snapshot: world.snapshot, facts: [], actions: [] });

describe('a pull request', () => {
  it('that is submitted waits to be ready, and knows nothing of the past', () => {
    const world = new World();
    const { snapshot } = seen(world, { kind: 'submitted', item: anItem(7, { submittedAt: 5 }) });
    expect(snapshot.items.get(7)).toMatchObject({
      pr: 7,
      submittedAt: 5,
      place: { kind: 'not_ready' },
      queuedAt: null,
      endRequested: null,
      testedOnTip: null,
    });
  });

  it('that is submitted again while it is live keeps what it has', () => {
    const world = new World();
    world.submit(1);
    expect(seen(world, { kind: 'submitted', item: anItem(1, { priority: 0, seniority: 99 }) })).toEqual(
      nothingChanged(world),
    );
  });

  it('can have its wishes rewritten', () => {
    const world = new World({ concurrency: 1 });
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.send({ kind: 'rewritten', pr: 3, priority: 10, noBatch: true });
    expect(world.snapshot.items.get(3)).toMatchObject({ priority: 10, noBatch: true, seniority: 3 });
    world.pass('1');
    expect(world.active()).toEqual(['3']);
  });

  it('that is not live is not brought back by news about it', () => {
    const world = new World();
    world.submit(1);
    const news: Input[] = [
      { kind: 'rewritten', pr: 9, priority: 1, noBatch: true },
      { kind: 'readiness', pr: 9, ready: true },
      { kind: 'targets', pr: 9, targets: 'ALL' },
      { kind: 'tested-on-tip', pr: 9, tip: 'T' },
      { kind: 'ended', pr: 9, reason: 'PR_CLOSED' },
      { kind: 'merged-by-hand', pr: 9, tip: 'X' },
      { kind: 'restart', pr: 9 },
    ];
    for (const event of news) expect(seen(world, event)).toEqual(nothingChanged(world));
  });

  it('that ends is cancelled with the reason, its tests are stopped, and those on top begin anew', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    const { id } = world.run('1');
    const { facts, actions } = seen(world, { kind: 'ended', pr: 1, reason: 'PR_CLOSED' });
    expect(facts).toEqual([{ kind: 'cancelled', pr: 1, reason: 'PR_CLOSED' }]);
    expect(actions).toEqual([{ kind: 'cancel-run', run: id }]);
    world.send({ kind: 'ended', pr: 1, reason: 'PR_CLOSED' });
    expect(reasonsOf(world, 2)).toEqual(['MERGE_ITEM_NOW_READY', 'PREREQUISITE_MERGE_ITEM_CANCELLED']);
    expect(world.active()).toEqual(['2']);
  });

  it('that leaves its batch lets the others begin anew, and they say why', () => {
    const world = new World({ batch: true, batchingMinSize: 3 });
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.send({ kind: 'ended', pr: 2, reason: 'PR_PUSHED_TO' });
    expect(world.active()).toEqual(['1+3']);
    expect(reasonsOf(world, 3).at(-1)).toBe('PREREQUISITE_MERGE_ITEM_CANCELLED');
  });

  it('that is no longer ready under test leaves the line at once, and comes back with its seniority', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    const { id } = world.run('1');
    const { seniority } = world.snapshot.items.get(1)!;
    world.send({ kind: 'readiness', pr: 1, ready: false });
    expect([world.state(1), world.state(2), world.active()]).toEqual(['not_ready', 'testing', ['2']]);
    expect(world.snapshot.runs.has(id)).toBe(false);
    expect(world.facts).toContainEqual({ kind: 'unready', pr: 1 });
    expect(reasonsOf(world, 2).at(-1)).toBe('PREREQUISITE_MERGE_ITEM_CANCELLED');
    world.send({ kind: 'readiness', pr: 1, ready: true });
    expect([world.state(1), world.active()]).toEqual(['testing', ['2', '2+1']]);
    expect(world.snapshot.items.get(1)!.seniority).toBe(seniority);
  });

  it('that is no longer ready leaves its batch, and the others are tested without it', () => {
    const world = new World({ batch: true, batchingMinSize: 3 });
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.send({ kind: 'readiness', pr: 2, ready: false });
    expect([world.state(2), world.active()]).toEqual(['not_ready', ['1+3']]);
  });

  it('that is no longer ready leaves the search of its batch, which ends', () => {
    const world = new World({ batch: true, batchingMinSize: 4, bisectionConcurrency: 1 });
    for (const pr of [1, 2, 3, 4]) world.submit(pr);
    world.fail('1+2+3+4');
    expect(world.snapshot.searches).toHaveLength(1);
    world.send({ kind: 'readiness', pr: 2, ready: false });
    expect([world.state(2), world.snapshot.searches]).toEqual(['not_ready', []]);
  });

  it('that is no longer ready while it lands leaves only if the landing does not happen', () => {
    const landing = () => {
      const world = new World();
      world.landsByItself = false;
      world.submit(1);
      world.pass('1');
      const { id } = world.snapshot.landing!;
      world.send({ kind: 'readiness', pr: 1, ready: false });
      expect(world.state(1)).toBe('tests_passed');
      return { world, id };
    };
    const lost = landing();
    lost.world.send({ kind: 'landing-lost', landing: lost.id, tip: lost.world.snapshot.tip });
    expect([lost.world.state(1), lost.world.snapshot.landing]).toEqual(['not_ready', null]);
    const done = landing();
    done.world.send({ kind: 'landed', landing: done.id, tip: 'X' });
    expect(done.world.facts.at(-1)).toMatchObject({ kind: 'merged', pr: 1 });
  });
});

describe('a restart', () => {
  it('runs the same composition again, in place, as a first attempt', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    const old = world.run('1+2').id;
    const { actions } = seen(world, { kind: 'restart', pr: 2 });
    expect(actions).toEqual([{ kind: 'cancel-run', run: old }]);
    world.send({ kind: 'restart', pr: 2 });
    expect(world.run('1+2').id).not.toBe(old);
    expect(world.run('1+2')).toMatchObject({ attempt: 0, status: 'starting' });
    expect(world.active()).toEqual(['1', '1+2']);
  });

  it('gives one that failed another chance', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1+2');
    const { actions } = seen(world, { kind: 'restart', pr: 2 });
    expect(actions).toEqual([]);
    world.send({ kind: 'restart', pr: 2 });
    expect([world.state(2), world.active()]).toEqual(['testing', ['1', '1+2']]);
  });

  it('is no matter for one that is pending, is landing, or is searched', () => {
    const world = new World({ concurrency: 1 });
    world.landsByItself = false;
    for (const pr of [1, 2]) world.submit(pr);
    expect(seen(world, { kind: 'restart', pr: 2 })).toEqual(nothingChanged(world));
    world.pass('1');
    expect(seen(world, { kind: 'restart', pr: 1 })).toEqual(nothingChanged(world));

    const searching = new World({ batch: true, batchingMinSize: 2 });
    for (const pr of [1, 2]) searching.submit(pr);
    searching.fail('1+2');
    expect(seen(searching, { kind: 'restart', pr: 1 })).toEqual(nothingChanged(searching));
  });
});

describe('other targets', () => {
  it('make nothing of a run that is exact', () => {
    const world = new World({ mode: 'parallel' });
    world.submit(1, on(1));
    const { id } = world.run('1');
    world.send({ kind: 'targets', pr: 1, targets: Uint32Array.from([2]) });
    expect(world.run('1').id).toBe(id);
  });

  it('of one that other lanes have overtaken begin its tests anew, and nobody else’s', () => {
    const world = new World({ mode: 'parallel' });
    for (const pr of [1, 2, 3]) world.submit(pr, on(pr));
    world.pass('3');
    const [one, two] = [world.run('1'), world.run('2')];
    expect([one.drifted, two.drifted]).toEqual([true, true]);
    world.send({ kind: 'targets', pr: 2, targets: Uint32Array.from([2, 9]) });
    expect(world.run('2').id).not.toBe(two.id);
    expect(world.run('2').drifted).toBe(false);
    expect(world.run('1').id).toBe(one.id);
    expect(reasonsOf(world, 2).at(-1)).toBe('TESTS_RESTARTED_BY_API_REQUEST');
  });

  it('of one that is landing leave the landing alone', () => {
    const world = new World({ mode: 'parallel' });
    for (const pr of [1, 3]) world.submit(pr, on(pr));
    world.pass('3');
    world.landsByItself = false;
    world.pass('1');
    const { landing } = world.snapshot;
    world.send({ kind: 'targets', pr: 1, targets: Uint32Array.from([1, 9]) });
    expect(world.snapshot.landing).toEqual(landing);
    world.send({ kind: 'landed', landing: landing!.id, tip: 'L' });
    expect(world.merged()).toEqual([3, 1]);
  });
});

describe('a conflict', () => {
  it('with the branch fails the change at once, without a run that shows it', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'conflict', run: world.run('1+2').id, pr: 2, with: 'tip' });
    expect(world.facts.at(-1)).toEqual({
      kind: 'failed',
      pr: 2,
      reason: 'START_TEST_RUN_MERGE_CONFLICT',
      evidence: null,
    });
    expect(world.active()).toEqual(['1']);
  });

  it('within a batch takes the one out, and the others go on without it', () => {
    const world = new World({ batch: true, batchingMinSize: 3 });
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.send({ kind: 'conflict', run: world.run('1+2+3').id, pr: 3, with: 1 });
    expect(world.place(3)).toMatchObject({ kind: 'pending', behind: 1 });
    expect(world.active()).toEqual(['1+2']);
    for (const pr of [2, 3]) expect(reasonsOf(world, pr).at(-1)).toBe('PREREQUISITE_MERGE_ITEM_FAILED');
  });

  it('within a batch that is searched ends the search: the others are tested alone', () => {
    const world = new World({ batch: true, batchingMinSize: 3, concurrency: 3 });
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.fail('1+2+3');
    const { id } = world.run('1+2');
    world.send({ kind: 'conflict', run: id, pr: 2, with: 1 });
    expect(world.snapshot.searches).toEqual([]);
    expect([world.active(), world.active('search')]).toEqual([['1', '1+3'], []]);
    expect(world.place(2)).toMatchObject({ kind: 'pending', behind: 1 });
    expect(reasonsOf(world, 2).at(-1)).toBe('PREREQUISITE_MERGE_ITEM_FAILED');
    expect(reasonsOf(world, 3).at(-1)).toBe('BISECTION_REQUIRED');
  });

  it('that is reported for a run that is over, or unknown, is no matter', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    const { id } = world.run('1+2');
    world.fail('1+2');
    expect(seen(world, { kind: 'conflict', run: id, pr: 2, with: 'tip' })).toEqual(nothingChanged(world));
    expect(seen(world, { kind: 'conflict', run: 999, pr: 2, with: 'tip' })).toEqual(nothingChanged(world));
  });

  it('of one that left is the machinery’s: the rest is tried again', () => {
    const world = new World({ mode: 'parallel' });
    world.submit(1, on(1));
    world.submit(2, on(1, 2));
    const { id } = world.run('1+2');
    const { snapshot } = seen(world, { kind: 'conflict', run: id, pr: 9, with: 1 });
    expect(snapshot.runs.get(id)).toMatchObject({ status: 'start_failed', notBefore: 15_000 });
  });
});

describe('the branch', () => {
  it('is where it was moved to, and everybody begins anew there', () => {
    const world = new World();
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'branch-moved', tip: 'X' });
    expect(world.snapshot.tip).toBe('X');
    expect(world.active()).toEqual(['1', '1+2']);
    for (const pr of [1, 2]) expect(reasonsOf(world, pr).at(-1)).toBe('MANUAL_PUSH_TO_TARGET_BRANCH');
  });
});

describe('the outcome of a landing', () => {
  it('is passed over if it is about another one', () => {
    const world = new World();
    world.landsByItself = false;
    world.submit(1);
    world.pass('1');
    const landing = world.snapshot.landing!.id + 1;
    expect(seen(world, { kind: 'landed', landing, tip: 'X' })).toEqual(nothingChanged(world));
    expect(seen(world, { kind: 'landing-lost', landing, tip: 'X' })).toEqual(nothingChanged(world));
    expect(seen(world, { kind: 'landing-refused', landing, pr: 1, reason: 'MERGE_REFUSED_BY_HOST' })).toEqual(
      nothingChanged(world),
    );
  });
});

describe('the state of a queue', () => {
  it('is set freely, but not while it switches modes', () => {
    const world = new World();
    world.send({ kind: 'state', state: 'DRAINING' });
    expect(world.snapshot.state).toBe('DRAINING');
    world.send({ kind: 'state', state: 'RUNNING' });
    world.submit(1);
    world.send({ kind: 'settings', settings: { mode: 'parallel' } });
    expect(world.snapshot).toMatchObject({
      state: 'SWITCHING_MODES',
      settings: { mode: 'single' },
      switching: { mode: 'parallel', returnTo: 'RUNNING' },
    });
  });

  it('changes mode at once with nothing under test', () => {
    const world = new World();
    world.send({ kind: 'settings', settings: { mode: 'parallel', concurrency: 7 } });
    expect(world.snapshot).toMatchObject({
      state: 'RUNNING',
      settings: { mode: 'parallel', concurrency: 7 },
      switching: null,
    });
  });

  it('waits with the mode while a batch is searched', () => {
    const world = new World({ batch: true, batchingMinSize: 2 });
    for (const pr of [1, 2]) world.submit(pr);
    world.fail('1+2');
    world.send({ kind: 'settings', settings: { mode: 'parallel' } });
    expect([world.snapshot.state, world.snapshot.line, world.snapshot.settings.mode]).toEqual([
      'SWITCHING_MODES',
      [],
      'single',
    ]);
  });

  it('takes other settings at once while it switches, and no second mode', () => {
    const world = new World();
    world.submit(1);
    world.send({ kind: 'settings', settings: { mode: 'parallel' } });
    world.send({ kind: 'settings', settings: { mode: 'single', concurrency: 7 } });
    world.send({ kind: 'settings', settings: { concurrency: 9, batch: true } });
    world.send({ kind: 'state', state: 'PAUSED' });
    expect(world.snapshot).toMatchObject({
      state: 'SWITCHING_MODES',
      settings: { mode: 'single', concurrency: 9, batch: true },
      switching: { mode: 'parallel', returnTo: 'RUNNING' },
    });
  });

  it('stays as it is by a mode that it has already', () => {
    const world = new World();
    world.submit(1);
    world.send({ kind: 'settings', settings: { mode: 'single', concurrency: 9 } });
    expect(world.snapshot).toMatchObject({ state: 'RUNNING', settings: { concurrency: 9 }, switching: null });
  });

  it('returns to what it was before when the switch is done', () => {
    const world = new World();
    world.submit(1);
    world.send({ kind: 'state', state: 'DRAINING' });
    world.send({ kind: 'settings', settings: { mode: 'parallel' } });
    world.pass('1');
    expect(world.snapshot).toMatchObject({
      state: 'DRAINING',
      settings: { mode: 'parallel' },
      switching: null,
    });
  });
});
