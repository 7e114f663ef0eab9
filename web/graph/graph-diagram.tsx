// A queue's graph as a diagram: boxes that link to pull requests, and edges labelled with their reason. States
// change in place while tests run: boxes move only when the shape of the graph changes.

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
import {
  branchId,
  type QueueGraphGroup,
  getGroupId,
  buildSvgPath,
  type QueueGraphData,
  buildGraphShape,
} from './graph.ts';
import type { Layout, RoutedEdge } from './graph-layout.ts';
import type { QueueName } from '../name.ts';
import { useLayout } from './use-layout.ts';
import { Loading } from '../component/query-result.tsx';
import { BranchBox, type BranchNode, GroupBox, type GroupNode } from './graph-node.tsx';

type FlowNode = GroupNode | BranchNode;
type DependencyEdge = Edge<RoutedEdge, 'dependency'>;
type Flow = ReactFlowInstance<FlowNode, DependencyEdge>;

const DependencyEdgePath = memo(function DependencyEdgePath({
  data,
  label,
  markerEnd,
}: EdgeProps<DependencyEdge>) {
  if (data === undefined) return null;
  return (
    <BaseEdge
      path={buildSvgPath(data.points)}
      {...(data.label !== null && { label, labelX: data.label.x, labelY: data.label.y })}
      labelBgPadding={[6, 2]}
      labelBgBorderRadius={4}
      {...(markerEnd !== undefined && { markerEnd })}
    />
  );
});

const nodeTypes = { box: GroupBox, branch: BranchBox };
const edgeTypes = { dependency: DependencyEdgePath };

/** Below this zoom boxes cannot be read: then the front of the queue is shown instead of everything. */
const readableZoom = 0.55;
const minimapFrom = 8;
/** Further out hundreds of boxes would be drawn, all unreadable: the overview is for that. */
const minZoom = 0.35;

type GraphDiagramProps = {
  readonly queue: QueueName;
  readonly graph: QueueGraphData;
  readonly summary: string;
};

export function GraphDiagram({ queue, graph, summary }: GraphDiagramProps) {
  const shape = useMemo(() => buildGraphShape(graph), [graph]);
  const layout = useLayout(shape);
  const nodes = useMemo(
    () => (layout === null ? [] : buildFlowNodes(queue, graph.groups, layout)),
    [queue, graph, layout],
  );
  const edges = useMemo(() => (layout === null ? [] : buildFlowEdges(layout)), [layout]);
  const frame = useRef<HTMLDivElement>(null);
  const flow = useRef<Flow>(null);
  const scheme = useComputedColorScheme('light');
  const initialize = useCallback(
    (instance: Flow) => {
      flow.current = instance;
      if (frame.current !== null && layout !== null) void showFront(instance, frame.current, layout);
    },
    [layout],
  );
  if (layout === null) return <Loading what="Drawing the graph" />;
  return (
    <div className="graph" ref={frame} onFocus={(event) => follow(event, flow.current)}>
      <ReactFlow<FlowNode, DependencyEdge>
        nodes={nodes}
        edges={edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onInit={initialize}
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
          <MiniMap pannable zoomable nodeClassName={chooseMinimapClass} ariaLabel="Overview of the graph" />
        )}
      </ReactFlow>
    </div>
  );
}

const chooseMinimapClass = ({ data }: FlowNode): string =>
  'group' in data ? `mini-${data.group.kind}` : 'mini-branch';

function buildFlowNodes(queue: QueueName, groups: readonly QueueGraphGroup[], layout: Layout): FlowNode[] {
  const byId = new Map(groups.map((group) => [getGroupId(group), group]));
  return layout.shape.boxes.flatMap(({ id, width, height }): FlowNode[] => {
    // The positions of the handles are known, so React Flow does not have to draw a box to measure it.
    const handles = [
      { type: 'target' as const, position: Position.Top, x: width / 2, y: 0 },
      { type: 'source' as const, position: Position.Bottom, x: width / 2, y: height },
    ];
    const size = { width, height };
    const base = { id, ...size, measured: size, handles, position: layout.boxes.get(id)! };
    if (id === branchId) return [{ ...base, type: 'branch', data: { branch: queue.targetBranch } }];
    // A group that left after the layout was computed.
    const group = byId.get(id);
    return group === undefined ? [] : [{ ...base, type: 'box', data: { queue, group } }];
  });
}

const buildFlowEdges = ({ shape, edges }: Layout): DependencyEdge[] =>
  shape.edges.map(({ id, from, to, label }) => ({
    id,
    type: 'dependency',
    source: from,
    target: to,
    label,
    data: edges.get(id)!,
    className: edges.get(id)!.label === null ? 'graph-faint' : '',
    markerEnd: { type: MarkerType.ArrowClosed, width: 16, height: 16 },
  }));

/** Shows everything if it is readable; else the branch and the next entries, at a readable size. */
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

/** With keyboard navigation from link to link, scrolls to the box of the focused link. */
function follow({ target }: FocusEvent, flow: Flow | null): void {
  if (flow === null || !target.matches('.graph-link:focus-visible')) return;
  const id = target.closest('.react-flow__node')?.getAttribute('data-id');
  const node = id == null ? undefined : flow.getNode(id);
  if (node === undefined) return;
  const { x, y } = node.position;
  void flow.setCenter(x + (node.width ?? 0) / 2, y + (node.height ?? 0) / 2, { zoom: flow.getZoom() });
}
