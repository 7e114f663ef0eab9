// When would each entry land, if the queue screens (planner/strategy/screen-then-chain.ts)? An entry is first tested in a batch on the
// branch, beside the line, and then in a group of the chain: groups start one after another, each on top of the one
// before, and land in this order.
//
// Example. Runs take 30 minutes, a group of the chain starts every 15. #7 is in a screen that ends in 10 minutes. It joins
// the group that starts within 15 minutes of that, and lands when this group and those ahead of it have passed: 40 to
// 55 minutes from now. In one future of five its batch fails because of another entry: then some runs of a bisection come
// first.

import { chainEveryMs, groupMax, screenSize } from '../planner/strategy/screen-then-chain.ts';
import {
  type Draws,
  drawDelay,
  drawDuration,
  drawFailure,
  drawRemaining,
  type RecordLanding,
  takeSlot,
} from './estimate-draw.ts';
import { type LineEntry, type LineGroup, placesMax } from './estimate-group.ts';

/** The share of entries of a bisected batch that are screened again. */
const screenedAgainShare = 0.55;

/** The share of groups in the chain that fail although each of their entries passed a screen. */
const chainFailShare = 0.03;

/** The groups of a queue that screens: runs under way, then entries that passed a screen, then batches of the others. */
export function groupScreens(
  line: readonly LineEntry[],
  failureShare: number,
  now: number,
): readonly LineGroup[] {
  const places = line.slice(0, placesMax);
  const groups: LineGroup[] = [];
  const add = (entries: readonly LineEntry[], kind: LineGroup['kind']) => {
    const [first] = entries;
    if (first === undefined) return;
    groups.push({
      members: entries.map(({ prNumber }) => prNumber),
      kind,
      elapsedMs: first.run?.isUnderWay === true ? Math.max(0, now - first.run.createdAt.getTime()) : 0,
      notBefore: now,
      behind: [],
      isScreened: entries.every(({ isScreened }) => isScreened),
    });
  };
  const running = places.filter(({ state, run }) => run !== null && state !== 'pending');
  for (const id of new Set(running.map(({ run }) => run!.id))) {
    const entries = running.filter(({ run }) => run!.id === id);
    add(entries, runKind(entries[0]!));
  }
  const pending = places.filter(({ state, run }) => run === null || state === 'pending');
  const addAll = (entries: readonly LineEntry[], most: number, kind: LineGroup['kind']) => {
    for (let from = 0; from < entries.length; from += most) add(entries.slice(from, from + most), kind);
  };
  addAll(
    pending.filter(({ isScreened }) => isScreened),
    groupMax,
    'screened',
  );
  addAll(
    pending.filter(({ isScreened }) => !isScreened),
    screenSize(failureShare),
    'waiting',
  );
  return groups;
}

function runKind({ state, run }: LineEntry): LineGroup['kind'] {
  if (run!.isBisection) return 'searched';
  if (run!.isScreen) return 'screening';
  if (state === 'tests_passed') return 'passed';
  return run!.isUnderWay ? 'running' : 'failed';
}

/** A future of a queue that screens. */
export function drawScreens(draws: Draws, record: RecordLanding): void {
  const ahead = drawChain(draws, record);
  const ready = draws.groups
    .flatMap((group, index) => (isChained(group) ? [] : [{ index, readyAt: drawReady(draws, group, index) }]))
    .sort((a, b) => a.readyAt - b.readyAt);
  drawNextGroups(draws, ready, ahead, record);
}

const isChained = ({ kind }: LineGroup): boolean =>
  kind === 'running' || kind === 'passed' || kind === 'failed';

/** The chain as it is; returns when the last of its groups has landed. */
function drawChain(draws: Draws, record: RecordLanding): number {
  const { groups, now, slots, fails, random } = draws;
  let landedAt = now;
  /** Everything behind a failure is tested again. */
  let restartAt: number | null = null;
  for (const [index, group] of groups.entries()) {
    if (!isChained(group)) continue;
    const { kind, elapsedMs, isScreened } = group;
    let finish = now;
    if (restartAt !== null) finish = restartAt + drawDuration(draws);
    else if (kind === 'running') finish = now + drawRemaining(draws, elapsedMs);
    if (finish > now) takeSlot(slots, finish);
    landedAt = Math.max(landedAt, finish);
    const failShare = isScreened === true ? chainFailShare : fails[index]!;
    const isFailed = (kind === 'failed' && restartAt === null) || (kind !== 'passed' && random() < failShare);
    if (isFailed) restartAt = landedAt;
    record(index, isFailed ? landedAt + drawAgain(draws, group, index) : landedAt);
  }
  return landedAt;
}

/** After its group has failed, an entry is screened again or bisected, and then in the chain once more. */
function drawAgain(draws: Draws, { kind, isScreened }: LineGroup, index: number): number {
  const first = isScreened === true ? drawDuration(draws) : drawDelay(draws, index, kind === 'failed');
  return first + drawDuration(draws);
}

/** When an entry of the group has passed a screen. */
function drawReady(draws: Draws, { kind, elapsedMs }: LineGroup, index: number): number {
  const { slots, now, random, searchRounds } = draws;
  if (kind === 'screened') return now;
  let readyAt = kind === 'waiting' ? slots[0]! + drawDuration(draws) : now + drawRemaining(draws, elapsedMs);
  takeSlot(slots, readyAt);
  if (kind === 'searched') {
    // Runs of the bisection are left.
    const rounds = Math.floor(random() * (searchRounds[index]! + 1));
    for (let round = 0; round < rounds; round++) readyAt += drawDuration(draws);
    takeSlot(slots, readyAt);
    return random() < screenedAgainShare ? readyAt + drawDuration(draws) : readyAt;
  }
  if (drawFailure(draws, index, false)) {
    readyAt += drawDelay(draws, index, false);
    takeSlot(slots, readyAt);
  }
  return readyAt;
}

/** Groups of the chain to come: all that is ready joins the next one, which starts at once when it is full. */
function drawNextGroups(
  draws: Draws,
  ready: readonly { readonly index: number; readonly readyAt: number }[],
  ahead: number,
  record: RecordLanding,
): void {
  const { groups, now, random, odds } = draws;
  const { durationsMs, slots } = odds;
  const countOf = (at: number) => groups[ready[at]!.index]!.members.length;
  const everyMs = chainEveryMs(slots, durationsMs[Math.floor(0.5 * (durationsMs.length - 1))]!);
  let landedAt = ahead;
  let startedAt = now - random() * everyMs;
  for (let at = 0; at < ready.length;) {
    const first = Math.max(now, ready[at]!.readyAt);
    let end = at;
    for (let count = 0; end < ready.length && count < groupMax; end++) count += countOf(end);
    const fullAt = end < ready.length ? ready[end - 1]!.readyAt : Infinity;
    // While nothing is under test in the line, a group starts as soon as it has an entry.
    startedAt = landedAt <= first ? first : Math.max(first, Math.min(startedAt + everyMs, fullAt));
    landedAt = Math.max(landedAt, startedAt + drawDuration(draws));
    const lateMs = random() < chainFailShare ? 2 * drawDuration(draws) : 0;
    for (; at < end && ready[at]!.readyAt <= startedAt; at++) record(ready[at]!.index, landedAt + lateMs);
  }
}
