// Which runs of the line are still about something that can happen, and what becomes of the groups that have none.
import { describe, expect, it } from 'vitest';
import { Draft } from '#core/queue/planner/draft.ts';
import { pruneLine, showLine, viewLine } from '#core/queue/planner/line.ts';
import type { Composition, Run, Snapshot } from '#core/queue/planner/model.ts';
import { World } from './world.ts';

const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });

/** A line of three: each a group of its own. */
function three(settings: ConstructorParameters<typeof World>[0] = {}): World {
  const world = new World(settings);
  for (const pr of [1, 2, 3]) world.submit(pr);
  return world;
}

/** #1 and #2 in lanes of their own, and #3 on top of both. */
function lanes(): World {
  const world = new World({ mode: 'parallel' });
  world.submit(1, on(1));
  world.submit(2, on(2));
  world.submit(3, on(1, 2));
  return world;
}

/** The same with these runs instead of some, or beside the others. */
const withRuns = (snapshot: Snapshot, ...runs: readonly Run[]): Snapshot => ({
  ...snapshot,
  runs: new Map([...snapshot.runs, ...runs.map((run) => [run.id, run] as const)]),
});

const composed = (run: Run, composition: Partial<Composition>, id = run.id): Run => ({
  ...run,
  id,
  composition: { ...run.composition, ...composition },
});

const ids = (runs: readonly Run[]): number[] => runs.map(({ id }) => id);

describe('a run of the line', () => {
  /** Whether a run of the last group with this composition is about something that can happen. */
  const isPossible = (world: World, last: string, composition: Partial<Composition>): boolean => {
    const run = composed(world.run(last), composition);
    const view = viewLine(new Draft(withRuns(world.snapshot, run), 0)).at(-1)!;
    expect([...view.runs, ...view.dead]).toEqual([run]);
    return view.runs.length === 1;
  };

  it('may be on top of all, some or none of what is ahead', () => {
    for (const members of [[1, 2, 3], [1, 3], [2, 3], [3]])
      expect(isPossible(three(), '1+2+3', { members })).toBe(true);
  });

  it('must be on the tip', () => {
    expect(isPossible(three(), '1+2+3', { base: 'X' })).toBe(false);
  });

  it('must be about exactly its group', () => {
    expect(isPossible(three(), '1+2+3', { members: [1, 2, 4] })).toBe(false);
    expect(isPossible(three(), '1+2+3', { tested: 2 })).toBe(false);
    expect(isPossible(three(), '1+2+3', { members: [1, 2, 3, 3], tested: 2 })).toBe(false);
  });

  it('must be on top of what is in the line, in its order, each once', () => {
    for (const members of [
      [2, 1, 3],
      [1, 1, 3],
      [9, 3],
      [3, 3],
    ])
      expect(isPossible(three(), '1+2+3', { members })).toBe(false);
  });

  it('must be on top of a batch in the order of the batch', () => {
    const batches = () => {
      const world = new World({ batch: true, batchingMinSize: 2 });
      for (const pr of [1, 2]) world.submit(pr);
      world.submit(3, { noBatch: true });
      return world;
    };
    expect(isPossible(batches(), '1+2+3', { members: [1, 2, 3] })).toBe(true);
    expect(isPossible(batches(), '1+2+3', { members: [2, 1, 3] })).toBe(false);
    expect(isPossible(batches(), '1+2+3', { members: [2, 2, 3] })).toBe(false);
  });

  it('must be on top of what it depends on, and not of other lanes', () => {
    const world = new World({ mode: 'parallel' });
    world.submit(1, on(1));
    world.submit(2, on(2));
    world.submit(3, on(1));
    expect(isPossible(world, '1+3', { members: [1, 3] })).toBe(true);
    expect(isPossible(world, '1+3', { members: [2, 3] })).toBe(false);
    expect(isPossible(world, '1+3', { members: [1, 2, 3] })).toBe(false);
  });
});

describe('a group', () => {
  it('is decided by the run that holds everything ahead, whatever others it has', () => {
    const world = three();
    const whole = world.run('1+2+3');
    const bold = composed(whole, { members: [3] }, 99);
    const dead = composed(whole, { base: 'X' }, 98);
    const draft = new Draft(withRuns(world.snapshot, { ...bold, status: 'passed' }, dead), 0);
    const view = viewLine(draft)[2]!;
    expect(ids(view.runs)).toEqual([whole.id, 99]);
    expect(ids(view.dead)).toEqual([98]);
    expect([view.main?.id, view.passed, view.behind]).toEqual([whole.id, false, [0, 1]]);
  });

  it('may have none', () => {
    const world = three();
    const runs = new Map([...world.snapshot.runs].filter(([id]) => id !== world.run('1').id));
    const [view] = viewLine(new Draft({ ...world.snapshot, runs }, 0));
    expect(view).toMatchObject({ runs: [], dead: [], main: null, passed: false });
  });

  it('is looked at anew when something about it changed, and only then', () => {
    const world = three();
    const { snapshot } = world;
    const draft = new Draft(withRuns(snapshot, { ...world.run('1+2'), status: 'passed' }), 0);
    const view = viewLine(draft);
    expect(view.map(({ passed }) => passed)).toEqual([false, true, false]);
    expect(viewLine(draft)).toBe(view);
    draft.settings = { ...draft.settings, canOptimisticallyMerge: true };
    expect(viewLine(draft).map(({ passed }) => passed)).toEqual([true, true, false]);
    draft.runs.set(world.run('1').id, { ...world.run('1'), status: 'failed' });
    expect(viewLine(draft)[0]!.main?.status).toBe('failed');
    draft.tip = 'X';
    expect(viewLine(draft).map(({ main }) => main)).toEqual([null, null, null]);
    draft.line = draft.line.slice(0, 1);
    expect(viewLine(draft)).toHaveLength(1);
  });
});

