// The small moves that every step of a plan is made of.
import { describe, expect, it } from 'vitest';
import { Draft } from '#core/queue/planner/draft.ts';
import { isActive, sameMembers } from '#core/queue/planner/model.ts';
import { World } from './world.ts';

const on = (...list: number[]) => ({ targets: Uint32Array.from(list) });

function drafted(settings: ConstructorParameters<typeof World>[0] = {}, now = 0): [Draft, World] {
  const world = new World(settings);
  world.landsByItself = false;
  for (const pr of [1, 2]) world.submit(pr);
  return [new Draft(world.snapshot, now), world];
}

describe('a draft', () => {
  it('that nothing was done to is the snapshot it was made from', () => {
    const [draft, { snapshot }] = drafted();
    expect(draft.snapshot()).toEqual(snapshot);
  });

  it('leaves the snapshot it was made from as it is', () => {
    const [draft, { snapshot }] = drafted();
    draft.fail(1, 'MERGE_REFUSED_BY_HOST', null);
    draft.searches.push({
      id: 9,
      base: 'T',
      members: [2],
      passes: 0,
      fails: 1,
      passedRun: null,
      failedRun: null,
    });
    expect([snapshot.items.size, snapshot.line.length, snapshot.runs.size]).toEqual([2, 2, 2]);
    expect([snapshot.gone.size, snapshot.searches.length]).toEqual([0, 0]);
  });

  it('speaks only of live entries', () => {
    const [draft] = drafted();
    expect(draft.item(1).pr).toBe(1);
    expect(() => draft.item(9)).toThrow('#9 is live');
  });

  it('wakes at the first instant that is still to come', () => {
    const [draft] = drafted({}, 100);
    draft.wake(50);
    draft.wake(100);
    expect(draft.wakeAt).toBeNull();
    draft.wake(300);
    draft.wake(200);
    draft.wake(250);
    expect(draft.wakeAt).toBe(200);
  });
});

describe('an entry', () => {
  it('that is sent back waits from now on, restarts, and is alone or behind somebody only if so told', () => {
    const [draft] = drafted({}, 70);
    draft.requeue(1, 'BISECTION_REQUIRED');
    expect(draft.item(1).place).toEqual({
      kind: 'pending',
      since: 70,
      restarting: true,
      alone: false,
      behind: null,
    });
    draft.requeue(2, 'BISECTION_REQUIRED', { alone: true, behind: 1 });
    expect(draft.item(2).place).toMatchObject({ alone: true, behind: 1 });
    expect(draft.facts).toEqual([
      { kind: 'queued', pr: 1, reason: 'BISECTION_REQUIRED' },
      { kind: 'queued', pr: 2, reason: 'BISECTION_REQUIRED' },
    ]);
  });

  it.each([
    ['failed', 'PREREQUISITE_MERGE_ITEM_FAILED'],
    ['cancelled', 'PREREQUISITE_MERGE_ITEM_CANCELLED'],
    ['merged_by_hand', 'PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED'],
  ] as const)('that left (%s) dissolves its group, and the others of it are told %s', (departure, reason) => {
    const world = new World({ batch: true, batchingMinSize: 2 });
    for (const pr of [1, 2, 3, 4]) world.submit(pr);
    const draft = new Draft(world.snapshot, 0);
    draft.leave(1, departure);
    expect(draft.facts).toEqual([{ kind: 'queued', pr: 2, reason }]);
    expect(draft.gone).toEqual(new Map([[1, departure]]));
    expect(draft.line.map(({ members }) => members)).toEqual([[3, 4]]);
    expect(draft.items.has(1)).toBe(false);
  });
});

