// Plays a workload through a train on a virtual clock.

import { assert } from '#base/assert.ts';
import type { PolicyRun } from '#tool/simulate/kernel/policy.ts';
import {
  advance,
  createTrain,
  decide,
  fillDeadline,
  finishGroup,
  finishSide,
  isIdle,
  restartFrom,
  type SideRun,
  startBeside,
  startQueuedBeside,
  stop,
  type Train,
  type TrainRules,
} from './train.ts';
import type { Disturbance, Workload } from '#tool/simulate/kernel/workload.ts';

export function simulateTrain(workload: Workload, rules: TrainRules): PolicyRun {
  const { changes, disturbances } = workload;
  const train = createTrain(workload, rules);
  let arrivals = 0;
  let disturbed = 0;
  for (;;) {
    advance(train);
    if (arrivals === changes.length && isIdle(train)) break;
    const group = earliest(
      train.groups.filter(({ run }) => run.state === 'running'),
      ({ run }) => run.endsAtMin,
    );
    const side = earliest(train.side, ({ endsAtMin }) => endsAtMin);
    const arrivalAt = changes[arrivals]?.arrivesAtMin ?? Infinity;
    const disturbanceAt = disturbances[disturbed]?.atMin ?? Infinity;
    const groupAt = group?.run.endsAtMin ?? Infinity;
    const sideAt = side?.endsAtMin ?? Infinity;
    train.nowMin = Math.min(arrivalAt, disturbanceAt, groupAt, sideAt, nextFillAt(train));
    assert(train.nowMin < Infinity, 'the train waits for nothing');
    if (train.nowMin === arrivalAt) train.queue.push(arrivals++);
    else if (train.nowMin === disturbanceAt) disturbTrain(train, disturbances[disturbed++]!, arrivals);
    else if (train.nowMin === sideAt) finishSide(train, side!);
    else if (train.nowMin === groupAt) finishGroup(train, group!);
  }
  const { decisions, runsStarted, runsAborted, ciMinutes } = train;
  return { decisions, runsStarted, runsAborted, ciMinutes };
}

function earliest<Item>(items: readonly Item[], endOf: (item: Item) => number): Item | undefined {
  let first: Item | undefined;
  for (const item of items) if (first === undefined || endOf(item) < endOf(first)) first = item;
  return first;
}

function nextFillAt(train: Train): number {
  if (train.queue.length === 0 || train.groups.length >= train.rules.groupsMax) return Infinity;
  const deadline = fillDeadline(train);
  return deadline > train.nowMin ? deadline : Infinity;
}

/** A push keeps the change where it is but starts its runs again; a cancel takes it out of wherever it is. */
function disturbTrain(train: Train, { kind, number }: Disturbance, arrivals: number): void {
  const place = train.truth.placeOf.get(number)!;
  if (place >= arrivals || train.isDecided[place] === 1) return;
  const isCancel = kind === 'cancel';
  const kept = (members: readonly number[]) =>
    isCancel ? members.filter((other) => other !== place) : [...members];
  train.queue = kept(train.queue);
  train.sideQueue = train.sideQueue.map(kept).filter((members) => members.length > 0);
  const side = train.side.find(({ members }) => members.includes(place));
  if (side) replaceBeside(train, side, kept(side.members));
  const at = train.groups.findIndex(({ members }) => members.includes(place));
  if (isCancel) decide(train, place, 'cancelled');
  if (at === -1) return;
  const group = train.groups[at]!;
  stop(train, group);
  group.members = kept(group.members);
  if (group.members.length === 0) train.groups.splice(at, 1);
  restartFrom(train, at);
}

function replaceBeside(train: Train, side: SideRun, members: readonly number[]): void {
  train.side.splice(train.side.indexOf(side), 1);
  train.ciMinutes += train.nowMin - side.startedAtMin;
  train.runsAborted++;
  if (members.length > 0) startBeside(train, members);
  else startQueuedBeside(train);
}
