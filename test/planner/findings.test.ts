// What runs in parallel lanes have shown about entries, kept after the runs are gone.
import { describe, expect, it } from 'vitest';
import { Draft } from '#core/queue/planner/draft.ts';
import type { Findings, Item, Run, Snapshot } from '#core/queue/planner/model.ts';
import { applyToRun } from '#core/queue/planner/observe-run.ts';
import { foresee } from '#core/queue/planner/strategy/foresee.ts';
import { prefixTrain } from '#core/queue/planner/strategy/prefix-train.ts';
import { foreseeing, on } from './foreseen.ts';

const now = 1_000;

const inLine = (pr: number) => ({ kind: 'line', group: pr, shown: 'testing' }) as const;

/** Ten entries that share a target, in the line, without a run. */
function openDraft(
  change: Partial<Snapshot> = {},
  known: Readonly<Record<number, Partial<Item>>> = {},
  strategy = foresee,
) {
  const world = foreseeing();
  for (let pr = 1; pr <= 10; pr++) world.submit(pr, on(1));
  const [any] = world.snapshot.runs.values();
  const items = new Map(
    [...world.snapshot.items].map(
      ([pr, item]) => [pr, { ...item, place: inLine(pr), ...known[pr] }] as const,
    ),
  );
  const draft = new Draft({ ...world.snapshot, items, runs: new Map(), ...change }, now, strategy);
  let id = 1_000;
  const run = (members: readonly number[], rest: Partial<Run> & { readonly tested?: number } = {}): Run => {
    const { tested = 1, ...given } = rest;
    const composition = { base: 'T', members, tested };
    const made: Run = { ...any!, id: (id += 1), composition, ...given };
    draft.runs.set(made.id, made);
    return made;
  };
  return { draft, run };
}

const findings = (rest: Partial<Findings> = {}): Findings => ({
  passed: false,
  passedWith: [],
  failedBehind: [],
  ...rest,
});

describe('a run that is dropped', () => {
  it('is remembered if it passed, with the entries that it assumed and that are still there', () => {
    const { draft, run } = openDraft();
    draft.dropRun(run([2, 3], { status: 'passed' }));
    draft.dropRun(run([99, 2, 1, 3], { status: 'passed' }));
    expect(draft.item(3).findings).toEqual(findings({ passed: true, passedWith: [1, 2] }));
    expect([draft.item(1).findings, draft.item(2).findings]).toEqual([undefined, undefined]);
    draft.dropRun(run([1, 4, 5], { status: 'passed', tested: 2 }));
    expect([4, 5].map((pr) => draft.item(pr).findings?.passedWith)).toEqual([[1], [1]]);
    expect(draft.actions).toEqual([]);
  });

  it('is remembered once if it failed behind others', () => {
    const { draft, run } = openDraft();
    draft.dropRun(run([1, 3], { status: 'failed' }));
    draft.dropRun(run([1, 3], { status: 'failed' }));
    draft.dropRun(run([1, 2, 3], { status: 'failed' }));
    expect(draft.item(3).findings).toEqual(findings({ failedBehind: [[1], [1, 2]] }));
  });

  it('shows nothing if it failed on the branch itself, or with an entry that failed', () => {
    const { draft, run } = openDraft();
    draft.dropRun(run([3], { status: 'failed' }));
    draft.gone.set(98, 'cancelled');
    draft.gone.set(99, 'failed');
    draft.dropRun(run([1, 99, 3], { status: 'failed' }));
    expect(draft.item(3).findings).toBeUndefined();
    draft.dropRun(run([1, 98, 3], { status: 'failed' }));
    expect(draft.item(3).findings?.failedBehind).toEqual([[1, 98]]);
  });

  it('shows nothing if it ended without a result, ran some tests, or is of another strategy', () => {
    const { draft, run } = openDraft();
    draft.dropRun(run([1, 3], { status: 'infrastructure' }));
    draft.dropRun(run([1, 3], { status: 'failed', why: 'TEST_RUN_TIMEOUT' }));
    draft.dropRun(run([1, 3], { status: 'passed', tests: ['a'] }));
    draft.dropRun(run([1, 99], { status: 'passed' }));
    expect([...draft.items.values()].every((item) => item.findings === undefined)).toBe(true);
    const other = openDraft({}, {}, prefixTrain);
    other.draft.dropRun(other.run([1, 3], { status: 'passed' }));
    expect(other.draft.item(3).findings).toBeUndefined();
  });

  it('is cancelled if it is still under way', () => {
    const { draft, run } = openDraft();
    const active = run([1, 3], { status: 'running' });
    draft.dropRun(active);
    expect(draft.actions).toEqual([{ kind: 'cancel-run', run: active.id }]);
    expect(draft.item(3).findings).toBeUndefined();
  });
});

