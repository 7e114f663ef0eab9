// Screen, then chain. A train learns about one bad change per run of CI: everything behind the first failure fails
// too. So entries are first tested on their own, beside the line, in batches that probably pass: screens, whose
// results hide nothing about each other. Entries that passed join the line in a few large groups, each on top of the
// one before: the chain, whose runs are the proofs that land. While few entries wait, they go straight into the
// line, as long as a group probably passes.
//
// Example. Seven slots are free, 5 of 100 changes are bad, and 42 entries wait. Six of them pass together with a probability
// of 0.74, seven with 0.70: seven screens take six entries each. One screen fails: it is bisected beside the line. The
// 36 others passed: they are one group of the chain, which passes unless two of them break together, and land as one.
//
// The figures were found by simulation (docs/explanation/evidence.md), on one line of 8..64 slots at loads of
// 8..120 entries an hour.

import { minuteMs } from '#base/duration.ts';
import { mustBeAlone, waitsSince } from '../batch.ts';
import { isActive, isScreened, type Item, type Snapshot } from '../model.ts';
import { hasAged } from '../order.ts';
import type { BatchView, ExplainedStrategy, Proposal } from '../strategy.ts';

/** An entry that passed a screen before and is screened again. */
const doubtedOdds = 0.95;

/** A screen takes entries while it passes at least this probably; where many fail, more failures are worth it. */
const screenOdds = { usual: 0.7, rough: 0.55 } as const;
const roughFrom = 0.08;

const screenMax = 8;
/** Of entries whose failures are predicted: those that hardly ever fail are tested together in larger batches. */
const predictedScreenMax = 16;
/** So many entries are looked at for a screen of entries that are alike. */
const alikeWindow = 40;
/** The most entries of a group of the chain. */
export const groupMax = 60;

/** While so much of the slots is free, the queue is quiet. */
const quietShare = 2 / 3;
/** With less of them free, down to this, it is quiet too while all that was not screened yet passes this probably. */
const calmShare = 1 / 4;
const calmOdds = 0.65;

type ChainPace = {
  /** Unscreened entries join the line while those in it pass together at least this probably; 1: never. */
  readonly directOdds: number;
  /** The time between two groups of the chain. */
  readonly chainEveryMs: number;
  /** Groups in the chain. */
  readonly chainMax: number;
  /** How long a screen waits for more entries. */
  readonly fillWaitMs: number;
};

const quiet: ChainPace = { directOdds: 0.7, chainEveryMs: 0, chainMax: 12, fillWaitMs: minuteMs };
const busy: ChainPace = { directOdds: 1, chainEveryMs: 15 * minuteMs, chainMax: 6, fillWaitMs: 5 * minuteMs };
/** Where CI minutes matter more than time. */
const thrifty: ChainPace = { ...busy, chainEveryMs: 27 * minuteMs, fillWaitMs: 6 * minuteMs };

/** As if CI were fast, until the queue knows how long its runs take: no entry of a new queue waits long for a batch. */
const usualMsWithoutHistory = minuteMs;

type QueueView = BatchView & Pick<Snapshot, 'line'>;

function choosePace(queue: BatchView, free: number): ChainPace {
  const { concurrency, weight } = queue.settings;
  if (weight === 'ci_minutes') return thrifty;
  const isQuiet =
    free >= quietShare * concurrency || (free >= calmShare * concurrency && probablyPasses(queue));
  return isQuiet ? quiet : busy;
}

/** Whether all entries in the queue that did not pass a screen probably pass together. */
function probablyPasses(queue: BatchView): boolean {
  let odds = 1;
  for (const item of queue.items.values()) {
    if (item.place.kind !== 'not_ready' && !isScreened(item)) odds *= soundOdds(queue, item);
    if (odds < calmOdds) return false;
  }
  return true;
}

