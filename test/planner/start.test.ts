// Who starts, on top of what, and whom an urgent one sends back.
import { describe, expect, it } from 'vitest';
import { plan } from '#core/queue/planner/plan.ts';
import type { Proposal, Strategy } from '#core/queue/planner/strategy.ts';
import { World } from './world.ts';

const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });
const groups = (world: World) => world.snapshot.line.map(({ members }) => members);
const reasonsOf = (world: World, pr: number) =>
  world.facts.flatMap((fact) => (fact.kind === 'queued' && fact.pr === pr ? [fact.reason] : []));

describe('free slots', () => {
  it('are filled in order, and no more than there are', () => {
    const world = new World({ concurrency: 2 });
    for (const pr of [3, 1, 2]) world.submit(pr, { seniority: pr });
    expect(world.active()).toEqual(['3', '3+1']);
    world.pass('3');
    expect(world.active()).toEqual(['1', '1+2']);
  });

  it('are not filled while something lands', () => {
    const world = new World({ concurrency: 1 });
    world.landsByItself = false;
    for (const pr of [1, 2]) world.submit(pr);
    world.pass('1');
    expect([world.active(), world.state(2)]).toEqual([[], 'pending']);
    world.send({ kind: 'landed', landing: world.snapshot.landing!.id, tip: 'T1' });
    expect(world.active()).toEqual(['2']);
  });

  it('are not filled in a paused queue, and a draining one goes on with what it has', () => {
    const world = new World({ concurrency: 1 });
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'state', state: 'PAUSED' });
    world.fail('1');
    expect([world.outcome(1), world.active()]).toEqual(['failed', []]);
    world.send({ kind: 'state', state: 'DRAINING' });
    expect(world.active()).toEqual(['2']);
  });

  it('go to what was under test before in a queue that switches modes, and to nobody else', () => {
    const world = new World({ concurrency: 1 });
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'settings', settings: { mode: 'parallel' } });
    world.send({ kind: 'branch-moved', tip: 'X' });
    expect([world.active(), world.state(2), world.snapshot.state]).toEqual([
      ['1'],
      'pending',
      'SWITCHING_MODES',
    ]);
    world.pass('1');
    const { state, settings } = world.snapshot;
    expect([world.active(), state, settings.mode]).toEqual([['2'], 'RUNNING', 'parallel']);
  });

  it('stay free for what was not under test yet while the queue switches modes', () => {
    const world = new World({ concurrency: 1 });
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'settings', settings: { mode: 'parallel', concurrency: 5 } });
    expect([world.snapshot.state, world.active()]).toEqual(['SWITCHING_MODES', ['1']]);
    world.pass('1');
    expect(world.active()).toEqual(['2']);
  });

  it('go to one that conflicts with somebody only when that one has landed', () => {
    const world = new World();
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.send({ kind: 'conflict', run: world.run('1+2').id, pr: 2, with: 1 });
    expect(world.place(2)).toMatchObject({ kind: 'pending', behind: 1, restarting: true });
    expect(world.active()).toEqual(['1', '1+3']);
    world.pass('1');
    expect(world.active()).toEqual(['3', '3+2']);
  });
});

describe('what is started', () => {
  it('is said of every member, with the run', () => {
    const world = new World({ batch: true, batchingMinSize: 2 });
    for (const pr of [1, 2]) world.submit(pr);
    const { id } = world.run('1+2');
    expect(world.facts.filter(({ kind }) => kind === 'testing')).toEqual([
      { kind: 'testing', pr: 1, run: id },
      { kind: 'testing', pr: 2, run: id },
    ]);
    expect(world.run('1+2')).toEqual({
      ...world.run('1+2'),
      of: { kind: 'line', group: world.snapshot.line[0]!.id },
      composition: { base: 'T', members: [1, 2], tested: 2 },
      status: 'starting',
      requestedAt: 0,
      startedAt: null,
      attempt: 0,
      notBefore: 0,
      drifted: false,
      overtaken: false,
    });
  });
});

