// Why an entry is where it is, as the planner sees it: from the same structures as the decision.

import { explainSituation, explainState, type Situation } from '../explain.ts';
import { isUrgent } from '../priority.ts';
import { deadlineOf } from './clock.ts';
import { assumed, hasFailed } from './line.ts';
import { isActive, type Item, type Run, type Snapshot } from './model.ts';
import { inOrder } from './order.ts';

export function explain(snapshot: Snapshot, pr: number, now: number): readonly string[] {
  const item = snapshot.items.get(pr);
  if (item === undefined) return [];
  const frozen =
    snapshot.frozenAt === null ? [] : ['Its host does not answer: nothing is decided until it does.'];
  const situation = situationOf(snapshot, item, now);
  const { kind } = item.place;
  const own = situation === null ? [explainWaiting(item)] : [explainSituation(situation)];
  if (situation?.kind === 'landing') return [...frozen, ...own];
  return [...frozen, ...own, ...explainState(snapshot, kind === 'line' || kind === 'search')];
}

const explainWaiting = ({ ready, place }: Item): string =>
  place.kind === 'line'
    ? 'Its tests begin with the queue’s next look.'
    : ready
      ? 'It is ready, and enters the line as soon as the queue admits it.'
      : 'It is not ready: its base branch, its mergeability or its impacted targets are missing.';

/** Null for one that is not in the line yet. */
function situationOf(snapshot: Snapshot, item: Item, now: number): Situation | null {
  const { place, pr } = item;
  if (snapshot.landing?.members.includes(pr)) return { kind: 'landing' };
  switch (place.kind) {
    case 'not_ready':
      return null;
    case 'pending':
      return pendingSituation(snapshot, item, place.behind, now);
    case 'line':
      return lineSituation(snapshot, pr, now);
    case 'search': {
      const search = snapshot.searches.find(({ id }) => id === place.search);
      return search === undefined
        ? { kind: 'failed', ahead: [], isBatch: true }
        : { kind: 'searched', suspects: search.members.slice(search.passes, search.fails) };
    }
  }
}

function pendingSituation(snapshot: Snapshot, item: Item, behind: number | null, now: number): Situation {
  const { settings, items, runs } = snapshot;
  const pending = inOrder(
    [...items.values()].filter((other) => other.place.kind === 'pending'),
    now,
  );
  const beforeCount = Math.max(
    0,
    pending.findIndex((other) => other.pr === item.pr),
  );
  const isAlone =
    item.noBatch || isUrgent(item.priority) || (item.place.kind === 'pending' && item.place.alone);
  return {
    kind: 'pending',
    conflictsWith: behind !== null && items.has(behind) ? behind : null,
    before: pending.slice(0, Math.min(3, beforeCount)).map((other) => other.pr),
    beforeCount,
    slots: settings.concurrency,
    slotsTaken: [...runs.values()].filter((run) => run.of.kind === 'line' && isActive(run)).length,
    batch:
      settings.batch && !isAlone
        ? { size: settings.batchingMinSize, waitMinutes: settings.batchingMaxWaitTimeMinutes }
        : null,
  };
}

function lineSituation(snapshot: Snapshot, pr: number, now: number): Situation | null {
  const group = snapshot.line.find(({ members }) => members.includes(pr));
  const run = [...snapshot.runs.values()].findLast(
    (candidate) => candidate.of.kind === 'line' && candidate.of.group === group?.id,
  );
  if (group === undefined || run === undefined) return null;
  const ahead = assumed(run);
  if (isActive(run)) return testingSituation(snapshot, run, ahead, now);
  if (run.status === 'passed') return { kind: 'passed', ahead };
  if (!hasFailed(snapshot, run) || run.status === 'infrastructure') return { kind: 'retrying' };
  return { kind: 'failed', ahead, isBatch: group.members.length > 1 };
}

function testingSituation(snapshot: Snapshot, run: Run, ahead: readonly number[], now: number): Situation {
  const deadline = deadlineOf(snapshot, run);
  return {
    kind: 'testing',
    ahead,
    askedMs: now - run.requestedAt,
    runningMs: run.startedAt === null ? null : now - run.startedAt,
    timesOutInMs: deadline === null ? null : deadline - now,
    checks: null,
  };
}
