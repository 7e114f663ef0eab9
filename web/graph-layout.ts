// Where boxes and edges go. Everybody stands below whom it waits for, as near to the branch as can be.
//
// Edges of a small graph are led around the boxes. Room for every edge of a large one would tear it apart, and takes
// seconds: there one edge of each box decides where it stands, the one to the lowest that it waits for, and the others
// are drawn straight, without words.

import { Graph, layout } from '@dagrejs/dagre';
import type { Point, Shape } from './graph.ts';

export type PlacedLine = {
  readonly points: readonly Point[];
  /** Null where its words would cover boxes. */
  readonly label: Point | null;
};
export type Layout = {
  readonly shape: Shape;
  readonly width: number;
  readonly height: number;
  /** The upper left corner of each box. */
  readonly boxes: ReadonlyMap<string, Point>;
  readonly lines: ReadonlyMap<string, PlacedLine>;
};

type Line = Shape['lines'][number];

/** Edges that are led around boxes. */
const ledMax = 80;

export function layOut(shape: Shape): Layout {
  const led = shape.lines.length <= ledMax ? shape.lines : lowestOf(shape.lines);
  const graph = new Graph();
  // From who waits to whom it waits for: so the longest way to the branch says how far from it one stands.
  graph.setGraph({ rankdir: 'BT', ranker: 'longest-path', nodesep: 28, ranksep: 24, edgesep: 16 });
  for (const { id, width, height } of shape.boxes) graph.setNode(id, { width, height });
  for (const { from, to, labelWidth } of led)
    graph.setEdge(to, from, { width: labelWidth, height: labelWidth === 0 ? 0 : 18, labelpos: 'c' });
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const boxes = new Map(
    shape.boxes.map((box) => {
      const { x, y } = graph.node(box.id) as Point;
      return [box.id, { x: x - box.width / 2, y: y - box.height / 2 }];
    }),
  );
  const straight = straightLines(shape, boxes);
  return {
    shape,
    width,
    height,
    boxes,
    lines: new Map(shape.lines.map((line) => [line.id, ledLine(graph, line) ?? straight(line)] as const)),
  };
}

/** Of each box the edge to the lowest of those that it waits for. Edges come in line order: whom one waits for is known. */
function lowestOf(lines: readonly Line[]): readonly Line[] {
  const depths = new Map<string, number>();
  const lowest = new Map<string, Line>();
  for (const line of lines) {
    const depth = (depths.get(line.from) ?? 0) + 1;
    if (depth <= (depths.get(line.to) ?? 0)) continue;
    depths.set(line.to, depth);
    lowest.set(line.to, line);
  }
  return [...lowest.values()];
}

function ledLine(graph: Graph, { from, to }: Line): PlacedLine | undefined {
  const edge = graph.edge(to, from) as { points: Point[]; x?: number; y?: number } | undefined;
  if (edge === undefined) return undefined;
  const { points, x, y } = edge;
  const middle = points[Math.floor(points.length / 2)]!;
  return { points, label: { x: x ?? middle.x, y: y ?? middle.y } };
}

function straightLines(shape: Shape, places: ReadonlyMap<string, Point>): (line: Line) => PlacedLine {
  const sizes = new Map(shape.boxes.map((box) => [box.id, box]));
  return ({ from, to }) => {
    const { width: toWidth } = sizes.get(to)!;
    const { width: fromWidth, height } = sizes.get(from)!;
    const [below, above] = [places.get(to)!, places.get(from)!];
    const start = { x: below.x + toWidth / 2, y: below.y };
    const end = { x: above.x + fromWidth / 2, y: above.y + height };
    return { points: [start, end], label: null };
  };
}
