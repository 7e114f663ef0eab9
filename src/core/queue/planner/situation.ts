// The situation of every entry, from the same structures as the decision (../situation.ts has the displayed
// texts).

import { namedEntries, type QueueSituation, type Situation } from '../situation.ts';
import { mustBeAlone } from './batch.ts';
import { timeLimits } from './clock.ts';
import { assumed, hasFailed, runsByGroup } from './line.ts';
import {
  findShownRun,
  type Group,
  isActive,
  isFlakyFailure,
  isInconclusive,
  isScreen,
  isScreened,
  type Item,
  type QueuePosition,
  type Run,
  type Search,
  type Snapshot,
} from './model.ts';
import { firstInOrder } from './order.ts';
import { speculates, strategyFor } from './strategies.ts';
import { sharesSlots } from './strategy.ts';

/** One for each entry that is pending, under test, bisected or landing. */
export function situations(snapshot: Snapshot): ReadonlyMap<number, Situation> {
  const { items, line, searches, landing } = snapshot;
  const found = new Map<number, Situation>();
  for (const item of items.values())
    if (item.place.kind === 'pending') found.set(item.pr, pendingSituation(snapshot, item, item.place));
  const runs = runsByGroup(snapshot.runs);
  for (const group of line) {
    const run = findShownRun(runs.get(group.id) ?? []);
    for (const pr of group.members) {
      const place = items.get(pr)?.place;
      if (run !== undefined) found.set(pr, groupSituation(snapshot, group, run));
      // A group that keeps its position without a run waits like a pending entry.
      else if (place?.kind === 'line' && place.shown === 'pending') found.set(pr, startingLater);
    }
  }
  for (const search of searches) {
    const situation = searchSituation(snapshot, search);
    // While the Git host does not answer, an entry may have left a bisection that is still stored.
    for (const pr of search.members) if (items.get(pr)?.place.kind === 'search') found.set(pr, situation);
  }
  for (const pr of landing?.members ?? []) found.set(pr, { kind: 'landing' });
  return found;
}

/** How many pending entries a sentence can name. */
const firstMax = 3;

export function queueSituation(snapshot: Snapshot, now: number): QueueSituation {
  const { items, runs, frozenAt } = snapshot;
  const pending: Item[] = [];
  let underTest = 0;
  for (const item of items.values())
    if (item.place.kind === 'pending') pending.push(item);
    else if (item.place.kind !== 'not_ready') underTest++;
  let slotsTaken = 0;
  const strategy = strategyFor(snapshot.settings);
  const isShared = sharesSlots(strategy, snapshot.settings);
  for (const run of runs.values()) if ((isShared || run.of.kind === 'line') && isActive(run)) slotsTaken++;
  const firstPending = firstInOrder(pending, now, firstMax).map(({ pr }) => pr);
  return { underTest, firstPending, slotsTaken, frozenAt, batches: strategy.describeBatches(snapshot) };
}

/** Almost all pending entries of a long queue are in one of these. */
const together: Situation = { kind: 'pending', conflictsWith: null, startsAlone: false };
const alone: Situation = { kind: 'pending', conflictsWith: null, startsAlone: true };
const startingLater: Situation = { ...alone, startsLater: true };
const screened: Situation = { kind: 'pending', conflictsWith: null, startsAlone: false, isScreened: true };

function pendingSituation(
  { items, settings }: Snapshot,
  item: Item,
  { behind, failedTogether }: Extract<QueuePosition, { kind: 'pending' }>,
): Situation {
  const startsAlone = mustBeAlone(item);
  const place = behind === null ? undefined : items.get(behind)?.place;
  // An entry that is not ready is not ahead of any other (start.ts).
  if (place !== undefined && place.kind !== 'not_ready')
    return {
      kind: 'pending',
      conflictsWith: behind,
      startsAlone,
      ...(failedTogether === true ? { failedTogether } : {}),
    };
  if (startsAlone) return alone;
  // In lanes no entry is screened: one that was tested alone has the same mark.
  return isScreened(item) && strategyFor(settings).screens ? screened : together;
}

function groupSituation(snapshot: Snapshot, { members }: Group, run: Run): Situation {
  const place = snapshot.items.get(members[0]!)?.place;
  const ahead = namedEntries(assumed(run));
  // Its own run passed, or one that contains it, which proves it too.
  if (run.status === 'passed' || (place?.kind === 'line' && place.shown === 'tests_passed'))
    return { kind: 'passed', ahead };
  if (isActive(run)) return testing(snapshot, run);
  if (!hasFailed(snapshot, run) || run.status === 'infrastructure') return retrying(run);
  return { kind: 'failed', ahead, isBatch: members.length > 1 };
}

function testing(snapshot: Snapshot, run: Run): Situation {
  const { requestedAt, pushedAt, startedAt } = run;
  const times = { requestedAt, pushedAt, startedAt };
  return {
    kind: 'testing',
    ahead: namedEntries(assumed(run)),
    times,
    limits: timeLimits(snapshot, run),
    ...((run.flakes ?? 0) > 0 ? { isAfterFlake: true } : {}),
    ...(run.rerun === undefined ? {} : { isRerun: true }),
  };
}

const retrying = (run: Run | undefined): Situation =>
  run !== undefined && isFlakyFailure(run) ? { kind: 'retrying', isAfterFlake: true } : { kind: 'retrying' };

function searchSituation(snapshot: Snapshot, search: Search): Situation {
  const { id, members, passes, fails } = search;
  if (speculates(snapshot.settings) && members.length === 1) return asideSituation(snapshot, id);
  if (isScreen(search)) return screenSituation(snapshot, id);
  return {
    kind: 'bisected',
    suspects: namedEntries(members.slice(passes, fails)),
    cleared: namedEntries(members.slice(0, passes)),
    ...(members.length === 1 ? { isAlone: true } : {}),
  };
}

/** A screen that has not failed is a test like any other, with nothing ahead of it. */
function screenSituation(snapshot: Snapshot, id: number): Situation {
  const own = searchRuns(snapshot, id);
  const active = own.find(isActive);
  return active === undefined ? retrying(own.at(-1)) : testing(snapshot, active);
}

/** It failed in the line, and is tested alone. */
function asideSituation(snapshot: Snapshot, id: number): Situation {
  const situation = screenSituation(snapshot, id);
  if (situation.kind === 'testing') return { ...situation, isAside: true };
  return searchRuns(snapshot, id).some(isInconclusive) ? situation : { kind: 'retrying', isAside: true };
}

const searchRuns = ({ runs }: Snapshot, id: number): readonly Run[] =>
  [...runs.values()].filter(({ of }) => of.kind === 'search' && of.search === id);
