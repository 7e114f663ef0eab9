// Plays a workload on a virtual clock: after every event the planner says anew which builds it wants, the most wanted
// first, and the slots are given to these.

import { assert } from '#base/assert.ts';
import {
  abortBuild,
  arrive,
  type Build,
  cancel,
  createGraphQueue,
  finishBuild,
  type GraphQueue,
  pushTo,
  startBuild,
  type Watcher,
} from './graph-queue.ts';
import { createHeap } from '#tool/simulate/kernel/heap.ts';
import type { PolicyRun } from '#tool/simulate/kernel/policy.ts';
import { createFlakes, createTruth } from '#tool/simulate/kernel/truth.ts';
import type { Workload } from '#tool/simulate/kernel/workload.ts';

export type Wanted = { readonly place: number; readonly path: string };

export type Planner = Watcher & {
  /** At most `slots` builds whose result is not known yet, the most wanted first; they may already be running. */
  readonly plan: (slots: number) => readonly Wanted[];
};

export type GraphRules = {
  readonly createPlanner: (queue: GraphQueue, workload: Workload) => Planner;
  /** Whether a build that is no longer wanted, but may still be needed, keeps its slot to its end. */
  readonly isSticky: boolean;
  /** The oracle's builds do not flake: it is the bound for what could be known. */
  readonly canFlake: boolean;
};

export function simulateGraph(workload: Workload, slots: number, rules: GraphRules): PolicyRun {
  const queue = createGraphQueue(workload);
  const planner = rules.createPlanner(queue, workload);
  const isFlake = rules.canFlake ? createFlakes(workload) : () => false;
  const running = createHeap<Build>((one, other) => one.endsAtMin < other.endsAtMin);
  const { changes, disturbances } = workload;
  const { placeOf } = createTruth(workload);
  let arrivals = 0;
  let disturbed = 0;
  for (let plans = 1; queue.decisions.length < changes.length; plans++) {
    for (const build of allocate(queue, planner.plan(slots), slots, rules.isSticky, plans))
      running.push(build);
    while (running.first()?.isRunning === false) running.pop();
    const buildAt = running.first()?.endsAtMin ?? Infinity;
    const arrivalAt = changes[arrivals]?.arrivesAtMin ?? Infinity;
    const disturbanceAt = disturbances[disturbed]?.atMin ?? Infinity;
    queue.nowMin = Math.min(buildAt, arrivalAt, disturbanceAt);
    assert(queue.nowMin < Infinity, 'the queue waits for nothing');
    if (queue.nowMin === arrivalAt) arrive(queue, arrivals++);
    else if (queue.nowMin === disturbanceAt) {
      const { kind, number } = disturbances[disturbed++]!;
      if (kind === 'push') pushTo(queue, placeOf.get(number)!);
      else cancel(queue, placeOf.get(number)!, planner);
    } else {
      const build = running.pop()!;
      const isUnlucky = isFlake(() => `${build.place} on ${build.path}`);
      finishBuild(queue, build, isUnlucky, planner);
    }
  }
  const { decisions, runsStarted, runsAborted, ciMinutes } = queue;
  return { decisions, runsStarted, runsAborted, ciMinutes };
}

/** Gives the slots to the wanted builds and returns those that started. */
function allocate(
  queue: GraphQueue,
  wanted: readonly Wanted[],
  slots: number,
  isSticky: boolean,
  plan: number,
): Build[] {
  const toStart: Wanted[] = [];
  for (const want of wanted) {
    const build = queue.building[want.place]!.get(want.path);
    if (build) build.wantedInPlan = plan;
    else toStart.push(want);
  }
  if (!isSticky)
    for (const place of queue.pendingPlaces)
      for (const build of queue.building[place]!.values())
        if (build.wantedInPlan !== plan) abortBuild(queue, build);
  const started: Build[] = [];
  for (const { place, path } of toStart) {
    if (queue.running >= slots) break;
    started.push(startBuild(queue, place, path));
  }
  return started;
}