describe('a run', () => {
  it('that is dropped is cancelled at CI only while it is under way', () => {
    const [draft, world] = drafted();
    const [one, two] = [world.run('1'), world.run('1+2')];
    draft.dropRun(one);
    draft.dropRun({ ...two, status: 'passed' });
    expect(draft.actions).toEqual([{ kind: 'cancel-run', run: one.id }]);
    expect(draft.runs.size).toBe(0);
  });

  it('that is to run again may do so at once, and counts from the beginning', () => {
    const [draft, world] = drafted({}, 40);
    const run = { ...world.run('1'), attempt: 3 };
    draft.runAgain(run);
    expect(draft.runs.get(run.id)).toEqual({
      ...run,
      status: 'start_failed',
      attempt: -1,
      flakes: 0,
      notBefore: 40,
    });
    expect(draft.actions).toEqual([{ kind: 'cancel-run', run: run.id }]);
  });

  it('is counted while it is under way, for the line or for a search', () => {
    const [draft, world] = drafted();
    const run = world.run('1');
    expect([draft.activeRuns('line'), draft.activeRuns('search')]).toEqual([2, 0]);
    draft.runs.set(run.id, { ...run, status: 'passed' });
    draft.runs.set(99, { ...run, id: 99, status: 'running', of: { kind: 'search', search: 5 } });
    expect([draft.activeRuns('line'), draft.activeRuns('search')]).toEqual([1, 1]);
  });

  it('is under way from when it is asked for until it has answered', () => {
    const [, world] = drafted();
    const run = world.run('1');
    const active = (['starting', 'running', 'passed', 'failed', 'timed_out', 'start_failed'] as const).filter(
      (status) => isActive({ ...run, status }),
    );
    expect(active).toEqual(['starting', 'running']);
  });

  it('belongs to its group or its search, and to no other of the same number', () => {
    const [draft, world] = drafted();
    const [group, other] = draft.line;
    const run = world.run('1');
    const search = { ...run, id: 99, of: { kind: 'search', search: group!.id } } as const;
    draft.runs.set(99, search);
    const asSearch = (id: number) => ({
      id,
      base: 'T',
      members: [1],
      passes: 0,
      fails: 1,
      passedRun: null,
      failedRun: null,
    });
    expect(draft.runsOf(group!)).toEqual([run]);
    expect(draft.runsOf(other!)).toEqual([world.run('1+2')]);
    expect(draft.runsOfSearch(asSearch(group!.id))).toEqual([search]);
    expect(draft.runsOfSearch(asSearch(other!.id))).toEqual([]);
  });
});

describe('the lanes of a line', () => {
  it('are computed again when the line or the mode is another, and only then', () => {
    const world = new World({ mode: 'parallel' });
    for (const pr of [1, 2]) world.submit(pr, on(pr));
    const draft = new Draft(world.snapshot, 0);
    const { closed } = draft.lanes();
    expect(closed).toEqual([[], []]);
    expect(draft.lanes().closed).toBe(closed);
    draft.settings = { ...draft.settings, mode: 'single' };
    expect(draft.lanes().closed).toEqual([[], [0]]);
    draft.line = draft.line.slice(0, 1);
    expect(draft.lanes().closed).toEqual([[]]);
  });

  it('say of a group at the end what it depends on, and hold it from then on', () => {
    const world = new World({ mode: 'parallel' });
    for (const pr of [1, 2, 3]) world.submit(pr, on(pr));
    world.send({ kind: 'state', state: 'PAUSED' });
    world.submit(4, { ready: false, ...on(1, 3) });
    const draft = new Draft(world.snapshot, 0);
    expect(draft.append({ id: 50, members: [4] })).toEqual([1, 3]);
    expect(draft.line.at(-1)).toEqual({ id: 50, members: [4] });
    expect(draft.lanes().closed.at(-1)).toEqual([0, 2]);
  });
});

describe('what is landing', () => {
  it('is protected, and nothing else is', () => {
    const [draft, world] = drafted();
    expect([draft.isLanding(1), draft.isProtected(draft.line[0]!)]).toEqual([false, false]);
    world.pass('1');
    const landing = new Draft(world.snapshot, 0);
    expect([landing.isLanding(1), landing.isLanding(2)]).toEqual([true, false]);
    expect(landing.line.map((group) => landing.isProtected(group))).toEqual([true, false]);
    const mixed = { id: 9, members: [2, 1] };
    expect(landing.isProtected(mixed)).toBe(true);
  });
});

it('members are the same in the same order', () => {
  expect(sameMembers([1, 2], [1, 2])).toBe(true);
  for (const others of [[2, 1], [1, 3], [1], [1, 2, 3]]) expect(sameMembers([1, 2], others)).toBe(false);
});
