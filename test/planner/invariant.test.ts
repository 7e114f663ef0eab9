// The invariants are only worth something if they notice: each is shown a snapshot or a step that breaks it.
import { describe, expect, it } from 'vitest';
import { findViolations, violationsOfStep } from '#core/queue/planner/invariant.ts';
import type { Action, PlannerFact, Item, Landing, Run, Snapshot } from '#core/queue/planner/model.ts';
import { World } from './world.ts';

/** #1 and #2 under test, as groups of their own, in a queue that does not land by itself. */
function two(settings: ConstructorParameters<typeof World>[0] = {}): World {
  const world = new World(settings);
  world.landsByItself = false;
  for (const pr of [1, 2]) world.submit(pr);
  return world;
}

/** A batch of #1, #2 and #3 that is searched. */
function searching(): World {
  const world = new World({ batch: true, batchingMinSize: 3, bisectionConcurrency: 2 });
  for (const pr of [1, 2, 3]) world.submit(pr);
  world.fail('1+2+3');
  return world;
}

const withItem = (snapshot: Snapshot, pr: number, change: Partial<Item>): Snapshot => ({
  ...snapshot,
  items: new Map(snapshot.items).set(pr, { ...snapshot.items.get(pr)!, ...change }),
});

const withRun = (snapshot: Snapshot, run: Run, change: Partial<Run>): Snapshot => ({
  ...snapshot,
  runs: new Map(snapshot.runs).set(run.id, { ...run, ...change }),
});

const withoutItem = (snapshot: Snapshot, pr: number): Snapshot => {
  const items = new Map(snapshot.items);
  items.delete(pr);
  return { ...snapshot, items };
};

const wrong = (snapshot: Snapshot): string[] => findViolations(snapshot);

describe('a snapshot', () => {
  it('that a plan made has nothing wrong with it', () => {
    expect(wrong(two().snapshot)).toEqual([]);
    expect(wrong(searching().snapshot)).toEqual([]);
  });

  it('whose host is away is not held against what nobody could decide', () => {
    const { snapshot } = two();
    expect(wrong({ ...snapshot, runs: new Map(), frozenAt: 0 })).toEqual([]);
  });

  it('has every entry in the place that the entry names', () => {
    const { snapshot } = two();
    const [first, second] = snapshot.line;
    const line = `line ${first!.id}`;
    expect(wrong(withItem(snapshot, 1, { place: { kind: 'not_ready' } }))).toEqual([
      `#1 is in ${line} but says {"kind":"not_ready"}`,
    ]);
    const elsewhere = { kind: 'line', group: second!.id, shown: 'testing' } as const;
    expect(wrong(withItem(snapshot, 1, { place: elsewhere }))).toEqual([
      `#1 is in ${line} but says ${JSON.stringify(elsewhere)}`,
    ]);
    const searched = { kind: 'search', search: first!.id } as const;
    expect(wrong(withItem(snapshot, 1, { place: searched }))).toEqual([
      `#1 is in ${line} but says ${JSON.stringify(searched)}`,
    ]);
    expect(wrong(withoutItem(snapshot, 1))).toEqual([`#1 is in ${line} but says undefined`]);
  });

  it('has nobody in two places', () => {
    const { snapshot } = two();
    const [first, second] = snapshot.line;
    const doubled = { ...snapshot, line: [first!, { ...second!, members: [2, 1] }] };
    expect(wrong(doubled)).toContain(`#1 is in line ${second!.id} and in line ${first!.id}`);
    const search = searching();
    const [only] = search.snapshot.searches;
    const group = { id: 99, members: [1] };
    expect(wrong({ ...search.snapshot, line: [group] })).toContain(
      `#1 is in search ${only!.id} and in line 99`,
    );
  });

  it('has no empty group and no empty search', () => {
    const { snapshot } = two();
    const [first, second] = snapshot.line;
    expect(wrong({ ...snapshot, line: [first!, second!, { id: 99, members: [] }] })).toContain(
      'line 99 is empty',
    );
    const search = searching();
    const [only] = search.snapshot.searches;
    expect(wrong({ ...search.snapshot, searches: [{ ...only!, members: [] }] })).toContain(
      `search ${only!.id} is empty`,
    );
  });

  it('has nobody in a group or a search that does not hold them', () => {
    const { snapshot } = two();
    expect(wrong({ ...snapshot, line: snapshot.line.slice(1) })).toContain('#1 is in no line');
    expect(wrong({ ...searching().snapshot, searches: [] })).toContain('#1 is in no search');
    const waiting = new World({ concurrency: 1 });
    for (const pr of [1, 2]) waiting.submit(pr);
    expect(wrong(waiting.snapshot)).toEqual([]);
  });

  it('has a run for every group, and nobody’s run for nobody', () => {
    const world = two();
    const run = world.run('1');
    const [first] = world.snapshot.line;
    const runs = new Map(world.snapshot.runs);
    runs.delete(run.id);
    expect(wrong({ ...world.snapshot, runs })).toEqual([
      `group ${first!.id} is in the line without a run`,
      '#1 waits for nothing',
    ]);
    const stray = { ...run, id: 99 };
    expect(wrong(withRun(world.snapshot, stray, { of: { kind: 'line', group: 98 } }))).toEqual([
      'run 99 belongs to no group',
    ]);
    // A search is not a group, even if the number is one.
    expect(wrong(withRun(world.snapshot, stray, { of: { kind: 'search', search: first!.id } }))).toEqual([
      'run 99 belongs to no group',
    ]);
  });

  it('has only runs of the line about the tip; a search keeps its base', () => {
    const world = two();
    expect(wrong({ ...world.snapshot, tip: 'X' })).toEqual([
      `run ${world.run('1').id} is about T, the tip is X`,
      `run ${world.run('1+2').id} is about T, the tip is X`,
    ]);
    expect(wrong({ ...searching().snapshot, tip: 'X' })).toEqual([]);
  });
});

