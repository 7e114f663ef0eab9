// Computes where boxes and edges go. Each box is below the boxes that it waits for, as near to the branch as
// possible.
//
// Edges of a small graph are routed around the boxes. In a large graph, room for every edge would spread the
// boxes too far, and takes seconds: there one edge of each box decides its position, the one to the lowest
// box that it waits for, and the others are drawn straight, without labels.

import { Graph, layout } from '@dagrejs/dagre';
import type { Point, GraphShape } from './graph.ts';

export type RoutedEdge = {
  readonly points: readonly Point[];
  /** Null if the label would cover boxes. */
  readonly label: Point | null;
};
export type Layout = {
  readonly shape: GraphShape;
  readonly width: number;
  readonly height: number;
  /** The upper left corner of each box. */
  readonly boxes: ReadonlyMap<string, Point>;
  readonly edges: ReadonlyMap<string, RoutedEdge>;
};

type LayoutEdge = GraphShape['edges'][number];

/** Edges that are routed around boxes. */
const routedMax = 80;

export function layOut(shape: GraphShape): Layout {
  const routed = shape.edges.length <= routedMax ? shape.edges : selectLowestEdges(shape.edges);
  const graph = new Graph();
  // From each box to the one that it waits for: the longest path to the branch decides its distance from it.
  graph.setGraph({ rankdir: 'BT', ranker: 'longest-path', nodesep: 28, ranksep: 24, edgesep: 16 });
  for (const { id, width, height } of shape.boxes) graph.setNode(id, { width, height });
  for (const { from, to, labelWidth } of routed)
    graph.setEdge(to, from, { width: labelWidth, height: labelWidth === 0 ? 0 : 18, labelpos: 'c' });
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const boxes = new Map(
    shape.boxes.map((box) => {
      const { x, y } = graph.node(box.id) as Point;
      return [box.id, { x: x - box.width / 2, y: y - box.height / 2 }];
    }),
  );
  const straight = createStraightEdges(shape, boxes);
  return {
    shape,
    width,
    height,
    boxes,
    edges: new Map(
      shape.edges.map((edge) => [edge.id, findRoutedEdge(graph, edge) ?? straight(edge)] as const),
    ),
  };
}

/** For each box the edge to the lowest box that it waits for. In queue order, that box's depth is known. */
function selectLowestEdges(edges: readonly LayoutEdge[]): readonly LayoutEdge[] {
  const depths = new Map<string, number>();
  const lowest = new Map<string, LayoutEdge>();
  for (const edge of edges) {
    const depth = (depths.get(edge.from) ?? 0) + 1;
    if (depth <= (depths.get(edge.to) ?? 0)) continue;
    depths.set(edge.to, depth);
    lowest.set(edge.to, edge);
  }
  return [...lowest.values()];
}

function findRoutedEdge(graph: Graph, { from, to }: LayoutEdge): RoutedEdge | undefined {
  const edge = graph.edge(to, from) as { points: Point[]; x?: number; y?: number } | undefined;
  if (edge === undefined) return undefined;
  const { points, x, y } = edge;
  const middle = points[Math.floor(points.length / 2)]!;
  return { points, label: { x: x ?? middle.x, y: y ?? middle.y } };
}

function createStraightEdges(
  shape: GraphShape,
  places: ReadonlyMap<string, Point>,
): (edge: LayoutEdge) => RoutedEdge {
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
