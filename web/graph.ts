// What of a queue's graph is drawn where: boxes, the edges between them and their words. What changes while tests run is
// not part of the shape, so that a picture is laid out anew only when somebody comes, goes or moves.

import type { ResponseOf } from '#contract/endpoint.ts';
import { countOf, numbersOf } from './format.ts';

export type QueueGraph = ResponseOf<'getQueueGraph'>;
export type GraphGroup = QueueGraph['groups'][number];
export type Dependency = GraphGroup['dependsOn'][number];

type Box = { readonly id: string; readonly width: number; readonly height: number };
type Line = {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly label: string;
  /** In pixels; 0 without a label. */
  readonly labelWidth: number;
};
export type Point = { readonly x: number; readonly y: number };
export type Shape = {
  readonly boxes: readonly Box[];
  readonly lines: readonly Line[];
};

/** The branch, on top of which everything stands. */
export const branchId = 'branch';

/** Pull requests of a batch that its box shows; the table has all of them. */
export const membersShown = 6;

const boxWidth = 264;
const rowHeight = 58;
const headHeight = 26;
const letterWidth = 6.4;
/** A group is called by its first pull request, which it keeps from when that is pending until it lands. */
export const idOf = ({ pullRequests }: GraphGroup): string => String(pullRequests[0]?.prNumber ?? '');

export const isBatch = ({ pullRequests }: GraphGroup): boolean => pullRequests.length > 1;

function boxOf(group: GraphGroup): Box {
  const count = group.pullRequests.length;
  const rows = Math.min(count, membersShown);
  const more = count > membersShown ? headHeight : 0;
  const head = hasHead(group) ? headHeight : 0;
  return { id: idOf(group), width: boxWidth, height: 14 + head + rows * rowHeight + more };
}

/** Whether its box says what it is, above its pull requests. */
export const hasHead = (group: GraphGroup): boolean =>
  isBatch(group) || group.kind === 'search' || group.conflictsWith !== null;

const shownLetters = 30;
const cut = (text: string): string =>
  text.length > shownLetters ? `${text.slice(0, shownLetters - 1)}…` : text;

/** `3 shared: //api, //web, …` */
export function wordsOfDependency({ why, sharedTargetCount, sharedTargets }: Dependency): string {
  if (why === 'order') return '';
  if (why === 'everything') return 'impacts everything';
  const more = sharedTargetCount > sharedTargets.length ? ', …' : '';
  return `${sharedTargetCount} shared: ${sharedTargets.join(', ')}${more}`;
}

export function shapeOf({ groups }: QueueGraph): Shape {
  const lines = groups.flatMap((group) => {
    const to = idOf(group);
    if (group.dependsOn.length === 0)
      return [{ id: `${branchId}-${to}`, from: branchId, to, label: '', labelWidth: 0 }];
    return group.dependsOn.map((dependency) => {
      const from = String(dependency.prNumber);
      const label = cut(wordsOfDependency(dependency));
      return { id: `${from}-${to}`, from, to, label, labelWidth: label.length * letterWidth };
    });
  });
  return { boxes: [{ id: branchId, width: 160, height: 44 }, ...groups.map(boxOf)], lines };
}

/** Lanes: those that depend on each other, whichever way. */
export function laneCount({ groups }: QueueGraph): number {
  const laneOf = new Map<number, number>();
  let lanes = 0;
  for (const { pullRequests, dependsOn, kind } of groups) {
    if (kind === 'search') continue;
    const ahead = new Set(dependsOn.flatMap(({ prNumber }) => laneOf.get(prNumber) ?? []));
    const [lane = pullRequests[0]!.prNumber] = ahead;
    lanes += 1 - ahead.size;
    for (const [number, other] of laneOf) if (ahead.has(other)) laneOf.set(number, lane);
    laneOf.set(pullRequests[0]!.prNumber, lane);
  }
  return lanes;
}

/** What the picture shows, for whoever does not see it. */
export function summaryOf(graph: QueueGraph): string {
  const of = (kind: GraphGroup['kind']) =>
    graph.groups.filter((group) => group.kind === kind).flatMap(({ pullRequests }) => pullRequests).length;
  const lanes = laneCount(graph);
  const parts = [
    ...(of('line') > 0 ? [`${of('line')} under test`] : []),
    ...(of('pending') > 0 ? [`${of('pending')} waiting`] : []),
    ...(of('search') > 0 ? [`${of('search')} searched for what broke their batch`] : []),
  ];
  const where = graph.mode === 'single' || lanes === 0 ? '' : `, in ${countOf(lanes, 'lane')}`;
  return `${parts.join(', ')}${where}.${graph.isCut ? ' Only the first 1,000 are shown.' : ''}`;
}

/** What a group is tested on top of, or would be. */
export function groundOf(group: GraphGroup, branch: string): string {
  if (group.conflictsWith !== null) return `waits for #${group.conflictsWith}, with which it conflicts`;
  if (group.kind === 'search') return `beside the line, on ${branch} as it was`;
  if (group.kind === 'pending') return 'not under test yet';
  return group.testedOn.length === 0 ? branch : numbersOf(group.testedOn);
}

/** A soft line through the points. */
export function pathOf(points: readonly Point[]): string {
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
