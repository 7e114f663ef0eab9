import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { summarizeBisection } from '#core/queue/engine/bisection.ts';
import { buildGraph } from '#core/queue/engine/graph.ts';
import { linePlaces } from '#core/queue/engine/line-place.ts';
import type { Targets } from '#core/queue/planner/lane.ts';
import { World } from './world.ts';

const lanes = { mode: 'parallel', concurrency: 20 } as const;
const of = (...targets: number[]): Targets => Uint32Array.from(targets).sort();

/** The graph of a world as it is, its entries in queue order. */
function graph({ snapshot, now }: World, rankOf = (target: number) => target) {
  const places = linePlaces(snapshot, now);
  const rankOfItem = (pr: number) => {
    const { rank, major, minor } = places.get(pr)!;
    return rank * 1e12 + major * 1e6 + minor;
  };
  const entries = [...snapshot.items.values()]
    .filter(({ place }) => place.kind !== 'not_ready')
    .toSorted((a, b) => rankOfItem(a.pr) - rankOfItem(b.pr));
  const { searches, settings } = snapshot;
  return buildGraph({ mode: settings.mode, entries, searches, runs: [...snapshot.runs.values()], rankOf });
}

const edges = (world: World) =>
  graph(world).flatMap(({ members, dependsOn }) =>
    dependsOn.map(({ on, why, shared }) => `${members.join('+')} → ${on} ${why} ${shared.join()}`.trim()),
  );

