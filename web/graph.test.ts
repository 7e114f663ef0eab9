import { describe, expect, it } from 'vitest';
import {
  branchId,
  type GraphGroup,
  groundOf,
  laneCount,
  pathOf,
  type QueueGraph,
  shapeOf,
  summaryOf,
  wordsOfDependency,
} from './graph.ts';
import { layOut } from './graph-layout.ts';

type Given = Partial<Omit<GraphGroup, 'dependsOn' | 'pullRequests'>> & { readonly on?: readonly number[] };

const group = (numbers: readonly number[], { on = [], ...given }: Given = {}): GraphGroup => ({
  kind: 'line',
  pullRequests: numbers.map((prNumber) => ({
    prNumber,
    prTitle: `Change ${prNumber}`,
    state: 'testing',
    isLanding: false,
    impactedTargetCount: 1,
    impactsEverything: false,
  })),
  testRunId: null,
  testedOn: [],
  conflictsWith: null,
  dependencyCount: on.length,
  dependsOn: on.map((prNumber) => ({
    prNumber,
    why: 'targets',
    sharedTargetCount: 1,
    sharedTargets: ['//a'],
  })),
  ...given,
});

const graph = (...groups: readonly GraphGroup[]): QueueGraph => ({
  mode: 'parallel',
  branchSha: null,
  groups: [...groups],
  isCut: false,
  bisections: [],
});

describe('the words of an edge', () => {
  const words = (given: object) => wordsOfDependency({ ...group([2], { on: [1] }).dependsOn[0]!, ...given });

  it('count what is shared and name the first of it', () => {
    expect(words({})).toBe('1 shared: //a');
    expect(words({ sharedTargetCount: 7, sharedTargets: ['//a', '//b'] })).toBe('7 shared: //a, //b, …');
    expect(words({ why: 'everything', sharedTargetCount: 0 })).toBe('impacts everything');
    expect(words({ why: 'order', sharedTargetCount: 0 })).toBe('');
  });

  it('are cut in the picture', () => {
    const long = group([2], { on: [1] });
    long.dependsOn[0]!.sharedTargets = ['//a/very/long/name/of/a/target:with_more_behind_it'];
    const [, line] = shapeOf(graph(group([1]), long)).lines;
    expect(line!.label).toHaveLength(30);
    expect(line!.label).toMatch(/^1 shared: \/\/a\/very.*…$/);
  });
});

describe('the shape of a graph', () => {
  it('puts whoever waits for nobody on the branch', () => {
    const { lines, boxes } = shapeOf(graph(group([1]), group([2, 3], { on: [1] })));
    expect(lines.map(({ from, to }) => `${from} ${to}`)).toEqual([`${branchId} 1`, '1 2']);
    expect(boxes.map(({ id }) => id)).toEqual([branchId, '1', '2']);
    expect(boxes[2]!.height).toBeGreaterThan(boxes[1]!.height);
  });

  it('stays the same while only states change', () => {
    const before = graph(group([1]), group([2], { on: [1] }));
    const after = graph(group([1]), group([2], { on: [1] }));
    after.groups[0]!.pullRequests[0]!.state = 'tests_passed';
    after.groups[1]!.testRunId = '5f0c6a0e-6a2f-4c8e-9d57-0b6f3a1c2d4e';
    expect(shapeOf(after)).toEqual(shapeOf(before));
  });

  it('is laid out with what waits behind what it waits for, and nothing on top of each other', () => {
    const many = graph(
      group([1]),
      group([2], { on: [1] }),
      group([3]),
      group([4, 5], { on: [3, 2] }),
      group([6], { on: [4] }),
    );
    const { boxes, shape } = layOut(shapeOf(many));
    for (const { from, to } of shape.lines) expect(boxes.get(to)!.y).toBeGreaterThan(boxes.get(from)!.y);
    const placed = shape.boxes.map((box) => ({ ...box, ...boxes.get(box.id)! }));
    for (const [index, a] of placed.entries())
      for (const b of placed.slice(index + 1)) {
        const apart =
          a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
        expect(apart, `${a.id} and ${b.id}`).toBe(true);
      }
  });

  it('is laid out as well where there are too many edges to lead each around the boxes', () => {
    const groups = Array.from({ length: 120 }, (_, index) => {
      const on = [index, index - 2, index - 7, Math.floor(index / 2)].filter((number) => number > 0);
      return group([index + 1], { on: [...new Set(on)] });
    });
    const { boxes, shape, lines } = layOut(shapeOf(graph(...groups)));
    expect(shape.lines.length).toBeGreaterThan(300);
    for (const { id, from, to } of shape.lines) {
      expect(boxes.get(to)!.y).toBeGreaterThan(boxes.get(from)!.y);
      expect(lines.get(id)!.points.length).toBeGreaterThanOrEqual(2);
    }
    expect([...lines.values()].filter(({ label }) => label !== null)).toHaveLength(120);
  });

  it('draws a line through all of its points', () => {
    expect(
      pathOf([
        { x: 0, y: 0 },
        { x: 10, y: 0 },
      ]),
    ).toBe('M0,0 L10,0');
    expect(
      pathOf([
        { x: 0, y: 0 },
        { x: 10, y: 0 },
        { x: 20, y: 10 },
      ]),
    ).toBe('M0,0 Q10,0 15,5 L20,10');
  });
});

describe('lanes', () => {
  it('are one where somebody waits for two of them', () => {
    const apart = [group([1]), group([2]), group([3], { on: [1] })];
    expect(laneCount(graph(...apart))).toBe(2);
    expect(laneCount(graph(...apart, group([4], { on: [2, 3] }), group([5])))).toBe(2);
  });

  it('are counted in words, without what is searched beside the line', () => {
    const all = graph(
      group([1]),
      group([2], { kind: 'pending', on: [1] }),
      group([8, 9], { kind: 'search' }),
    );
    expect(summaryOf(all)).toBe('1 under test, 1 waiting, 2 searched for what broke their batch, in 1 lane.');
    expect(summaryOf(graph(group([8, 9], { kind: 'search' })))).toBe(
      '2 searched for what broke their batch.',
    );
    expect(summaryOf({ ...graph(group([1])), isCut: true })).toMatch(/first 1,000/);
  });
});

it('says what a group is tested on top of', () => {
  expect(groundOf(group([1]), 'main')).toBe('main');
  expect(groundOf(group([3], { testedOn: [1, 2] }), 'main')).toBe('#1, #2');
  expect(groundOf(group([3], { kind: 'pending' }), 'main')).toBe('not under test yet');
  expect(groundOf(group([3], { kind: 'pending', conflictsWith: 1 }), 'main')).toMatch(/#1/);
});