describe('a landing', () => {
  const landing = (settings = {}) => {
    const world = two(settings);
    const runs = [world.run('1'), world.run('1+2')];
    world.pass('1+2');
    world.pass('1');
    return { snapshot: world.snapshot, landing: world.snapshot.landing!, runs: runs as [Run, Run] };
  };
  const direct = (members: readonly number[]): Landing => ({ id: 9, members, proof: { kind: 'direct' } });

  it('has a run that passed', () => {
    const { snapshot, runs } = landing();
    expect(wrong(snapshot)).toEqual([]);
    expect(wrong(withRun(snapshot, snapshot.runs.get(runs[1].id)!, { status: 'failed' }))).toEqual([
      `#1 #2 lands by run ${runs[1].id}, which did not pass`,
    ]);
    const gone = { ...snapshot.landing!, proof: { kind: 'exact', run: 99 } } as const;
    expect(wrong({ ...snapshot, landing: gone })).toEqual(['#1 #2 lands by run 99, which did not pass']);
  });

  it('has a run of exactly what lands, on the tip', () => {
    const { snapshot, runs } = landing();
    const run = snapshot.runs.get(runs[1].id)!;
    const moved = withRun(snapshot, run, { composition: { ...run.composition, base: 'X' } });
    expect(wrong(moved)).toContain('#1 #2 lands by a run of X+#1 #2 on T');
    const reversed = withRun(snapshot, run, { composition: { ...run.composition, members: [2, 1] } });
    expect(wrong(reversed)).toEqual(['#1 #2 lands by a run of T+#2 #1 on T']);
    const fewer = { ...snapshot, landing: { ...snapshot.landing!, members: [1] } };
    expect(wrong(fewer)).toEqual(['#1 lands by a run of T+#1 #2 on T']);
  });

  it('says whether other lanes landed in between', () => {
    const { snapshot, runs } = landing();
    const run = snapshot.runs.get(runs[1].id)!;
    const lane = { ...snapshot.landing!, proof: { kind: 'lane', run: run.id } } as const;
    const sentence = '#1 #2 lands with a proof of the wrong kind';
    expect(wrong({ ...snapshot, landing: lane })).toEqual([sentence]);
    const drifted = withRun(snapshot, run, { drifted: true });
    expect(wrong(drifted)).toEqual([sentence]);
    expect(wrong({ ...drifted, landing: lane })).toEqual([]);
  });

  it('is of live entries', () => {
    const { snapshot } = landing();
    expect(wrong(withoutItem(snapshot, 2))).toContain('#2 lands but is not live');
  });

  it('is from the front of a single line', () => {
    const { snapshot } = landing();
    const [first, second] = snapshot.line;
    const turned = { ...snapshot, line: [second!, first!] };
    expect(wrong(turned)).toEqual(['#1 #2 lands before #2 #1']);
    expect(wrong({ ...turned, settings: { ...snapshot.settings, mode: 'parallel' } })).toEqual([]);
  });

  it('without a run is of one entry whose own checks passed on the tip', () => {
    const { snapshot } = two();
    const tested = withItem(snapshot, 1, { testedOnTip: 'T' });
    expect(wrong({ ...tested, landing: direct([1]) })).toEqual([]);
    expect(wrong({ ...snapshot, landing: direct([1]) })).toEqual(['#1 lands without a proof']);
    expect(wrong({ ...withItem(snapshot, 1, { testedOnTip: 'X' }), landing: direct([1]) })).toEqual([
      '#1 lands without a proof',
    ]);
    const both = withItem(tested, 2, { testedOnTip: 'T' });
    expect(wrong({ ...both, landing: direct([1, 2]) })).toEqual(['#1 #2 lands without a proof']);
    expect(wrong({ ...snapshot, landing: direct([9]) })).toEqual([
      '#9 lands without a proof',
      '#9 lands but is not live',
    ]);
    // It is not in the line, so it does not come before anybody there.
    expect(wrong({ ...withItem(snapshot, 2, { testedOnTip: 'T' }), landing: direct([2]) })).toEqual([]);
  });
});