describe('an entry that fails', () => {
  const failedBehind = [[1], [2], [1, 2]];

  it('explains the failures of the runs that assumed it', () => {
    const { draft } = openDraft({}, { 3: { findings: findings({ failedBehind }) } });
    draft.fail(1, 'TEST_RUN_REQUIRED_STATUS_FAILED', null);
    expect(draft.item(3).findings?.failedBehind).toEqual([[2]]);
    expect(draft.gone.get(1)).toBe('failed');
  });

  it('explains nothing where dependencies are not direct', () => {
    const { draft } = openDraft({}, { 3: { findings: findings({ failedBehind }) } }, prefixTrain);
    draft.fail(1, 'TEST_RUN_REQUIRED_STATUS_FAILED', null);
    expect(draft.item(3).findings?.failedBehind).toEqual(failedBehind);
  });
});

describe('an entry that lands', () => {
  const pending = { kind: 'pending', since: 0, restarting: false, alone: false, behind: null } as const;
  const countsOf = (draft: Draft) =>
    Object.fromEntries(
      [...draft.items].flatMap(([pr, { findings: known }]) =>
        known?.untestedLandings === undefined ? [] : [[pr, known.untestedLandings]],
      ),
    );

  it('counts for those that share a target with it and did not pass together with it', () => {
    const { draft, run } = openDraft(
      {},
      {
        3: { place: pending },
        4: { place: pending, findings: findings() },
        5: on(2),
        7: { findings: findings({ passedWith: [1] }) },
        10: { place: { kind: 'search', search: 1 } },
      },
    );
    run([1, 2, 6], { status: 'passed' });
    run([1, 8], { status: 'passed', tests: ['a'] });
    run([1, 9], { status: 'failed' });
    draft.countUntestedLanding(1);
    expect(countsOf(draft)).toEqual({ 2: 1, 4: 1, 8: 1, 9: 1, 10: 1 });
    draft.countUntestedLanding(2);
    expect(countsOf(draft)).toEqual({ 1: 1, 2: 1, 4: 2, 7: 1, 8: 2, 9: 2, 10: 2 });
  });

  it('counts for no one where dependencies are not direct', () => {
    const { draft } = openDraft({}, {}, prefixTrain);
    draft.countUntestedLanding(1);
    expect(countsOf(draft)).toEqual({});
  });
});

