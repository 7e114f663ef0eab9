// The facts of a queue of changes that share targets, and the rule by which it decides.
//
// A build of a change assumes for each of its predecessors (the earlier changes it shares with) whether it lands. The
// assumptions are its path: one character for each predecessor, '1' for landed and '0' for not. A change is decided
// once all its predecessors are decided and a build exists whose path is exactly what happened.
//
// Example: 3 shares with 1 and 2. Builds of 3 may be made on '11', '10', '01' and '00'. If 1 lands and 2 fails, the
// result of '10' decides 3; a build on '11' that still runs is dead, whatever it would have said.

import { assert } from '#base/assert.ts';
import type { SimulatedDecision, SimulatedOutcome } from '#tool/simulate/kernel/policy.ts';
import { createTruth, type Truth } from '#tool/simulate/kernel/truth.ts';
import type { WorkloadChange, Workload } from '#tool/simulate/kernel/workload.ts';

export type Build = {
  readonly place: number;
  readonly path: string;
  readonly startedAtMin: number;
  readonly endsAtMin: number;
  /** False once it ended or was aborted. */
  isRunning: boolean;
  /** The last plan that wanted it. */
  wantedInPlan: number;
};

/** A change that shares with an earlier one, and which character of its paths stands for that one. */
type Follower = { readonly place: number; readonly position: number };

/** The states of a change; 0 is one that has not arrived. */
export const pending = 1;
export const landed = 2;
/** Failed or cancelled. */
const left = 3;

export type GraphQueue = {
  readonly changes: readonly WorkloadChange[];
  readonly truth: Truth;
  readonly predecessors: readonly Int32Array[];
  readonly followers: readonly (readonly Follower[])[];
  /** For each change, the positions in its paths of the predecessors with which it really conflicts. */
  readonly conflictPositions: readonly (readonly number[])[];
  readonly state: Uint8Array;
  /** For each change that has arrived, its predecessors that are pending. */
  readonly pendingPredecessors: Int32Array;
  /** For each change that has arrived, the predecessors that landed since or still may: each may conflict with it. */
  readonly exposure: Int32Array;
  /** Places in order of arrival. */
  readonly pendingPlaces: Set<number>;
  /** For each change, the results of its builds by path. */
  readonly results: readonly Map<string, boolean>[];
  /** For each change, its running builds by path. */
  readonly building: readonly Map<string, Build>[];
  readonly decisions: SimulatedDecision[];
  nowMin: number;
  running: number;
  runsStarted: number;
  runsAborted: number;
  ciMinutes: number;
};

/** Tells a planner what it may have to think over. */
export type Watcher = {
  readonly predecessorDecided?: (place: number, position: number, hasLanded: boolean) => void;
};

export function createGraphQueue(workload: Workload): GraphQueue {
  const { changes } = workload;
  const truth = createTruth(workload);
  const { placeOf, conflicts } = truth;
  const predecessors = changes.map(({ number, shares }, place) =>
    Int32Array.from(shares, (earlier) => {
      const other = placeOf.get(earlier);
      assert(
        other !== undefined && other < place,
        `change ${number} shares with ${earlier}, which is not earlier`,
      );
      return other;
    }),
  );
  const followers: Follower[][] = changes.map(() => []);
  for (const [place, earlier] of predecessors.entries())
    for (const [position, other] of earlier.entries()) followers[other]!.push({ place, position });
  const conflictPositions = predecessors.map((earlier, place) =>
    conflicts[place]!.filter((other) => other < place).map((other) => earlier.indexOf(other)),
  );
  return {
    changes,
    truth,
    predecessors,
    followers,
    conflictPositions,
    state: new Uint8Array(changes.length),
    pendingPredecessors: new Int32Array(changes.length),
    exposure: new Int32Array(changes.length),
    pendingPlaces: new Set(),
    results: changes.map(() => new Map()),
    building: changes.map(() => new Map()),
    decisions: [],
    nowMin: 0,
    running: 0,
    runsStarted: 0,
    runsAborted: 0,
    ciMinutes: 0,
  };
}

/** The path on which every pending predecessor does as assumed and every other did what it did. */
export function pathOf(
  queue: GraphQueue,
  place: number,
  assumesLanding: (predecessor: number) => boolean,
): string {
  let path = '';
  for (const predecessor of queue.predecessors[place]!) {
    const state = queue.state[predecessor];
    path += state === landed || (state === pending && assumesLanding(predecessor)) ? '1' : '0';
  }
  return path;
}

