import { describe, expect, it } from 'vitest';
import { demoRepositories } from './repository.ts';
import { breakersIn, changesOf, changesOfAll, type PlannedChange } from './workload.ts';

const [shop, platform] = demoRepositories as [(typeof demoRepositories)[0], (typeof demoRepositories)[0]];

function first(changes: Generator<PlannedChange>, count: number): PlannedChange[] {
  return Array.from({ length: count }, () => changes.next().value as PlannedChange);
}

describe('what the team does', () => {
  it('follows from the seed alone, not from how the queue is set nor from the other repositories', () => {
    const alone = first(changesOf(shop, 7), 60);
    const other = { ...shop, settings: { mode: 'parallel', concurrency: 9 } as const };
    const changed = first(changesOfAll([other, platform], 7), 200).filter(
      ({ repository }) => repository === other,
    );
    expect(changed.slice(0, 60)).toEqual(alone.map((change) => ({ ...change, repository: other })));
    expect(first(changesOf(shop, 8), 60)).not.toEqual(alone);
  });

  it('arrives in order, with some that break alone, together or are taken back', () => {
    const changes = first(changesOfAll(demoRepositories, 1), 600);
    expect(changes.map(({ arrivesAtMs }) => arrivesAtMs)).toEqual(
      changes.map(({ arrivesAtMs }) => arrivesAtMs).toSorted((a, b) => a - b),
    );
    const share = (holds: (change: PlannedChange) => boolean) =>
      changes.filter(holds).length / changes.length;
    expect(share(({ breaksAlone }) => breaksAlone)).toBeGreaterThan(0.04);
    expect(share(({ breaksAlone }) => breaksAlone)).toBeLessThan(0.12);
    expect(share(({ breaksWith }) => breaksWith.length > 0)).toBeGreaterThan(0.03);
    expect(share(({ breaksWith }) => breaksWith.length > 0)).toBeLessThan(0.15);
    expect(share(({ cancelledAfterMs }) => cancelledAfterMs !== null)).toBeGreaterThan(0.01);
  });

  it('finds the pull requests that break a tree by its paths', () => {
    expect(breakersIn(['README.md', 'change/7.txt', 'breaks/7', 'change/8.txt'])).toEqual([7]);
    expect(breakersIn(['change/9.txt', 'breaks-with/8/9'])).toEqual([]);
    expect(breakersIn(['change/8.txt', 'change/9.txt', 'breaks-with/8/9'])).toEqual([9]);
  });

  it('shows in the tree what is wrong with a change', () => {
    for (const change of first(changesOf(shop, 3), 100)) {
      const paths = Object.keys(change.files);
      const others = change.breaksWith.map((number) => `change/${number}.txt`);
      expect(breakersIn(paths)).toEqual(change.breaksAlone ? [change.number] : []);
      expect(breakersIn([...paths, ...others]).length > 0).toBe(change.breaksAlone || others.length > 0);
    }
  });
});