describe('a failure', () => {
  const failed = (
    pr: number,
    change: Partial<Extract<PlannerFact, { kind: 'failed' }>> = {},
  ): PlannerFact => ({
    kind: 'failed',
    pr,
    reason: 'TEST_RUN_REQUIRED_STATUS_FAILED',
    evidence: null,
    ...change,
  });
  const unjust = (before: Snapshot, ...facts: PlannerFact[]): string[] =>
    violationsOfStep(before, { snapshot: before, facts, actions: [] });

  it('has evidence, unless git or the host speaks of the change itself', () => {
    const { snapshot } = two();
    expect(unjust(snapshot, failed(1))).toEqual([
      '#1 failed (TEST_RUN_REQUIRED_STATUS_FAILED) without evidence',
    ]);
    for (const reason of ['START_TEST_RUN_MERGE_CONFLICT', 'MERGE_REFUSED_BY_HOST'] as const)
      expect(unjust(snapshot, failed(1, { reason }))).toEqual([]);
    expect(unjust(snapshot, { kind: 'unready', pr: 1 })).toEqual([]);
  });

  it('is shown by a run that did not pass', () => {
    const world = two();
    const { id } = world.run('1');
    const evidence = { failedRun: id } as const;
    const red = withRun(world.snapshot, world.run('1'), { status: 'failed' });
    expect(unjust(red, failed(1, { evidence }))).toEqual([]);
    const green = withRun(world.snapshot, world.run('1'), { status: 'passed' });
    expect(unjust(green, failed(1, { evidence }))).toEqual([`#1 failed by run ${id}, which did not fail`]);
    expect(unjust(red, failed(1, { evidence: { failedRun: 99 } }))).toEqual([
      '#1 failed by run 99, which did not fail',
    ]);
  });

  it('is of the last change of that run, on the branch', () => {
    const world = two();
    const run = world.run('1+2');
    const red = withRun(world.snapshot, run, { status: 'failed' });
    const evidence = { failedRun: run.id } as const;
    expect(unjust(red, failed(2, { evidence }))).toEqual(['#2 failed on top of #1, which is not the branch']);
    expect(unjust(red, failed(1, { evidence }))).toEqual([
      '#1 failed by a run in which #2 is the last change',
      '#1 failed on top of #1, which is not the branch',
    ]);
  });
});

