// One simulated future of a queue: when each group would land. Everything that varies is drawn from the
// queue's history: how long its test runs took, and what share of the tested entries left without landing.
//
// Each group's landing is simulated as if the group itself were good, because that is what an estimate is
// for; the groups ahead of it are good or bad by chance.

import { createRandom } from '#base/random.ts';
import type { LineGroup } from './estimate-group.ts';

export type Odds = {
  /** How long test runs took, rising. */
  readonly durationsMs: Float64Array;
  /** The probability that an entry leaves after it was tested, and how unsure that is (a standard deviation). */
  readonly leaveShare: number;
  readonly leaveDoubt: number;
  readonly slots: number;
  /** Runs at once while a failed batch is bisected. */
  readonly searchSlots: number;
  /** A passing run also proves what it contains ahead of it. */
  readonly isOptimistic: boolean;
  /** How many groups behind a failure it waits for. */
  readonly failureDepth: number;
};

/** What a future needs, created once for all futures. */
export type Draws = {
  readonly groups: readonly LineGroup[];
  readonly odds: Odds;
  readonly now: number;
  readonly random: () => number;
  /** Per group: the probability that its run fails. Differs between futures. */
  readonly fails: Float64Array;
  /** Rounds of runs until the culprit of the group is found. */
  readonly searchRounds: Float64Array;
  /** Per slot when it becomes free; a heap with the soonest first. */
  readonly slots: Float64Array;
  /** Per group when its run ends, and then when it is settled. */
  readonly finish: Float64Array;
  /** Per group when it left; 0 where it did not. */
  readonly leftAt: Float64Array;
  /** The dependencies of known groups, as distances to groups ahead; pending groups draw one of these. */
  readonly patterns: readonly (readonly number[])[];
};

export type RecordLanding = (group: number, landsAt: number) => void;

export function createDraws(groups: readonly LineGroup[], odds: Odds, now: number): Draws {
  const known = groups.flatMap(({ behind }, index) => (behind === null || index === 0 ? [] : [behind]));
  return {
    groups,
    odds,
    now,
    // A fixed seed: the same queue has the same estimate in every process.
    random: createRandom(1),
    fails: new Float64Array(groups.length),
    searchRounds: Float64Array.from(groups, ({ members }) =>
      Math.ceil(Math.log(members.length) / Math.log(odds.searchSlots + 1)),
    ),
    // More slots than groups are never used.
    slots: new Float64Array(Math.min(odds.slots, groups.length)),
    finish: new Float64Array(groups.length),
    leftAt: new Float64Array(groups.length),
    patterns: known.length === 0 ? [[1]] : known,
  };
}

/** Begins a future: all slots are free, and the share of entries that leave is drawn at random. */
export function beginFuture({ groups, odds, now, random, fails, slots, leftAt }: Draws): void {
  slots.fill(now);
  leftAt.fill(0);
  // The sum of twelve uniform numbers is nearly normal.
  let deviations = -6;
  for (let draw = 0; draw < 12; draw++) deviations += random();
  const share = Math.min(1, Math.max(0, odds.leaveShare + deviations * odds.leaveDoubt));
  for (let index = 0; index < groups.length; index++) {
    const size = groups[index]!.members.length;
    fails[index] = size === 1 ? share : 1 - (1 - share) ** size;
  }
}

/** How long a new run takes: a value between two neighbours of the recorded durations. */
export function drawDuration({ random, odds: { durationsMs } }: Draws): number {
  const at = random() * (durationsMs.length - 1);
  const low = Math.floor(at);
  const shorter = durationsMs[low]!;
  return shorter + (at - low) * ((durationsMs[low + 1] ?? shorter) - shorter);
}

/** A run that has already taken longer than every recorded run may take half as long again. */
const overtimeShare = 0.5;

/** How much longer a run takes after this long: drawn from the recorded runs that took longer. */
export function drawRemaining({ random, odds: { durationsMs } }: Draws, elapsedMs: number): number {
  let low = 0;
  let high = durationsMs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (durationsMs[middle]! > elapsedMs) high = middle;
    else low = middle + 1;
  }
  if (low === durationsMs.length) return random() * overtimeShare * elapsedMs;
  return durationsMs[low + Math.floor(random() * (durationsMs.length - low))]! - elapsedMs;
}

/** Occupies the slot that is free first, up to `until`; the others keep their order. */
export function takeSlot(slots: Float64Array, until: number): void {
  let hole = 0;
  for (;;) {
    let child = 2 * hole + 1;
    if (child >= slots.length) break;
    if (child + 1 < slots.length && slots[child + 1]! < slots[child]!) child++;
    if (slots[child]! >= until) break;
    slots[hole] = slots[child]!;
    hole = child;
  }
  slots[hole] = until;
}

/** When the group's run ends, if it does not restart. `isRestart`: its earlier run or result was lost. */
function drawFinish(draws: Draws, group: LineGroup, isRestart: boolean, from: number): number {
  const { slots, now } = draws;
  if (!isRestart && (group.kind === 'passed' || group.kind === 'failed')) return now;
  const finish =
    !isRestart && group.kind === 'running'
      ? now + drawRemaining(draws, group.elapsedMs)
      : Math.max(slots[0]!, group.notBefore, from) + drawDuration(draws);
  takeSlot(slots, finish);
  return finish;
}

/**
 * A group under bisection, outside the queue order: after the current round it is tested again, behind the
 * entries under test now. If one of those leaves after that, the group restarts; and it may hold another
 * culprit.
 */