describe('a result', () => {
  type Given = Partial<Run> & { readonly tested?: number };
  const expectedOf = (rest: Given, members: readonly number[] = [1, 3], strategy = foresee) => {
    const { draft, run } = openDraft({}, {}, strategy);
    const { id } = run(members, {
      status: 'running',
      requestedAt: 10,
      startedAt: null,
      pushedAt: null,
      ...rest,
    });
    applyToRun(draft, { kind: 'run-passed', run: id });
    return draft.items.get(3)?.expectedMs;
  };

  it('shows how long the next run of the entry will take', () => {
    expect(expectedOf({})).toBe(990);
    expect(expectedOf({ pushedAt: 20 })).toBe(980);
    expect(expectedOf({ pushedAt: 20, startedAt: 30 })).toBe(970);
  });

  it('does not if it is of several entries, of one that is gone, of some tests or jobs, or of another strategy', () => {
    expect(expectedOf({ tested: 2 })).toBeUndefined();
    expect(expectedOf({}, [3, 99])).toBeUndefined();
    expect(expectedOf({ tests: ['a'] })).toBeUndefined();
    expect(expectedOf({ rerun: { excused: [], since: 500 } })).toBeUndefined();
    expect(expectedOf({}, [1, 3], prefixTrain)).toBeUndefined();
  });

  it('does if it failed, and not if it ended without one', () => {
    const { draft, run } = openDraft();
    const begun = { status: 'running', startedAt: 100 } as const;
    applyToRun(draft, { kind: 'run-failed', run: run([1, 3], begun).id });
    applyToRun(draft, { kind: 'run-failed', run: run([1, 4], begun).id, why: 'TEST_RUN_TIMEOUT' });
    const lost = run([1, 5], begun);
    applyToRun(draft, { kind: 'run-infrastructure-failed', run: lost.id, timedOut: false });
    expect([3, 4, 5].map((pr) => draft.item(pr).expectedMs)).toEqual([900, undefined, undefined]);
  });

  it('of a run on the tip shows that the entry goes together with all that has landed', () => {
    const known = { 3: { findings: findings({ untestedLandings: 2 }) } };
    const after = (base: string, kind: 'run-passed' | 'run-failed') => {
      const { draft, run } = openDraft({ tip: 'tip' }, known);
      const composition = { base, members: [3], tested: 1 };
      applyToRun(draft, { kind, run: run([3], { status: 'running', composition }).id });
      return draft.item(3).findings?.untestedLandings;
    };
    expect(after('tip', 'run-passed')).toBe(0);
    expect(after('older', 'run-passed')).toBe(2);
    expect(after('tip', 'run-failed')).toBe(2);
    const { draft, run } = openDraft();
    applyToRun(draft, { kind: 'run-passed', run: run([1, 3], { status: 'running' }).id });
    expect(draft.item(3).findings).toBeUndefined();
  });
});

describe('a run whose failed jobs run again', () => {
  const excused = [
    { suite: 'one', name: 'test', at: 300 },
    { suite: 'two', name: 'lint', at: 200 },
  ];

  it('waits for the last of them, shows how long the whole took, and ends an outage', () => {
    const { draft, run } = openDraft({ outageSince: 1 });
    const { id } = run([1, 3], { status: 'running', startedAt: 100 });
    applyToRun(draft, { kind: 'run-failed-by-flakes', run: id, excused });
    expect(draft.actions).toEqual([
      { kind: 'rerun-failed-jobs', run: id, suites: ['one', 'two'], after: 300 },
    ]);
    expect(draft.item(3).expectedMs).toBe(900);
    expect(draft.outageSince).toBeNull();
    expect(draft.runs.get(id)).toMatchObject({ status: 'starting', startedAt: null, rerun: { since: null } });
    // Its new attempt begins, by the clock of the Git host, and shows nothing by that.
    draft.outageSince = 2;
    applyToRun(draft, { kind: 'run-started', run: id, at: 700 });
    expect(draft.runs.get(id)).toMatchObject({ status: 'running', rerun: { since: 700 } });
    expect([draft.item(3).expectedMs, draft.outageSince]).toEqual([900, 2]);
  });

  it('is pushed again without showing anything', () => {
    const { draft, run } = openDraft({ outageSince: 1 });
    const waiting = run([1, 3], { status: 'starting', startedAt: null, rerun: { excused, since: null } });
    applyToRun(draft, { kind: 'run-pushed', run: waiting.id, at: 900 });
    expect([draft.item(3).expectedMs, draft.outageSince]).toEqual([undefined, 1]);
  });
});
