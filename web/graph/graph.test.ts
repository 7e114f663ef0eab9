import { describe, expect, it } from 'vitest';
import {
  branchId,
  type QueueGraphGroup,
  describeTestBase,
  laneCount,
  buildSvgPath,
  type QueueGraphData,
  buildGraphShape,
  summarizeGraph,
  describeDependency,
} from './graph.ts';
import { layOut } from './graph-layout.ts';

type Given = Partial<Omit<QueueGraphGroup, 'dependsOn' | 'pullRequests'>> & {
  readonly on?: readonly number[];
};

const group = (numbers: readonly number[], { on = [], ...given }: Given = {}): QueueGraphGroup => ({
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

const graph = (...groups: readonly QueueGraphGroup[]): QueueGraphData => ({
  mode: 'parallel',
  branchSha: null,
  groups: [...groups],
  isCut: false,
  bisections: [],
});

describe('the label of an edge', () => {
  const describeEdge = (given: object) =>
    describeDependency({ ...group([2], { on: [1] }).dependsOn[0]!, ...given });

  it('counts the shared targets and names the first ones', () => {
    expect(describeEdge({})).toBe('1 shared: //a');
    expect(describeEdge({ sharedTargetCount: 7, sharedTargets: ['//a', '//b'] })).toBe(
      '7 shared: //a, //b, …',
    );
    expect(describeEdge({ why: 'everything', sharedTargetCount: 0 })).toBe('impacts everything');
    expect(describeEdge({ why: 'order', sharedTargetCount: 0 })).toBe('');
  });

  it('is truncated in the diagram', () => {
    const long = group([2], { on: [1] });
    long.dependsOn[0]!.sharedTargets = ['//a/very/long/name/of/a/target:with_more_behind_it'];
    const [, edge] = buildGraphShape(graph(group([1]), long)).edges;
    expect(edge!.label).toHaveLength(30);
    expect(edge!.label).toMatch(/^1 shared: \/\/a\/very.*…$/);
  });
});

describe('the shape of a graph', () => {
  it('puts a group without dependencies on the branch', () => {
    const { edges, boxes } = buildGraphShape(graph(group([1]), group([2, 3], { on: [1] })));
    expect(edges.map(({ from, to }) => `${from} ${to}`)).toEqual([`${branchId} 1`, '1 2']);
    expect(boxes.map(({ id }) => id)).toEqual([branchId, '1', '2']);
    expect(boxes[2]!.height).toBeGreaterThan(boxes[1]!.height);
  });

  it('stays the same while only states change', () => {
    const before = graph(group([1]), group([2], { on: [1] }));
    const after = graph(group([1]), group([2], { on: [1] }));
    after.groups[0]!.pullRequests[0]!.state = 'tests_passed';
    after.groups[1]!.testRunId = '5f0c6a0e-6a2f-4c8e-9d57-0b6f3a1c2d4e';
    expect(buildGraphShape(after)).toEqual(buildGraphShape(before));
  });

  it('puts a group below the groups that it waits for, and no box overlaps another', () => {
    const many = graph(
      group([1]),
      group([2], { on: [1] }),
      group([3]),
      group([4, 5], { on: [3, 2] }),
      group([6], { on: [4] }),
    );
    const { boxes, shape } = layOut(buildGraphShape(many));
    for (const { from, to } of shape.edges) expect(boxes.get(to)!.y).toBeGreaterThan(boxes.get(from)!.y);
    const placed = shape.boxes.map((box) => ({ ...box, ...boxes.get(box.id)! }));
    for (const [index, a] of placed.entries())
      for (const b of placed.slice(index + 1)) {
        const apart =
          a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
        expect(apart, `${a.id} and ${b.id}`).toBe(true);
      }
  });

  it('is also laid out with too many edges to route each around the boxes', () => {
    const groups = Array.from({ length: 120 }, (_, index) => {
      const on = [index, index - 2, index - 7, Math.floor(index / 2)].filter((number) => number > 0);
      return group([index + 1], { on: [...new Set(on)] });
    });
    const { boxes, shape, edges } = layOut(buildGraphShape(graph(...groups)));
    expect(shape.edges.length).toBeGreaterThan(300);
    for (const { id, from, to } of shape.edges) {
      expect(boxes.get(to)!.y).toBeGreaterThan(boxes.get(from)!.y);
      expect(edges.get(id)!.points.length).toBeGreaterThanOrEqual(2);
    }
    expect([...edges.values()].filter(({ label }) => label !== null)).toHaveLength(120);
  });

  it('draws an edge through all of its points', () => {
    expect(
      buildSvgPath([
        { x: 0, y: 0 },
        { x: 10, y: 0 },
      ]),
    ).toBe('M0,0 L10,0');
    expect(
      buildSvgPath([
        { x: 0, y: 0 },
        { x: 10, y: 0 },
        { x: 20, y: 10 },
      ]),
    ).toBe('M0,0 Q10,0 15,5 L20,10');
  });
});

describe('lanes', () => {
  it('become one if a group waits for two of them', () => {
    const apart = [group([1]), group([2]), group([3], { on: [1] })];
    expect(laneCount(graph(...apart))).toBe(2);
    expect(laneCount(graph(...apart, group([4], { on: [2, 3] }), group([5])))).toBe(2);
  });

  it('are counted in the summary, without bisections', () => {
    const all = graph(
      group([1]),
      group([2], { kind: 'pending', on: [1] }),
      group([8, 9], { kind: 'search' }),
    );
    expect(summarizeGraph(all)).toBe('1 under test, 1 waiting, 2 in a bisection, in 1 parallel lane.');
    expect(summarizeGraph(graph(group([8, 9], { kind: 'search' })))).toBe('2 in a bisection.');
    expect(summarizeGraph({ ...graph(group([1])), isCut: true })).toMatch(/first 1,000/);
  });
});

it('describes what a group is tested on top of', () => {
  expect(describeTestBase(group([1]), 'main')).toBe('main');
  expect(describeTestBase(group([3], { testedOn: [1, 2] }), 'main')).toBe('#1, #2');
  expect(describeTestBase(group([3], { kind: 'pending' }), 'main')).toBe('not under test yet');
  expect(describeTestBase(group([3], { kind: 'pending', conflictsWith: 1 }), 'main')).toMatch(/#1/);
});
