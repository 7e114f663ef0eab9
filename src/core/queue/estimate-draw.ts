// One imagined future of a line: when each group would land. Everything that varies is drawn from what the queue has
// seen: how long its test runs took, and what share of those it tested left without landing.
//
// Each group's landing is imagined as if the group itself were good, because that is what an estimate is for; those
// ahead of it are good or bad by chance.

import type { LineGroup } from './estimate-group.ts';

export type Odds = {
  /** How long test runs took, rising. */
  readonly durationsMs: Float64Array;
  /** The probability that an entry leaves after it was tested, and how unsure that is (a standard deviation). */
  readonly leaveShare: number;
  readonly leaveDoubt: number;
  readonly slots: number;
  /** Runs at once while a failed batch is searched. */
  readonly searchSlots: number;
  /** A passing run also proves what it contains ahead of it. */
  readonly isOptimistic: boolean;
  /** How many behind a failure it waits for. */
  readonly failureDepth: number;
};

/** What one future needs, made once for all of them. */
export type Draws = {
  readonly groups: readonly LineGroup[];
  readonly odds: Odds;
  readonly now: number;
  readonly random: () => number;
  /** Per group: the probability that its run fails. In each future another one. */
  readonly fails: Float64Array;
  /** Rounds of runs until the culprit of the group is found. */
  readonly searchRounds: Float64Array;
  /** Per slot when it is free; a heap with the soonest first. */
  readonly slots: Float64Array;
  /** Per group when its run ends, and then when it is settled. */
  readonly finish: Float64Array;
  /** Per group when it left; 0 where it did not. */
  readonly leftAt: Float64Array;
  /** What those who depend on others wait for, by groups ahead: what is pending is taken to be like one of these. */
  readonly patterns: readonly (readonly number[])[];
};

export type RecordLanding = (group: number, landsAt: number) => void;

export function createDraws(groups: readonly LineGroup[], odds: Odds, now: number): Draws {
  const known = groups.flatMap(({ behind }, index) => (behind === null || index === 0 ? [] : [behind]));
  return {
    groups,
    odds,
    now,
    random: createRandom(),
    fails: new Float64Array(groups.length),
    searchRounds: Float64Array.from(groups, ({ members }) =>
      Math.ceil(Math.log(members.length) / Math.log(odds.searchSlots + 1)),
    ),
    // More slots than groups are never taken.
    slots: new Float64Array(Math.min(odds.slots, groups.length)),
    finish: new Float64Array(groups.length),
    leftAt: new Float64Array(groups.length),
    patterns: known.length === 0 ? [[1]] : known,
  };
}

