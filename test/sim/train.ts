// One line of changes: groups in a train, each tested together with everything before it, and runs beside the train.
//
// A group's run tests the branch, the groups before it and the group. Example with groups of one: 1 and 2 run as {1}
// and {1, 2}. If {1} passes, 1 merges; if it fails, 1 fails and 2 starts again alone. An optimistic train takes the
// pass of {1, 2} as proof of 1, too. With a failure depth of 1, a failed {1} is held until {1, 2} has ended, for a pass
// would show that the failure was a flake.
//
//   queue ──► train ──► merged
//     ▲         │ the first group fails
//     │         ├─ one member ─────────────► failed
//     │         ├─ inline: two halves take its place, and all behind start again
//     │         └─ offline: the group leaves the train and is run beside it, on the branch alone
//     └─ passes beside ◄──┤
//                         └─ fails beside: each half is run on its own; one member ──► failed

import type { SimulatedDecision, SimulatedOutcome } from '#tool/simulate/kernel/policy.ts';
import { createFlakes, createTruth, type Truth } from '#tool/simulate/kernel/truth.ts';
import type { WorkloadChange, Workload } from '#tool/simulate/kernel/workload.ts';

export type TrainRules = {
  /** Groups that may be in the train. */
  readonly groupsMax: number;
  readonly groupSize: number;
  /** A group that is not full waits until its first change is this old. */
  readonly fillWaitMin: number;
  /** Whether the pass of a group merges the groups before it. */
  readonly isOptimistic: boolean;
  /** A failed first group is held while one of so many groups behind it is running. */
  readonly failureDepth: number;
  readonly bisection: 'inline' | 'offline';
  /** Runs beside the train at a time; only for offline bisection. */
  readonly sideSlots: number;
};

type Timed = { readonly startedAtMin: number; readonly endsAtMin: number; readonly passes: boolean };

/** What the last run of a group says: it runs to its end or is stopped and replaced. */
type GroupRun = Timed & { state: 'running' | 'passed' | 'failed' | 'stopped' };
export type Group = { members: number[]; run: GroupRun };
export type SideRun = Timed & { readonly members: readonly number[] };

export type Train = {
  readonly rules: TrainRules;
  readonly changes: readonly WorkloadChange[];
  readonly truth: Truth;
  readonly isFlake: ReturnType<typeof createFlakes>;
  readonly hasLanded: Uint8Array;
  /** Places in the order in which they landed. */
  readonly landed: number[];
  readonly isDecided: Uint8Array;
  /** For each change, how often it passed beside the train and came back. */
  readonly returns: Uint16Array;
  readonly decisions: SimulatedDecision[];
  queue: number[];
  groups: Group[];
  side: SideRun[];
  sideQueue: (readonly number[])[];
  nowMin: number;
  runsStarted: number;
  runsAborted: number;
  ciMinutes: number;
};

/**
 * A change that came back this often rides alone: halves that pass on their own but conflict with each other would
 * else meet again in the train for ever. High, so that without such conflicts it practically never happens.
 */
const returnsMax = 10;

export function createTrain(workload: Workload, rules: TrainRules): Train {
  const { changes } = workload;
  return {
    rules,
    changes,
    truth: createTruth(workload),
    isFlake: createFlakes(workload),
    hasLanded: new Uint8Array(changes.length),
    landed: [],
    isDecided: new Uint8Array(changes.length),
    returns: new Uint16Array(changes.length),
    decisions: [],
    queue: [],
    groups: [],
    side: [],
    sideQueue: [],
    nowMin: 0,
    runsStarted: 0,
    runsAborted: 0,
    ciMinutes: 0,
  };
}

/** Merges, fails, splits and fills until only time can change anything. */
export function advance(train: Train): void {
  while (mergePassed(train) || removeFailed(train));
  fill(train);
}

export function isIdle(train: Train): boolean {
  return train.queue.length + train.groups.length + train.side.length === 0;
}

export function finishGroup(train: Train, { run }: Group): void {
  train.ciMinutes += train.nowMin - run.startedAtMin;
  run.state = run.passes ? 'passed' : 'failed';
}

export function finishSide(train: Train, ended: SideRun): void {
  const { members } = ended;
  train.side.splice(train.side.indexOf(ended), 1);
  train.ciMinutes += train.nowMin - ended.startedAtMin;
  if (ended.passes) {
    for (const place of members) train.returns[place]!++;
    train.queue.unshift(...members);
  } else if (members.length === 1) decide(train, members[0]!, 'failed');
  else for (const half of halvesOf(members)) startBeside(train, half);
  startQueuedBeside(train);
}