function drawSearched(draws: Draws, index: number, settledAt: number, leftAt: number): number {
  const { elapsedMs } = draws.groups[index]!;
  const round = elapsedMs === 0 ? drawDuration(draws) : drawRemaining(draws, elapsedMs);
  const landsAt = Math.max(settledAt, Math.max(draws.now + round, leftAt) + drawDuration(draws));
  const isSearchedAgain = draws.random() < draws.fails[index]!;
  return landsAt + (isSearchedAgain ? (draws.searchRounds[index]! + 1) * drawDuration(draws) : 0);
}

/** Whether the group's run fails. A run that has failed already fails, unless it was restarted. */
export const drawFailure = ({ groups, random, fails }: Draws, index: number, isRestart: boolean): boolean =>
  (!isRestart && groups[index]!.kind === 'failed') || random() < fails[index]!;

/** How much later a good member of a failed group lands: by one more run, or by a bisection and a run. */
export function drawDelay(draws: Draws, index: number, isRestart: boolean): number {
  const { groups, random, searchRounds } = draws;
  const { kind, members } = groups[index]!;
  // With a chance of one in the group's size, the good member itself would have been the culprit.
  if ((isRestart || kind !== 'failed') && random() * members.length < 1) return 0;
  return (searchRounds[index]! + 1) * drawDuration(draws);
}

/**
 * A future in which all groups wait in one queue. A bad group is identified once everything ahead of it has
 * landed and its run has ended. At that moment nothing is left ahead and everything behind restarts, with
 * every slot free: so the queue is drawn from one failure to the next.
 */
export function drawLine(draws: Draws, record: RecordLanding): void {
  const { groups, slots, finish, odds, now } = draws;
  let settledAt = now;
  let isRestart = false;
  /** The entries under test now: when the last of them is settled, and when one of them last leaves. */
  const front = { settledAt: now, leftAt: now };
  for (let from = 0; from < groups.length;) {
    const failed = drawStretch(draws, from, isRestart);
    if (odds.isOptimistic) proveByLater(finish, from, failed);
    for (let index = from; index < failed; index++) {
      const { kind } = groups[index]!;
      if (kind === 'searched') continue;
      settledAt = Math.max(settledAt, finish[index]!);
      if (kind !== 'waiting') front.settledAt = settledAt;
      record(index, settledAt);
    }
    if (failed === groups.length) break;
    settledAt = Math.max(settledAt, finish[failed]!);
    record(failed, settledAt + drawDelay(draws, failed, isRestart));
    settledAt = awaitSuccessors(draws, failed, isRestart, settledAt);
    slots.fill(settledAt);
    // The rest of a failed batch comes back and takes a slot before the others.
    if (groups[failed]!.members.length > 1) slots[slots.length - 1]! += drawDuration(draws);
    if (groups[failed]!.kind !== 'waiting') front.leftAt = settledAt;
    isRestart = true;
    from = failed + 1;
  }
  for (let index = 0; groups[index]?.kind === 'searched'; index++)
    record(index, drawSearched(draws, index, front.settledAt, front.leftAt));
}

/** Draws the runs from a group on, up to the first that fails; returns its index, or the number of groups. */
function drawStretch(draws: Draws, from: number, isRestart: boolean): number {
  const { groups, finish } = draws;
  for (let index = from; index < groups.length; index++) {
    const group = groups[index]!;
    const isBeside = group.kind === 'searched';
    finish[index] = isBeside ? Number.POSITIVE_INFINITY : drawFinish(draws, group, isRestart, 0);
    if (!isBeside && drawFailure(draws, index, isRestart)) return index;
  }
  return groups.length;
}

/** With optimistic merging a run that passes proves what it contains. */
function proveByLater(finish: Float64Array, from: number, end: number): void {
  for (let index = end - 2; index >= from; index--)
    finish[index] = Math.min(finish[index]!, finish[index + 1]!);
}

/** A failure waits for the next groups that are under test, as far as the queue's failure depth allows. */
function awaitSuccessors(draws: Draws, failed: number, isRestart: boolean, settledAt: number): number {
  const { groups, slots, odds } = draws;
  let until = settledAt;
  for (const group of groups.slice(failed + 1, failed + 1 + odds.failureDepth)) {
    const isToStart = isRestart || group.kind === 'waiting';
    if (isToStart && Math.max(slots[0]!, group.notBefore) >= settledAt) break;
    if (group.kind !== 'searched') until = Math.max(until, drawFinish(draws, group, isRestart, 0));
  }
  return until;
}

/** A future in which each group waits only for its dependencies ahead. All groups share the slots. */
export function drawLanes(draws: Draws, record: RecordLanding): void {
  const { groups, finish, leftAt, random, patterns, now } = draws;
  for (let index = 0; index < groups.length; index++) {
    const group = groups[index]!;
    if (group.kind === 'searched') {
      finish[index] = now;
      record(index, drawSearched(draws, index, now, now));
      continue;
    }
    const behind = group.behind ?? patterns[Math.floor(random() * patterns.length)]!;
    let aheadAt = now;
    let restartAt = 0;
    for (const distance of behind) {
      if (distance > index) continue;
      aheadAt = Math.max(aheadAt, finish[index - distance]!);
      restartAt = Math.max(restartAt, leftAt[index - distance]!);
    }
    const isRestart = restartAt > 0;
    const settledAt = Math.max(aheadAt, drawFinish(draws, group, isRestart, restartAt));
    const isFailed = drawFailure(draws, index, isRestart);
    finish[index] = settledAt;
    if (isFailed) leftAt[index] = settledAt;
    record(index, settledAt + (isFailed ? drawDelay(draws, index, isRestart) : 0));
  }
}
