// A queue's graph as a picture: boxes that lead to pull requests, and edges with what binds them. What changes while
// tests run changes in place: boxes move only when the shape of the graph does.

import '@xyflow/react/dist/style.css';
import './graph.css';
import { useComputedColorScheme } from '@mantine/core';
import {
  Background,
  BaseEdge,
  Controls,
  type Edge,
  type EdgeProps,
  MarkerType,
  MiniMap,
  Position,
  ReactFlow,
  type ReactFlowInstance,
} from '@xyflow/react';
import { type FocusEvent, memo, useCallback, useMemo, useRef } from 'react';
import { branchId, type GraphGroup, idOf, pathOf, type QueueGraph, shapeOf } from '../graph.ts';
import type { Layout, PlacedLine } from '../graph-layout.ts';
import type { QueueName } from '../name.ts';
import { useLayout } from '../use-layout.ts';
import { Loading } from './answer.tsx';
import { BranchBox, type BranchNode, GroupBox, type GroupNode } from './graph-node.tsx';

type Box = GroupNode | BranchNode;
type Bond = Edge<PlacedLine, 'bond'>;
type Flow = ReactFlowInstance<Box, Bond>;

const BondLine = memo(function BondLine({ data, label, markerEnd }: EdgeProps<Bond>) {
  if (data === undefined) return null;
  return (
    <BaseEdge
      path={pathOf(data.points)}
      {...(data.label !== null && { label, labelX: data.label.x, labelY: data.label.y })}
      labelBgPadding={[6, 2]}
      labelBgBorderRadius={4}
      {...(markerEnd !== undefined && { markerEnd })}
    />
  );
});

const nodeTypes = { box: GroupBox, branch: BranchBox };
const edgeTypes = { bond: BondLine };

/** Below this boxes cannot be read: then the front of the line is shown instead of everything. */
const readableZoom = 0.55;
const minimapFrom = 8;
/** Further out hundreds of boxes would be drawn, and none could be read: the overview is for that. */
const minZoom = 0.35;

type PictureProps = {
  readonly queue: QueueName;
  readonly graph: QueueGraph;
  readonly summary: string;
};

export function GraphPicture({ queue, graph, summary }: PictureProps) {
  const shape = useMemo(() => shapeOf(graph), [graph]);
  const layout = useLayout(shape);
  const nodes = useMemo(
    () => (layout === null ? [] : boxesOf(queue, graph.groups, layout)),
    [queue, graph, layout],
  );
  const edges = useMemo(() => (layout === null ? [] : bondsOf(layout)), [layout]);
  const frame = useRef<HTMLDivElement>(null);
  const flow = useRef<Flow>(null);
  const scheme = useComputedColorScheme('light');
  const begin = useCallback(
    (instance: Flow) => {
      flow.current = instance;
      if (frame.current !== null && layout !== null) void showFront(instance, frame.current, layout);
    },
    [layout],
  );
  if (layout === null) return <Loading what="Drawing the graph" />;
  return (
    <div className="graph" ref={frame} onFocus={(event) => follow(event, flow.current)}>
      <ReactFlow<Box, Bond>
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onInit={begin}
        colorMode={scheme}
        aria-label={summary}
        onlyRenderVisibleElements
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        // The wheel scrolls the page; zooming is for the buttons and for two fingers.
        zoomOnScroll={false}
        preventScrolling={false}
        minZoom={minZoom}
        maxZoom={1.5}
      >
        <Background />
        <Controls showInteractive={false} />
        {nodes.length > minimapFrom && (
          <MiniMap pannable zoomable nodeClassName={toneOf} ariaLabel="Overview of the graph" />
        )}
      </ReactFlow>
    </div>
  );
}

const toneOf = ({ data }: Box): string => ('group' in data ? `mini-${data.group.kind}` : 'mini-branch');

function boxesOf(queue: QueueName, groups: readonly GraphGroup[], layout: Layout): Box[] {
  const byId = new Map(groups.map((group) => [idOf(group), group]));
  return layout.shape.boxes.flatMap(({ id, width, height }): Box[] => {
    // Told, so that a box need not be drawn to be measured before it comes into view.
    const handles = [
      { type: 'target' as const, position: Position.Top, x: width / 2, y: 0 },
      { type: 'source' as const, position: Position.Bottom, x: width / 2, y: height },
    ];
    const size = { width, height };
    const base = { id, ...size, measured: size, handles, position: layout.boxes.get(id)! };
    if (id === branchId) return [{ ...base, type: 'branch', data: { branch: queue.targetBranch } }];
    // One that left since the layout was made.
    const group = byId.get(id);
    return group === undefined ? [] : [{ ...base, type: 'box', data: { queue, group } }];
  });
}

const bondsOf = ({ shape, lines }: Layout): Bond[] =>
  shape.lines.map(({ id, from, to, label }) => ({
    id,
    type: 'bond',
    source: from,
    target: to,
    label,
    data: lines.get(id)!,
    className: lines.get(id)!.label === null ? 'graph-faint' : '',
    markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16 },
  }));

/** Everything where it can be read; else the branch and who is next, as large as can be read. */
async function showFront(
  flow: Flow,
  frame: HTMLElement,
  { width, height, boxes, shape }: Layout,
): Promise<void> {
  const fits = Math.min(frame.clientWidth / (width + 48), frame.clientHeight / (height + 48), 1);
  if (fits >= readableZoom) return void (await flow.fitView({ padding: 0.08, maxZoom: 1 }));
  const zoom = 0.8;
  const { x, y } = boxes.get(branchId)!;
  const { width: branchWidth } = shape.boxes.find(({ id }) => id === branchId)!;
  await flow.setViewport({
    zoom,
    x: frame.clientWidth / 2 - (x + branchWidth / 2) * zoom,
    y: 16 - y * zoom,
  });
}

/** Who goes from link to link with the keyboard is shown the box that the link is in. */
function follow({ target }: FocusEvent, flow: Flow | null): void {
  if (flow === null || !target.matches('.graph-link:focus-visible')) return;
  const id = target.closest('.react-flow__node')?.getAttribute('data-id');
  const node = id == null ? undefined : flow.getNode(id);
  if (node === undefined) return;
  const { x, y } = node.position;
  void flow.setCenter(x + (node.width ?? 0) / 2, y + (node.height ?? 0) / 2, { zoom: flow.getZoom() });
}