describe('the graph of a queue', () => {
  it('has one edge to whoever is ahead in a single line', () => {
    const world = new World({ concurrency: 2 });
    for (const pr of [1, 2, 3]) world.submit(pr);
    expect(edges(world)).toEqual(['2 → 1 order', '3 → 2 order']);
    expect(graph(world).map(({ kind, testedOn }) => [kind, testedOn])).toEqual([
      ['line', []],
      ['line', [1]],
      ['pending', []],
    ]);
  });

  it('names the targets that those in a lane share, and nobody of another lane', () => {
    const world = new World(lanes);
    world.submit(1, { targets: of(1, 2, 3) });
    world.submit(2, { targets: of(7) });
    world.submit(3, { targets: of(2, 3, 7, 9) });
    world.submit(4, { targets: of(8) });
    expect(edges(world)).toEqual(['3 → 2 targets 7', '3 → 1 targets 2,3']);
  });

  it('tells the first few of many shared targets by rank, and how many there are', () => {
    const world = new World(lanes);
    const many = of(...Array.from({ length: 100 }, (_, index) => index));
    world.submit(1, { targets: many });
    world.submit(2, { targets: many });
    const [dependency] = graph(world, (target) => -target)[1]!.dependsOn;
    expect(dependency).toMatchObject({ sharedCount: 100, shared: [99, 98, 97] });
  });

  it('lets everything depend on one that impacts everything, but for what impacts nothing', () => {
    const world = new World(lanes);
    world.submit(1, { targets: of(1) });
    world.submit(2, { targets: 'ALL' });
    world.submit(3, { targets: of(5) });
    world.submit(4, { targets: of() });
    expect(edges(world)).toEqual(['2 → 1 everything', '3 → 2 everything']);
  });

  it('shows a batch as one, with what all of its members share with a batch ahead', () => {
    const world = new World({ ...lanes, batch: true, batchingMinSize: 2 });
    world.submit(1, { targets: of(1) });
    world.submit(2, { targets: of(1, 2) });
    world.submit(3, { targets: of(2, 4) });
    world.submit(4, { targets: of(1, 4) });
    expect(edges(world)).toEqual(['3+4 → 1 targets 1,2']);
  });

  it('tells at most eight of those that one waits for, the nearest first', () => {
    const world = new World({ ...lanes, concurrency: 40 });
    for (let pr = 1; pr <= 20; pr += 1) world.submit(pr, { targets: of(pr) });
    world.submit(21, { targets: of(...Array.from({ length: 20 }, (_, index) => index + 1)) });
    const last = graph(world).at(-1)!;
    expect(last.dependencyCount).toBe(20);
    expect(last.dependsOn.map(({ on }) => on)).toEqual([20, 19, 18, 17, 16, 15, 14, 13]);
  });

  it('never differs from what the planner tests on top of what', () => {
    const targets = fc.oneof(
      { weight: 6, arbitrary: fc.uniqueArray(fc.nat(9), { maxLength: 3 }).map((list) => of(...list)) },
      { weight: 1, arbitrary: fc.constant<Targets>('ALL') },
    );
    fc.assert(
      fc.property(
        fc.array(targets, { minLength: 1, maxLength: 8 }),
        fc.boolean(),
        fc.boolean(),
        (list, single, batch) => {
          const world = new World({
            mode: single ? 'single' : 'parallel',
            concurrency: 20,
            batch,
            batchingMinSize: 2,
            batchingMaxWaitTimeMinutes: 0,
          });
          for (const [index, set] of list.entries()) world.submit(index + 1, { targets: set });
          const groups = graph(world);
          const ahead = new Map<number, Set<number>>();
          for (const { kind, members, testedOn, dependsOn, dependencyCount } of groups) {
            expect(kind).toBe('line');
            expect(dependsOn).toHaveLength(dependencyCount);
            const all = new Set(dependsOn.flatMap(({ on }) => [...ahead.get(on)!]));
            expect(new Set(testedOn)).toEqual(all);
            ahead.set(members[0]!, new Set([...all, ...members]));
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('a bisection', () => {
  const searching = (bisectionConcurrency: number) => {
    const world = new World({ concurrency: 4, bisectionConcurrency, batch: true, batchingMinSize: 8 });
    for (let pr = 1; pr <= 8; pr += 1) world.submit(pr);
    world.advance(1_000);
    world.fail('1+2+3+4+5+6+7+8');
    return world;
  };
  const summarized = ({ snapshot }: World) =>
    summarizeBisection(snapshot.searches[0]!, [...snapshot.runs.values()]);

  it('begins with everybody suspected and a first half under way', () => {
    expect(summarized(searching(1))).toMatchObject({
      members: [1, 2, 3, 4, 5, 6, 7, 8],
      cleared: 0,
      failing: 8,
      rounds: [{ from: 0, to: 8, runs: [{ length: 4, status: 'under_way' }] }],
    });
  });

  it('tells round by round who is left', () => {
    const world = searching(1);
    world.advance(1_000);
    world.pass('1+2+3+4');
    world.advance(1_000);
    world.fail('1+2+3+4+5+6');
    expect(summarized(world)).toMatchObject({
      cleared: 4,
      failing: 6,
      rounds: [
        { from: 0, to: 8, runs: [{ length: 4, status: 'passed' }] },
        { from: 4, to: 8, runs: [{ length: 6, status: 'failed' }] },
        { from: 4, to: 6, runs: [{ length: 5, status: 'under_way' }] },
      ],
    });
  });

  it('tests several prefixes in one round where there are slots', () => {
    const world = searching(3);
    world.advance(1_000);
    world.pass('1+2');
    expect(summarized(world).rounds).toMatchObject([
      {
        from: 0,
        to: 8,
        runs: [
          { length: 2, status: 'passed' },
          { length: 4, status: 'under_way' },
          { length: 6, status: 'under_way' },
        ],
      },
    ]);
  });

  it('shows the group of the search beside the line: nobody waits for it', () => {
    const world = searching(1);
    for (let pr = 9; pr <= 16; pr += 1) world.submit(pr);
    expect(
      graph(world).map(({ kind, members, dependsOn }) => [kind, members.length, dependsOn.length]),
    ).toEqual([
      ['search', 8, 0],
      ['line', 8, 0],
    ]);
  });
});
