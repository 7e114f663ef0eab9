// The shape of a queue's graph: boxes, the edges between them and their labels. States that change while tests
// run are not part of the shape, so the layout is computed again only when an entry arrives, leaves or moves.

import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { formatCount, formatPullRequestNumbers } from '../format.ts';

export type QueueGraphData = ResponseOf<'getQueueGraph'>;
export type QueueGraphGroup = QueueGraphData['groups'][number];
export type GroupDependency = QueueGraphGroup['dependsOn'][number];

type GraphBox = { readonly id: string; readonly width: number; readonly height: number };
type GraphEdge = {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly label: string;
  /** In pixels; 0 without a label. */
  readonly labelWidth: number;
};
export type Point = { readonly x: number; readonly y: number };
export type GraphShape = {
  readonly boxes: readonly GraphBox[];
  readonly edges: readonly GraphEdge[];
};

/** The branch, on top of which everything is tested. */
export const branchId = 'branch';

/** Pull requests of a batch that its box shows; the table has all of them. */
export const membersShown = 6;

const boxWidth = 264;
const rowHeight = 58;
const headHeight = 26;
const characterWidth = 6.4;
/** A group is identified by its first pull request, from when it is pending until it lands. */
export const getGroupId = ({ pullRequests }: QueueGraphGroup): string =>
  String(pullRequests[0]?.prNumber ?? '');

export const isBatch = ({ pullRequests }: QueueGraphGroup): boolean => pullRequests.length > 1;

function measureGroupBox(group: QueueGraphGroup): GraphBox {
  const count = group.pullRequests.length;
  const rows = Math.min(count, membersShown);
  const more = count > membersShown ? headHeight : 0;
  const head = hasHead(group) ? headHeight : 0;
  return { id: getGroupId(group), width: boxWidth, height: 14 + head + rows * rowHeight + more };
}

/** Whether the box has a heading above its pull requests. */
export const hasHead = (group: QueueGraphGroup): boolean =>
  isBatch(group) || group.kind === 'search' || group.conflictsWith !== null;

const labelLengthMax = 30;
const truncate = (text: string): string =>
  text.length > labelLengthMax ? `${text.slice(0, labelLengthMax - 1)}…` : text;

/** `3 shared: //api, //web, …` */
export function describeDependency({ why, sharedTargetCount, sharedTargets }: GroupDependency): string {
  if (why === 'order') return '';
  if (why === 'everything') return 'impacts everything';
  const more = sharedTargetCount > sharedTargets.length ? ', …' : '';
  return `${sharedTargetCount} shared: ${sharedTargets.join(', ')}${more}`;
}

export function buildGraphShape({ groups }: QueueGraphData): GraphShape {
  const edges = groups.flatMap((group) => {
    const to = getGroupId(group);
    if (group.dependsOn.length === 0)
      return [{ id: `${branchId}-${to}`, from: branchId, to, label: '', labelWidth: 0 }];
    return group.dependsOn.map((dependency) => {
      const from = String(dependency.prNumber);
      const label = truncate(describeDependency(dependency));
      return { id: `${from}-${to}`, from, to, label, labelWidth: label.length * characterWidth };
    });
  });
  return { boxes: [{ id: branchId, width: 160, height: 44 }, ...groups.map(measureGroupBox)], edges };
}

/** Lanes: sets of groups that depend on each other, in either direction. */
export function laneCount({ groups }: QueueGraphData): number {
  const laneOf = new Map<number, number>();
  let lanes = 0;
  for (const { pullRequests, dependsOn, kind } of groups) {
    if (kind === 'search' || kind === 'screen') continue;
    const ahead = new Set(dependsOn.flatMap(({ prNumber }) => laneOf.get(prNumber) ?? []));
    const [lane = pullRequests[0]!.prNumber] = ahead;
    lanes += 1 - ahead.size;
    for (const [number, other] of laneOf) if (ahead.has(other)) laneOf.set(number, lane);
    laneOf.set(pullRequests[0]!.prNumber, lane);
  }
  return lanes;
}

/** Describes the diagram for people who do not see it. */
export function summarizeGraph(graph: QueueGraphData): string {
  const countPullRequests = (...kinds: readonly QueueGraphGroup['kind'][]) =>
    graph.groups.filter(({ kind }) => kinds.includes(kind)).flatMap(({ pullRequests }) => pullRequests)
      .length;
  const underTest = countPullRequests('line', 'screen');
  const lanes = laneCount(graph);
  const parts = [
    ...(underTest > 0 ? [`${underTest} under test`] : []),
    ...(countPullRequests('pending') > 0 ? [`${countPullRequests('pending')} waiting`] : []),
    ...(countPullRequests('search') > 0 ? [`${countPullRequests('search')} in a bisection`] : []),
  ];
  const lanesText =
    graph.mode === 'single' || lanes === 0 ? '' : `, in ${formatCount(lanes, 'parallel lane')}`;
  return `${parts.join(', ')}${lanesText}.${graph.isCut ? ' Only the first 1,000 are shown.' : ''}`;
}

/** What a group is tested on top of, or would be. */
export function describeTestBase(group: QueueGraphGroup, branch: string): string {
  if (group.conflictsWith !== null) return `waits for #${group.conflictsWith}, with which it conflicts`;
  if (group.kind === 'search') return `bisection, on ${branch} as it was when the batch failed`;
  if (group.kind === 'screen') return `${branch}, and usually once more in queue order before it merges`;
  if (group.kind === 'pending') return 'not under test yet';
  return group.testedOn.length === 0 ? branch : formatPullRequestNumbers(group.testedOn);
}

/** A smooth curve through the points. */
export function buildSvgPath(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const parts = [`M${first.x},${first.y}`];
  for (const [index, point] of rest.entries()) {
    const next = rest[index + 1];
    if (next === undefined) parts.push(`L${point.x},${point.y}`);
    else parts.push(`Q${point.x},${point.y} ${(point.x + next.x) / 2},${(point.y + next.y) / 2}`);
  }
  return parts.join(' ');
}