export const screenThenChain: ExplainedStrategy = {
  screens: true,
  describeBatches: (queue) => {
    const { settings, runs, failureShare } = queue;
    const pace = choosePace(queue, settings.concurrency - [...runs.values()].filter(isActive).length);
    return {
      size: screenSize(failureShare),
      waitMs: shorten(queue, pace.fillWaitMs),
      failureShare,
      ...(settings.predictFailures ? { isPredicted: true } : {}),
    };
  },
  propose: ({ queue, pending, free, now }) => {
    const pace = choosePace(queue, free);
    const chain = nextGroup(queue, pending, pace, now);
    const taken = new Set(chain.members);
    const rest = pending.filter((item) => !isScreened(item) && !taken.has(item));
    const group: Proposal[] = taken.size === 0 ? [] : [{ members: chain.members.map(({ pr }) => pr) }];
    // An entry that has waited for hours is not overtaken by younger ones, even if they passed a screen before it did.
    const [oldest] = rest;
    const isLast =
      oldest !== undefined &&
      hasAged(oldest, now) &&
      chain.members.every(({ seniority }) => seniority > oldest.seniority);
    const screens = formScreens(queue, rest, isLast ? free : free - group.length, pace, now);
    const wakeAt = Math.min(chain.wakeAt, screens.wakeAt);
    return {
      proposals: isLast ? [...screens.proposals, ...group] : [...group, ...screens.proposals],
      wakeAt: wakeAt === Infinity ? null : wakeAt,
    };
  },
};

/** How probably the change passes on its own. */
function soundOdds({ failureShare }: BatchView, { screen, odds }: Item): number {
  if (screen === 'doubted') return doubtedOdds;
  return odds ?? 1 - failureShare;
}

/** The next group of the chain, and when there would be one; none while the chain is long or has just grown. */
function nextGroup(
  queue: QueueView,
  pending: readonly Item[],
  pace: ChainPace,
  now: number,
): { readonly members: readonly Item[]; readonly wakeAt: number } {
  const { line } = queue;
  // An entry without a result so far is tested in the line: a screen would not end in a verdict either.
  const mayJoin = (item: Item) =>
    isScreened(item) || pace.directOdds < 1 || (item.place.kind === 'pending' && item.place.alone);
  const able = pending.filter(mayJoin);
  if (able.length === 0 || line.length >= pace.chainMax) return { members: [], wakeAt: Infinity };
  const startsAt =
    line.length === 0
      ? now
      : lastStart(queue) + stretch(queue.settings.concurrency) * shorten(queue, pace.chainEveryMs);
  const ready = able.filter(isScreened);
  // With many slots a group is full before it is due.
  if (startsAt > now && ready.length < groupMax) return { members: [], wakeAt: startsAt };
  const fresh = able.filter((item) => !isScreened(item));
  const [first] = able;
  if (mustBeAlone(first!)) return { members: [first!], wakeAt: Infinity };
  const members = ready.filter((item) => !mustBeAlone(item)).slice(0, groupMax);
  let odds = unscreenedOdds(queue);
  for (const item of fresh) {
    odds *= soundOdds(queue, item);
    if (odds < pace.directOdds || members.length >= groupMax) break;
    if (!mustBeAlone(item)) members.push(item);
  }
  return { members, wakeAt: Infinity };
}

/** How probably all entries of the line pass that went there without a screen. */
function unscreenedOdds(queue: QueueView): number {
  const items = queue.line.flatMap(({ members }) => members.map((pr) => queue.items.get(pr)));
  return items.reduce(
    (odds, item) => (item === undefined || isScreened(item) ? odds : odds * soundOdds(queue, item)),
    1,
  );
}

/** The times above are for runs that take so long. Where CI is faster they are shorter: less waiting pays. */
const referenceRunMs = 25 * minuteMs;

const shortenFor = (usualMs: number, ms: number): number => ms * Math.min(1, usualMs / referenceRunMs);

const shorten = ({ limits }: BatchView, ms: number): number =>
  shortenFor(limits.usualMs ?? usualMsWithoutHistory, ms);

const screenOddsMin = (failureShare: number): number =>
  failureShare >= roughFrom ? screenOdds.rough : screenOdds.usual;

/** How many entries fill a screen. */
export function screenSize(failureShare: number): number {
  const size = Math.floor(Math.log(screenOddsMin(failureShare)) / Math.log(1 - failureShare));
  return Math.min(screenMax, Math.max(1, size));
}