export function arrive(queue: GraphQueue, place: number): void {
  let count = 0;
  for (const predecessor of queue.predecessors[place]!) if (queue.state[predecessor] === pending) count++;
  queue.pendingPredecessors[place] = count;
  queue.exposure[place] = count;
  queue.state[place] = pending;
  queue.pendingPlaces.add(place);
}

export function startBuild(queue: GraphQueue, place: number, path: string): Build {
  const { nowMin } = queue;
  const endsAtMin = nowMin + queue.changes[place]!.durationMin;
  const build = { place, path, startedAtMin: nowMin, endsAtMin, isRunning: true, wantedInPlan: 0 };
  queue.building[place]!.set(path, build);
  queue.running++;
  queue.runsStarted++;
  return build;
}

export function abortBuild(queue: GraphQueue, build: Build): void {
  stopBuild(queue, build);
  queue.runsAborted++;
}

/** Ends a build and decides whatever it was the last thing to wait for. */
export function finishBuild(queue: GraphQueue, build: Build, isFlake: boolean, watcher: Watcher): void {
  stopBuild(queue, build);
  const { place, path } = build;
  const isAssumed = (_: number, position: number) => path[position] === '1';
  const assumed = [...queue.predecessors[place]!].filter(isAssumed);
  // CI tests the whole composition: a predecessor that is bad, or breaks another, shows in every build that assumes it.
  const isSound = queue.truth.isSound(() => false, [...assumed, place]);
  queue.results[place]!.set(path, isSound && !isFlake);
  settle(queue, [place], watcher);
}

/** Forgets everything that was built with the old content of a change. It keeps its place. */
export function pushTo(queue: GraphQueue, place: number): void {
  if (queue.state[place] !== pending) return;
  queue.results[place]!.clear();
  for (const build of queue.building[place]!.values()) abortBuild(queue, build);
  for (const { place: follower, position } of queue.followers[place]!) {
    const results = queue.results[follower]!;
    for (const path of results.keys()) if (path[position] === '1') results.delete(path);
    for (const build of queue.building[follower]!.values())
      if (build.path[position] === '1') abortBuild(queue, build);
  }
}

export function cancel(queue: GraphQueue, place: number, watcher: Watcher): void {
  if (queue.state[place] !== pending) return;
  settle(queue, decide(queue, place, 'cancelled', watcher), watcher);
}

function stopBuild(queue: GraphQueue, build: Build): void {
  assert(build.isRunning, 'a build is stopped once');
  build.isRunning = false;
  queue.building[build.place]!.delete(build.path);
  queue.running--;
  queue.ciMinutes += queue.nowMin - build.startedAtMin;
}

function settle(queue: GraphQueue, places: readonly number[], watcher: Watcher): void {
  const waiting = [...places];
  for (let place = waiting.shift(); place !== undefined; place = waiting.shift()) {
    if (queue.state[place] !== pending || queue.pendingPredecessors[place] !== 0) continue;
    const passed = queue.results[place]!.get(pathOf(queue, place, () => false));
    if (passed === undefined) continue;
    waiting.push(...decide(queue, place, passed ? 'merged' : 'failed', watcher));
  }
}

/** Returns the changes that may now be decided too. */
function decide(queue: GraphQueue, place: number, outcome: SimulatedOutcome, watcher: Watcher): number[] {
  const hasLanded = outcome === 'merged';
  queue.state[place] = hasLanded ? landed : left;
  queue.pendingPlaces.delete(place);
  queue.decisions.push({ number: queue.changes[place]!.number, outcome, atMin: queue.nowMin });
  for (const build of queue.building[place]!.values()) abortBuild(queue, build);
  const freed: number[] = [];
  const fact = hasLanded ? '1' : '0';
  for (const { place: follower, position } of queue.followers[place]!) {
    if (queue.state[follower] !== pending) continue;
    queue.pendingPredecessors[follower]!--;
    if (!hasLanded) queue.exposure[follower]!--;
    for (const build of queue.building[follower]!.values())
      if (build.path[position] !== fact) abortBuild(queue, build);
    watcher.predecessorDecided?.(follower, position, hasLanded);
    if (queue.pendingPredecessors[follower] === 0) freed.push(follower);
  }
  return freed;
}
