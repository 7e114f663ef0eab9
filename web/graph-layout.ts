// Where boxes and edges go.

import { Graph, layout } from '@dagrejs/dagre';
import type { Point, Shape } from './graph.ts';

export type PlacedLine = { readonly points: readonly Point[]; readonly label: Point };
export type Layout = {
  readonly shape: Shape;
  readonly width: number;
  readonly height: number;
  /** The upper left corner of each box. */
  readonly boxes: ReadonlyMap<string, Point>;
  readonly lines: ReadonlyMap<string, PlacedLine>;
};

export function layOut(shape: Shape): Layout {
  const graph = new Graph();
  // From who waits to whom it waits for, so that everybody stands as near to the branch as can be.
  graph.setGraph({ rankdir: 'BT', ranker: 'longest-path', nodesep: 28, ranksep: 24, edgesep: 16 });
  for (const { id, width, height } of shape.boxes) graph.setNode(id, { width, height });
  for (const { from, to, labelWidth } of shape.lines)
    graph.setEdge(to, from, {
      width: labelWidth,
      height: labelWidth === 0 ? 0 : 18,
      labelpos: 'c',
      // What stands on the branch itself may be far from it; a lane stays together.
      weight: labelWidth === 0 ? 1 : 2,
    });
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    shape,
    width,
    height,
    boxes: new Map(
      shape.boxes.map(({ id, width: boxWidth, height: boxHeight }) => {
        const { x, y } = graph.node(id) as Point;
        return [id, { x: x - boxWidth / 2, y: y - boxHeight / 2 }];
      }),
    ),
    lines: new Map(
      shape.lines.map(({ id, from, to }) => {
        const { points, x, y } = graph.edge(to, from) as { points: Point[]; x?: number; y?: number };
        const middle = points[Math.floor(points.length / 2)]!;
        return [id, { points, label: { x: x ?? middle.x, y: y ?? middle.y } }];
      }),
    ),
  };
}