/** The mulberry32 generator from a fixed seed: the same line gives the same estimate in every process. */
function createRandom(): () => number {
  let counter = 1;
  return () => {
    counter = (counter + 0x6d2b79f5) | 0;
    let bits = Math.imul(counter ^ (counter >>> 15), counter | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Begins a future: nothing is taken, and those who leave are as many as it may be. */
export function beginFuture({ groups, odds, now, random, fails, slots, leftAt }: Draws): void {
  slots.fill(now);
  leftAt.fill(0);
  // The sum of twelve is as good as normal.
  let deviations = -6;
  for (let draw = 0; draw < 12; draw++) deviations += random();
  const share = Math.min(1, Math.max(0, odds.leaveShare + deviations * odds.leaveDoubt));
  for (let index = 0; index < groups.length; index++) {
    const size = groups[index]!.members.length;
    fails[index] = size === 1 ? share : 1 - (1 - share) ** size;
  }
}

/** How long a new run takes: between two neighbours of those that were seen. */
function drawDuration({ random, odds: { durationsMs } }: Draws): number {
  const at = random() * (durationsMs.length - 1);
  const low = Math.floor(at);
  const shorter = durationsMs[low]!;
  return shorter + (at - low) * ((durationsMs[low + 1] ?? shorter) - shorter);
}

/** A run that has taken longer than every one before may take half as long again. */
const overtimeShare = 0.5;

/** How much longer a run takes that has taken this long: like one of those that took longer. */
function drawRemaining({ random, odds: { durationsMs } }: Draws, elapsedMs: number): number {
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

/** Takes the slot that is free first until `until`; the others keep their order. */
function takeSlot(slots: Float64Array, until: number): void {
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

/** When the group's run ends, if nothing makes it begin anew. `isAnew`: whatever it had was lost. */
function finishOf(draws: Draws, group: LineGroup, isAnew: boolean, from: number): number {
  const { slots, now } = draws;
  if (!isAnew && (group.kind === 'passed' || group.kind === 'failed')) return now;
  const finish =
    !isAnew && group.kind === 'running'
      ? now + drawRemaining(draws, group.elapsedMs)
      : Math.max(slots[0]!, group.notBefore, from) + drawDuration(draws);
  takeSlot(slots, finish);
  return finish;
}

/**
 * Beside the line: after the round that is under way it is tested again, behind what is under test now. If one of those
 * leaves after that, it begins anew; and it may hold another culprit.
 */
function drawSearched(draws: Draws, index: number, settledAt: number, leftAt: number): number {
  const { elapsedMs } = draws.groups[index]!;
  const round = elapsedMs === 0 ? drawDuration(draws) : drawRemaining(draws, elapsedMs);
  const landsAt = Math.max(settledAt, Math.max(draws.now + round, leftAt) + drawDuration(draws));
  const isSearchedAgain = draws.random() < draws.fails[index]!;
  return landsAt + (isSearchedAgain ? (draws.searchRounds[index]! + 1) * drawDuration(draws) : 0);
}

/** Whether the group's run fails. What has failed already fails, unless it began anew. */
const drawFailure = ({ groups, random, fails }: Draws, index: number, isAnew: boolean): boolean =>
  (!isAnew && groups[index]!.kind === 'failed') || random() < fails[index]!;

/** How much later a good member of a group lands whose run failed: by a run anew, or by a search and a run. */
function drawDelay(draws: Draws, index: number, isAnew: boolean): number {
  const { groups, random, searchRounds } = draws;
  const { kind, members } = groups[index]!;
  // One time in as many as they are, it is the good member itself that would have been the bad one.
  if ((isAnew || kind !== 'failed') && random() * members.length < 1) return 0;
  return (searchRounds[index]! + 1) * drawDuration(draws);
}

/**
 * A future in which everybody stands in one line. A group that is bad is found out once everything ahead of it has
 * landed and its run has ended. At that moment nothing ahead is left and everything behind begins anew, with every slot
 * free: so a line is drawn from one failure to the next.
 */
export function drawLine(draws: Draws, record: RecordLanding): void {
  const { groups, slots, finish, odds, now } = draws;
  let settledAt = now;
  let isAnew = false;
  /** What is under test now: when the last of it is settled, and when one of it last leaves. */
  const front = { settledAt: now, leftAt: now };
  for (let from = 0; from < groups.length;) {
    const failed = drawStretch(draws, from, isAnew);
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
    record(failed, settledAt + drawDelay(draws, failed, isAnew));
    settledAt = awaitSuccessors(draws, failed, isAnew, settledAt);
    slots.fill(settledAt);
    // What is left of a batch comes back and takes a slot before the others.
    if (groups[failed]!.members.length > 1) slots[slots.length - 1]! += drawDuration(draws);
    if (groups[failed]!.kind !== 'waiting') front.leftAt = settledAt;
    isAnew = true;
    from = failed + 1;
  }
  for (let index = 0; groups[index]?.kind === 'searched'; index++)
    record(index, drawSearched(draws, index, front.settledAt, front.leftAt));
}

/** Draws the runs from a group on, up to the first that fails; answers which that is, or the end of the line. */
function drawStretch(draws: Draws, from: number, isAnew: boolean): number {
  const { groups, finish } = draws;
  for (let index = from; index < groups.length; index++) {
    const group = groups[index]!;
    const isBeside = group.kind === 'searched';
    finish[index] = isBeside ? Number.POSITIVE_INFINITY : finishOf(draws, group, isAnew, 0);
    if (!isBeside && drawFailure(draws, index, isAnew)) return index;
  }
  return groups.length;
}

/** With optimistic merging a run that passes proves what it contains. */
function proveByLater(finish: Float64Array, from: number, end: number): void {
  for (let index = end - 2; index >= from; index--)
    finish[index] = Math.min(finish[index]!, finish[index + 1]!);
}

/** A failure waits for the next ones that are under test, as far as the queue's failure depth goes. */
function awaitSuccessors(draws: Draws, failed: number, isAnew: boolean, settledAt: number): number {
  const { groups, slots, odds } = draws;
  let until = settledAt;
  for (const group of groups.slice(failed + 1, failed + 1 + odds.failureDepth)) {
    const isToStart = isAnew || group.kind === 'waiting';
    if (isToStart && Math.max(slots[0]!, group.notBefore) >= settledAt) break;
    if (group.kind !== 'searched') until = Math.max(until, finishOf(draws, group, isAnew, 0));
  }
  return until;
}

/** A future in which everybody waits only for those ahead that they depend on. Slots are shared by all. */
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
    let anewAt = 0;
    for (const distance of behind) {
      if (distance > index) continue;
      aheadAt = Math.max(aheadAt, finish[index - distance]!);
      anewAt = Math.max(anewAt, leftAt[index - distance]!);
    }
    const isAnew = anewAt > 0;
    const settledAt = Math.max(aheadAt, finishOf(draws, group, isAnew, anewAt));
    const isFailed = drawFailure(draws, index, isAnew);
    finish[index] = settledAt;
    if (isFailed) leftAt[index] = settledAt;
    record(index, settledAt + (isFailed ? drawDelay(draws, index, isAnew) : 0));
  }
}