/** From so many slots on the chain keeps its pace. With fewer it is slower, since its runs take more of the slots. */
const slotsForPace = 16;
const stretch = (slots: number): number => Math.min(3, Math.max(1, (slotsForPace / slots) ** 1.5));

/** The time between two groups of the chain of a busy queue with so many slots, whose runs usually take this time. */
export const chainEveryMs = (slots: number, usualMs: number): number =>
  stretch(slots) * shortenFor(usualMs, busy.chainEveryMs);

/** When the last run of a group in the line was requested. */
function lastStart({ runs }: QueueView): number {
  let last = Number.NEGATIVE_INFINITY;
  for (const { of, requestedAt } of runs.values())
    if (of.kind === 'line' && requestedAt > last) last = requestedAt;
  return last;
}

/** Screens for these entries, in order: as many as slots are left, evenly filled, and none that probably fails. */
function formScreens(
  queue: QueueView,
  unscreened: readonly Item[],
  free: number,
  pace: ChainPace,
  now: number,
): { readonly proposals: readonly Proposal[]; readonly wakeAt: number } {
  const proposals: Proposal[] = [];
  const oddsMin = screenOddsMin(queue.failureShare);
  let rest = unscreened.filter(({ place }) => place.kind !== 'pending' || !place.alone);
  while (proposals.length < free && rest.length > 0) {
    const even = Math.ceil(rest.length / (free - proposals.length));
    const most = pace === thrifty ? screenMax : Math.min(screenMax, even);
    const { members, isFull } = fill(queue, rest, most, oddsMin);
    const startsAt = Math.min(...members.map(waitsSince)) + shorten(queue, pace.fillWaitMs);
    // An entry that has waited for hours before it was ready does not wait for others.
    const isWaiting = !isFull && startsAt > now && !members.some((item) => hasAged(item, now));
    if (isWaiting) return { proposals, wakeAt: startsAt };
    proposals.push({ screen: members.map(({ pr }) => pr) });
    rest = rest.filter((item) => !members.includes(item));
  }
  return { proposals, wakeAt: Infinity };
}

/** The first entry and those behind it that may be tested with it. It is full if another would be too many. */
function fill(
  queue: QueueView,
  [first, ...others]: readonly Item[],
  most: number,
  oddsMin: number,
): { readonly members: readonly Item[]; readonly isFull: boolean } {
  const members = [first!];
  if (mustBeAlone(first!)) return { members, isFull: true };
  if (first!.odds !== undefined) return fillAlike(queue, first!, others, most, oddsMin);
  let odds = soundOdds(queue, first!);
  for (const item of others) {
    if (mustBeAlone(item)) continue;
    odds *= soundOdds(queue, item);
    if (odds < oddsMin || members.length >= screenMax) return { members, isFull: true };
    if (members.length >= most) break;
    members.push(item);
  }
  return { members, isFull: members.length >= screenMax };
}

/**
 * The same if failures are predicted: one that probably fails would fail the others with it. So the first entry is tested
 * with those behind it that fail about as probably, the most probable failure last, where a bisection finds it soonest.
 */
function fillAlike(
  queue: QueueView,
  first: Item,
  others: readonly Item[],
  most: number,
  oddsMin: number,
): { readonly members: readonly Item[]; readonly isFull: boolean } {
  const size = most >= screenMax ? predictedScreenMax : most;
  const own = soundOdds(queue, first);
  const distance = (item: Item) => Math.abs(soundOdds(queue, item) - own);
  const near = others.filter((item) => !mustBeAlone(item)).slice(0, alikeWindow);
  const members = [first];
  let odds = own;
  let isFull = false;
  for (const item of near.toSorted((a, b) => distance(a) - distance(b))) {
    if (members.length >= size) break;
    const together = odds * soundOdds(queue, item);
    if (together < oddsMin) {
      isFull = true;
      continue;
    }
    odds = together;
    members.push(item);
  }
  members.sort((a, b) => soundOdds(queue, b) - soundOdds(queue, a));
  return { members, isFull: isFull || members.length >= predictedScreenMax };
}