/** Stops the runs behind and including a group and starts them anew: what they were built on has changed. */
export function restartFrom(train: Train, first: number): void {
  const behind = train.groups.slice(first);
  for (const group of behind) stop(train, group);
  const tested = train.groups.slice(0, first).flatMap(({ members }) => members);
  for (const group of behind) {
    tested.push(...group.members);
    group.run = startRun(train, tested);
  }
}

export function decide(train: Train, place: number, outcome: SimulatedOutcome): void {
  train.isDecided[place] = 1;
  if (outcome === 'merged') {
    train.hasLanded[place] = 1;
    train.landed.push(place);
  }
  train.decisions.push({ number: train.changes[place]!.number, outcome, atMin: train.nowMin });
}

export function stop(train: Train, { run }: Group): void {
  if (run.state !== 'running') return;
  run.state = 'stopped';
  train.ciMinutes += train.nowMin - run.startedAtMin;
  train.runsAborted++;
}

export function startBeside(train: Train, members: readonly number[]): void {
  if (train.side.length < train.rules.sideSlots) train.side.push({ ...startTimed(train, members), members });
  else train.sideQueue.push(members);
}

export function startQueuedBeside(train: Train): void {
  while (train.sideQueue.length > 0 && train.side.length < train.rules.sideSlots)
    startBeside(train, train.sideQueue.shift()!);
}

function startTimed(train: Train, tested: readonly number[]): Timed {
  const { nowMin, changes, truth, hasLanded } = train;
  train.runsStarted++;
  const isSound = truth.isSound((place) => hasLanded[place] === 1, tested);
  // Drawn also for a run that fails anyway, so that the flakes of a seed do not depend on who is bad.
  const isFlake = train.isFlake(() => [...train.landed, ...tested].join());
  const endsAtMin = nowMin + changes[tested.at(-1)!]!.durationMin;
  return { startedAtMin: nowMin, endsAtMin, passes: isSound && !isFlake };
}

function startRun(train: Train, tested: readonly number[]): GroupRun {
  return { ...startTimed(train, tested), state: 'running' };
}

function mergePassed(train: Train): boolean {
  const { groups, rules } = train;
  const last = rules.isOptimistic
    ? groups.findLastIndex(({ run }) => run.state === 'passed')
    : groups[0]?.run.state === 'passed'
      ? 0
      : -1;
  for (const group of groups.splice(0, last + 1)) {
    stop(train, group);
    for (const place of group.members) decide(train, place, 'merged');
  }
  return last >= 0;
}

function removeFailed(train: Train): boolean {
  const { groups, rules } = train;
  const first = groups[0];
  if (first?.run.state !== 'failed') return false;
  if (groups.slice(1, 1 + rules.failureDepth).some(({ run }) => run.state === 'running')) return false;
  groups.shift();
  if (first.members.length === 1) decide(train, first.members[0]!, 'failed');
  else if (rules.bisection === 'offline') startBeside(train, first.members);
  else splitInline(train, first);
  restartFrom(train, 0);
  return true;
}

/** Both halves run, the second on top of the first, so that even a train of one group has two for a while. */
function splitInline(train: Train, { members, run }: Group): void {
  train.groups.unshift(...halvesOf(members).map((half) => ({ members: half, run })));
  while (train.groups.length > Math.max(train.rules.groupsMax, 2)) {
    const displaced = train.groups.pop()!;
    stop(train, displaced);
    train.queue.unshift(...displaced.members);
  }
}

function halvesOf(members: readonly number[]): readonly [number[], number[]] {
  const middle = Math.ceil(members.length / 2);
  return [members.slice(0, middle), members.slice(middle)];
}

function fill(train: Train): void {
  const { rules, queue, groups } = train;
  while (groups.length < rules.groupsMax && queue.length > 0) {
    const size = groupSizeNow(train);
    if (queue.length < size && train.nowMin < fillDeadline(train)) break;
    const members = queue.splice(0, size);
    const before = groups.flatMap((group) => group.members);
    groups.push({ members, run: startRun(train, [...before, ...members]) });
  }
}

function groupSizeNow({ rules, queue, returns }: Train): number {
  const alone = queue.findIndex((place, at) => at < rules.groupSize && returns[place]! >= returnsMax);
  return alone === -1 ? rules.groupSize : Math.max(alone, 1);
}

/** When the first of the queue has waited long enough for a group that is not full. */
export function fillDeadline({ rules, changes, queue }: Train): number {
  return changes[queue[0]!]!.arrivesAtMin + rules.fillWaitMin;
}