describe('a step', () => {
  const wrongStep = (before: Snapshot, snapshot: Snapshot, actions: readonly Action[] = []): string[] =>
    violationsOfStep(before, { snapshot, facts: [], actions });
  const starting = (run: Run): Action => ({ kind: 'start-run', run });

  it('keeps everybody’s seniority', () => {
    const { snapshot } = two();
    for (const change of [{ seniority: 7 }, { submittedAt: 7 }])
      expect(wrongStep(snapshot, withItem(snapshot, 1, change))).toEqual(['#1 lost its seniority']);
    expect(wrongStep(withoutItem(snapshot, 1), snapshot)).toEqual([]);
  });

  it('starts nothing in a paused queue', () => {
    const world = two();
    const paused: Snapshot = { ...world.snapshot, state: 'PAUSED' };
    expect(wrongStep(paused, paused, [starting(world.run('1'))])).toEqual(['tests start in a paused queue']);
    expect(wrongStep(paused, paused, [{ kind: 'cancel-run', run: 1 }])).toEqual([]);
    expect(wrongStep(world.snapshot, world.snapshot, [starting(world.run('1'))])).toEqual([]);
  });

  it('runs failed jobs again only of a run of all tests that is under way, as often as the queue allows', () => {
    const world = two();
    const { id } = world.run('1');
    const again: Action = { kind: 'rerun-failed-jobs', run: id, suites: ['ci'], after: 0 };
    const withRun = (change: Partial<Run>): Snapshot => ({
      ...world.snapshot,
      runs: new Map([[id, { ...world.run('1'), ...change }]]),
    });
    const wrong = (before: Snapshot) => wrongStep(before, world.snapshot, [again]);
    expect(wrong(world.snapshot)).toEqual([]);
    expect(wrong(withRun({ status: 'failed' }))).toEqual([`run ${id} is run again, and was not under way`]);
    expect(wrong(withRun({ flakes: 1 }))).toEqual([`run ${id} is excused once more than the queue allows`]);
    expect(wrong(withRun({ tests: ['a'] }))).toEqual([`run ${id} is of some tests, and its jobs run again`]);
    expect(wrong({ ...world.snapshot, state: 'PAUSED' })).toEqual([
      'failed jobs run again in a paused queue',
    ]);
  });

  it('starts nothing over the budget of the line, but does not stop what runs', () => {
    const world = two({ concurrency: 2 });
    const smaller = { ...world.snapshot, settings: { ...world.snapshot.settings, concurrency: 1 } };
    const start = [starting(world.run('1'))];
    expect(wrongStep(smaller, smaller, start)).toEqual(['2 line runs at once, the budget is 1']);
    expect(wrongStep(smaller, smaller)).toEqual([]);
    expect(wrongStep(world.snapshot, world.snapshot, start)).toEqual([]);
    const ended = withRun(smaller, world.run('1+2'), { status: 'failed' });
    expect(wrongStep(ended, ended, start)).toEqual([]);
  });

  it('starts nothing over the budget of the searches, which is the line’s if it is none', () => {
    const world = searching();
    const start = [starting(world.run('1'))];
    const budget = (settings: Partial<Snapshot['settings']>): string[] => {
      const snapshot = { ...world.snapshot, settings: { ...world.snapshot.settings, ...settings } };
      return wrongStep(snapshot, snapshot, start);
    };
    expect(budget({ bisectionConcurrency: 2 })).toEqual([]);
    expect(budget({ bisectionConcurrency: 1 })).toEqual(['2 search runs at once, the budget is 1']);
    expect(budget({ bisectionConcurrency: 0, concurrency: 1 })).toEqual([
      '2 search runs at once, the budget is 1',
    ]);
    expect(budget({ bisectionConcurrency: 0, concurrency: 2 })).toEqual([]);
  });

  it('lands nothing before an entry ahead that shares a target, in parallel lanes', () => {
    const world = new World({ mode: 'parallel', concurrency: 3 });
    world.landsByItself = false;
    for (const [pr, targets] of [
      [1, [1]],
      [2, [1, 2]],
      [3, [3]],
    ] as const)
      world.submit(pr, { targets: Uint32Array.from(targets) });
    const { snapshot } = world;
    const landing = (members: readonly number[]): Action => ({
      kind: 'land',
      landing: { id: 99, members, proof: { kind: 'lane', run: 1 } },
      base: 'T',
    });
    expect(wrongStep(snapshot, snapshot, [landing([2])])).toEqual([
      '#2 lands before #1, which shares a target',
    ]);
    for (const members of [[1], [3], [1, 2], [3, 1, 2]])
      expect(wrongStep(snapshot, snapshot, [landing(members)])).toEqual([]);
    // One that was never in the line is behind all of it.
    const late = withItem(snapshot, 4, {
      ...snapshot.items.get(2)!,
      pr: 4,
      place: { kind: 'pending', since: 0, restarting: false, alone: false, behind: null },
    });
    expect(wrongStep(late, late, [landing([4])])).toEqual([
      '#4 lands before #1, which shares a target',
      '#4 lands before #2, which shares a target',
    ]);
    expect(
      wrongStep(late, { ...late, settings: { ...late.settings, mode: 'single' } }, [landing([4])]),
    ).toEqual([]);
  });

  it('starts nothing on top of somebody who left', () => {
    const world = two();
    const run = world.run('1+2');
    const left = withoutItem(world.snapshot, 1);
    expect(wrongStep(left, left, [starting(run)])).toEqual([`run ${run.id} assumes #1, which is not live`]);
  });
});