describe('an urgent entry', () => {
  const urgent = { priority: 0 };

  it('sends back who shares a target with it, and who depends on those, in their order', () => {
    const world = new World({ mode: 'parallel', concurrency: 5 });
    world.submit(1, on(1));
    world.submit(2, on(1, 2));
    world.submit(3, on(2));
    world.submit(4, on(4));
    world.submit(9, { ...urgent, ...on(1) });
    expect(world.active()).toEqual(['4', '9', '9+1', '9+1+2', '9+1+2+3']);
    expect(reasonsOf(world, 3)).toEqual(['MERGE_ITEM_NOW_READY', 'SKIP_THE_LINE_INTERRUPTED']);
    expect(reasonsOf(world, 4)).toEqual(['MERGE_ITEM_NOW_READY']);
  });

  it('stays behind another urgent one', () => {
    const world = new World({ concurrency: 3 });
    world.submit(8, urgent);
    world.submit(9, urgent);
    expect(world.active()).toEqual(['8', '8+9']);
    expect(reasonsOf(world, 8)).toEqual(['MERGE_ITEM_NOW_READY']);
  });

  it('stays behind a batch that holds an urgent one', () => {
    const world = new World({ concurrency: 3, batch: true, batchingMinSize: 2 });
    for (const pr of [1, 2]) world.submit(pr);
    world.send({ kind: 'rewritten', pr: 2, priority: 0, noBatch: false });
    world.submit(9, urgent);
    expect(world.active()).toEqual(['1+2', '1+2+9']);
  });

  it('stays behind what is landing', () => {
    const world = new World({ concurrency: 3 });
    world.landsByItself = false;
    for (const pr of [1, 2]) world.submit(pr);
    world.pass('1');
    world.submit(9, urgent);
    expect(groups(world)).toEqual([[1], [9]]);
    expect(world.active()).toEqual(['1+9']);
  });

  it('takes the slot of the last one under test where it shares nothing with anybody', () => {
    const world = new World({ mode: 'parallel', concurrency: 2 });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.send({ kind: 'run-started', run: world.run('2').id });
    world.submit(9, { ...urgent, ...on(9) });
    expect(world.active()).toEqual(['1', '9']);
    expect(reasonsOf(world, 2)).toEqual(['MERGE_ITEM_NOW_READY', 'SKIP_THE_LINE_INTERRUPTED']);
  });

  it('sends nobody back whose tests are over: that would free no slot', () => {
    const world = new World({ mode: 'parallel', concurrency: 3 });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.submit(3, on(1));
    world.pass('1+3');
    world.send({ kind: 'settings', settings: { concurrency: 2 } });
    world.submit(9, { ...urgent, ...on(9) });
    expect(world.active()).toEqual(['1', '9']);
    expect([world.state(2), world.state(3)]).toEqual(['pending', 'tests_passed']);
  });

  it('waits where only urgent ones are under test', () => {
    const world = new World({ mode: 'parallel', concurrency: 1 });
    world.submit(8, { ...urgent, ...on(8) });
    world.submit(9, { ...urgent, ...on(9) });
    expect([world.active(), world.state(9)]).toEqual([['8'], 'pending']);
  });

  it('that is one of several goes ahead with each', () => {
    const world = new World({ concurrency: 3 });
    world.submit(1);
    world.send({ kind: 'state', state: 'DRAINING' });
    for (const pr of [7, 8]) world.submit(pr, urgent);
    world.send({ kind: 'state', state: 'RUNNING' });
    expect(world.active()).toEqual(['7', '7+8', '7+8+1']);
  });

  it('does not start in a paused queue', () => {
    const world = new World();
    world.submit(1);
    world.submit(2, { ready: false, ...urgent });
    world.send({ kind: 'state', state: 'DRAINING' });
    world.send({ kind: 'state', state: 'PAUSED' });
    world.send({ kind: 'readiness', pr: 2, ready: true });
    expect([world.active(), world.state(2)]).toEqual([['1'], 'not_ready']);
  });
});

describe('what a strategy proposes', () => {
  const pendingWorld = () => {
    const world = new World({ concurrency: 3 });
    world.send({ kind: 'state', state: 'PAUSED' });
    world.send({ kind: 'state', state: 'DRAINING' });
    for (const pr of [1, 2, 3]) world.submit(pr);
    world.snapshot = { ...world.snapshot, state: 'RUNNING' };
    return world;
  };
  const started = (strategy: Strategy) =>
    plan(pendingWorld().snapshot, 0, strategy).actions.flatMap((action) =>
      action.kind === 'start-run' ? [action.run.composition.members.join('+')] : [],
    );
  /** Proposes once, then nothing more. */
  const once = (...proposals: Proposal[]): Strategy => {
    let asked = false;
    return {
      screens: false,
      propose: () => {
        const first = !asked;
        asked = true;
        return { proposals: first ? proposals : [], wakeAt: null };
      },
    };
  };

  it('is started as far as it is sound: known entries, each once, and not nobody', () => {
    expect(started(once({ members: [1] }, { members: [] }, { members: [1] }, { members: [9] }))).toEqual([
      '1',
    ]);
    expect(started(once({ members: [2] }, { members: [3, 2] }, { members: [1] }))).toEqual(['2', '2+1']);
  });

  it('is started only as far as there are slots', () => {
    const world = pendingWorld();
    world.snapshot = { ...world.snapshot, settings: { ...world.snapshot.settings, concurrency: 2 } };
    const { actions } = plan(world.snapshot, 0, once({ members: [1] }, { members: [2] }, { members: [3] }));
    expect(actions).toHaveLength(2);
  });

  it('is not asked for where nothing could start', () => {
    const asked: number[] = [];
    const strategy: Strategy = {
      screens: false,
      propose: ({ free }) => {
        asked.push(free);
        return { proposals: [], wakeAt: null };
      },
    };
    const full = new World({ concurrency: 1 });
    for (const pr of [1, 2]) full.submit(pr);
    plan(full.snapshot, 0, strategy);
    plan(new World().snapshot, 0, strategy);
    expect(asked).toEqual([]);
    plan(pendingWorld().snapshot, 0, strategy);
    expect(asked).toEqual([3]);
  });

  it('wakes the queue when the strategy wants to', () => {
    const strategy: Strategy = { screens: false, propose: () => ({ proposals: [], wakeAt: 77 }) };
    expect(plan(pendingWorld().snapshot, 0, strategy).wakeAt).toBe(77);
    // An instant that has passed is no reason to wake.
    expect(plan(pendingWorld().snapshot, 77, strategy).wakeAt).not.toBe(77);
  });
});
