// How a bisection begins: the batch leaves the line, and of its runs those are kept that show the same failure.
import { describe, expect, it } from 'vitest';
import { Draft } from '#core/queue/planner/draft.ts';
import type { Run } from '#core/queue/planner/model.ts';
import { beginSearch, isSameFailure } from '#core/queue/planner/search.ts';
import { screenThenChain } from '#core/queue/planner/strategy/screen-then-chain.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { World } from './world.ts';

/** Two batches of two in the line, of which the first failed. */
function openFailed(settings: Partial<QueueSettings> = {}, strategy = screenThenChain) {
  const world = new World({ batch: true, batchingMinSize: 2, concurrency: 4, ...settings });
  for (const pr of [1, 2, 3, 4]) world.submit(pr);
  const run = world.run('1+2');
  const failed: Run = { ...run, status: 'failed' };
  const runs = new Map([...world.snapshot.runs, [failed.id, failed]]);
  const draft = new Draft({ ...world.snapshot, runs }, 50, strategy);
  return { draft, failed, group: world.snapshot.line[0]! };
}

describe('the same failure', () => {
  it('is one of the same commits, found by running their tests', () => {
    const { failed } = openFailed();
    expect(isSameFailure(failed, { ...failed, id: 9_000 })).toBe(true);
    for (const other of [
      { status: 'passed' },
      { status: 'infrastructure' },
      { why: 'TEST_RUN_TIMEOUT' },
      { drifted: true },
      { composition: { ...failed.composition, base: 'T9' } },
      { composition: { ...failed.composition, members: [1, 2, 3] } },
    ] as const)
      expect(isSameFailure(failed, { ...failed, ...other })).toBe(false);
  });
});

describe('a bisection that begins', () => {
  it('takes its batch out of the line, and says so of each of its entries', () => {
    const { draft, failed, group } = openFailed();
    beginSearch(draft, group, failed);
    expect(draft.line.map(({ members }) => members)).toEqual([[3, 4]]);
    const [search] = draft.searches;
    expect(search).toMatchObject({ base: 'T', members: [1, 2], passes: 0, fails: 2 });
    expect(draft.facts).toEqual([1, 2].map((pr) => ({ kind: 'queued', pr, reason: 'BISECTION_REQUIRED' })));
    expect([1, 3].map((pr) => draft.item(pr).place.kind)).toEqual(['search', 'line']);
  });

  it('keeps every run that failed in the same way where the strategy screens, and no other', () => {
    const { draft, failed, group } = openFailed();
    const same = { ...failed, id: 9_001 };
    const other = { ...failed, id: 9_002, drifted: true };
    for (const run of [same, other]) draft.runs.set(run.id, run);
    beginSearch(draft, group, failed);
    const search = draft.searches[0]!;
    expect(draft.runsOfSearch(search).map(({ id }) => id)).toEqual([failed.id, same.id]);
    expect(draft.runs.has(other.id)).toBe(false);
  });

  it('keeps the failed run itself where results are reused, and none where they are not', () => {
    const manual = { ...screenThenChain, screens: false };
    const kept = (optimizationMode: QueueSettings['optimizationMode']) => {
      const { draft, failed, group } = openFailed({ optimizationMode }, manual);
      draft.runs.set(9_001, { ...failed, id: 9_001 });
      beginSearch(draft, group, failed);
      return draft.runsOfSearch(draft.searches[0]!).length;
    };
    expect(kept('bisection_skip_redundant_tests')).toBe(1);
    expect(kept('off')).toBe(0);
  });
});