describe('pruning', () => {
  const reasons = (draft: Draft) =>
    draft.facts.map((fact) => (fact.kind === 'queued' ? `#${fact.pr} ${fact.reason}` : fact.kind));
  const members = (draft: Draft) => draft.line.map((group) => group.members);

  it('leaves a line alone that is sound', () => {
    const draft = new Draft(three().snapshot, 0);
    const before = draft.line;
    expect(pruneLine(draft)).toBe(false);
    expect([draft.line === before, draft.facts, draft.actions]).toEqual([true, [], []]);
  });

  it('drops a run that cannot happen, and keeps the group while it has another', () => {
    const world = three();
    const bold = composed(world.run('1+2+3'), { members: [9, 3] }, 99);
    const draft = new Draft(withRuns(world.snapshot, bold), 0);
    expect(pruneLine(draft)).toBe(false);
    expect(draft.actions).toEqual([{ kind: 'cancel-run', run: 99 }]);
    expect([draft.runs.has(99), draft.runs.size, members(draft)]).toEqual([false, 3, [[1], [2], [3]]]);
  });

  it('dissolves a group without any run', () => {
    const world = three();
    const runs = new Map([...world.snapshot.runs].filter(([id]) => id !== world.run('1+2+3').id));
    const draft = new Draft({ ...world.snapshot, runs }, 0);
    expect(pruneLine(draft)).toBe(true);
    expect([members(draft), reasons(draft)]).toEqual([[[1], [2]], ['#3 BISECTION_REQUIRED']]);
  });

  it('dissolves with a group what is tested on top of it, in the same pass', () => {
    const world = three();
    const draft = new Draft(withRuns(world.snapshot, composed(world.run('1'), { members: [9] })), 0);
    expect(pruneLine(draft)).toBe(true);
    expect(members(draft)).toEqual([]);
    expect(reasons(draft)).toEqual([
      '#1 PREREQUISITE_MERGE_ITEM_FAILED',
      '#2 PREREQUISITE_MERGE_ITEM_FAILED',
      '#3 PREREQUISITE_MERGE_ITEM_FAILED',
    ]);
    expect(draft.runs.size).toBe(0);
  });

  it('dissolves what is tested on top of one that goes and one that stays', () => {
    const world = lanes();
    const draft = new Draft(withRuns(world.snapshot, composed(world.run('1'), { members: [9] })), 0);
    pruneLine(draft);
    expect(members(draft)).toEqual([[2]]);
  });

  it('keeps what has a run without the one that goes', () => {
    const world = lanes();
    const whole = world.run('1+2+3');
    const bold = composed(whole, { members: [2, 3] }, 99);
    const gone = composed(world.run('1'), { members: [9] });
    const draft = new Draft(withRuns(world.snapshot, gone, bold), 0);
    pruneLine(draft);
    expect(members(draft)).toEqual([[2], [3]]);
    expect([draft.runs.has(whole.id), draft.runs.has(99)]).toEqual([false, true]);
  });

  it('leaves what is landing to the branch', () => {
    const world = three();
    world.landsByItself = false;
    world.pass('1');
    const draft = new Draft({ ...world.snapshot, tip: 'X' }, 0);
    pruneLine(draft);
    expect(members(draft)).toEqual([[1]]);
  });

  it('names what happened to those ahead before what happened to the branch', () => {
    const why = (gone: Snapshot['gone'], change: Partial<Snapshot> = {}) => {
      const world = three();
      const run = composed(world.run('1+2+3'), { members: [8, 9, 3] });
      const snapshot = { ...withRuns(world.snapshot, run), gone, ...change };
      const draft = new Draft(snapshot, 0);
      pruneLine(draft);
      return reasons(draft).at(-1);
    };
    const moved = { tip: 'X' };
    expect(
      why(
        new Map([
          [8, 'failed'],
          [9, 'cancelled'],
        ]),
      ),
    ).toBe('#3 PREREQUISITE_MERGE_ITEM_FAILED');
    expect(why(new Map([[9, 'failed']]), moved)).toBe('#3 PREREQUISITE_MERGE_ITEM_FAILED');
    expect(
      why(
        new Map([
          [8, 'merged_by_hand'],
          [9, 'cancelled'],
        ]),
      ),
    ).toBe('#3 PREREQUISITE_MERGE_ITEM_CANCELLED');
    expect(why(new Map([[8, 'merged_by_hand']]), moved)).toBe('#3 PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED');
    expect(why(new Map(), moved)).toBe('#3 MANUAL_PUSH_TO_TARGET_BRANCH');
    expect(why(new Map())).toBe('#3 PREREQUISITE_MERGE_ITEM_FAILED');
  });
});

describe('what is shown', () => {
  it('is under test where no run holds everything ahead', () => {
    const world = three();
    world.pass('1+2+3');
    const run = [...world.snapshot.runs.values()].at(-1)!;
    const draft = new Draft(withRuns(world.snapshot, composed(run, { members: [3] })), 0);
    showLine(draft);
    expect(draft.facts).toEqual([{ kind: 'testing', pr: 3, run: run.id }]);
  });
});
