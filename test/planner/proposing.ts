// A queue of one line as the strategy sees it: what waits, how many slots are free, and what it would start.
import { hourMs, minuteMs } from '#base/duration.ts';
import { emptySnapshot } from '#core/queue/planner/empty.ts';
import { noTargets } from '#core/queue/planner/lane.ts';
import type { Item, QueuePosition, Snapshot } from '#core/queue/planner/model.ts';
import { screenThenChain } from '#core/queue/planner/strategy/screen-then-chain.ts';

export const pendingSince = (since: number, alone = false): QueuePosition => ({
  kind: 'pending',
  since,
  restarting: false,
  alone,
  behind: null,
});

export const entry = (pr: number, item: Partial<Item> = {}): Item => ({
  pr,
  priority: 100,
  seniority: pr,
  submittedAt: 0,
  noBatch: false,
  ready: true,
  queuedAt: 0,
  patienceFrom: 0,
  testedOnTip: null,
  targets: noTargets,
  place: pendingSince(0),
  screen: 'none',
  endRequested: null,
  ...item,
});

export const entries = (count: number, item: Partial<Item> = {}): Item[] =>
  Array.from({ length: count }, (_, index) => entry(index + 1, item));

export const slots = 16;
export const busy = 8;
export const now = hourMs;
/** Runs that usually take half an hour. */
export const longRuns = { startByMs: minuteMs, finishByMs: 2 * hourMs, usualMs: 30 * minuteMs };

/** An entry under bisection that probably fails: with it in the queue only free slots make the queue quiet. */
export const suspect = entry(800, { place: { kind: 'search', search: 1 }, odds: 0.1 });

export const itemsOf = (items: readonly Item[]): Snapshot['items'] =>
  new Map(items.map((item) => [item.pr, item]));

export function propose(pending: readonly Item[], free: number, queue: Partial<Snapshot> = {}) {
  const items = itemsOf([suspect, ...pending]);
  const snapshot = { ...emptySnapshot({ concurrency: slots }, 'T'), limits: longRuns, items, ...queue };
  return screenThenChain.propose({ queue: snapshot, pending, free, now, dependencies: [] });
}

/** The sizes of what is proposed, as "group 3" or "screen 6". */
export const shapes = ({ proposals }: ReturnType<typeof propose>): string[] =>
  proposals.map((proposal) => {
    if ('screen' in proposal) return `screen ${proposal.screen.length}`;
    return 'members' in proposal ? `group ${proposal.members.length}` : 'another run';
  });
