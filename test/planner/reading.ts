// The rows around the planner, as far as it reads them again with every evaluation: what a command, or the Git host, changed
// there comes into the snapshot by the restore that production uses, and a change of settings by the decision that production
// takes. So what is explored here is what the service does.
import type { QueueId } from '#base/id.ts';
import { decideQueueChange } from '#core/queue/decide-queue.ts';
import {
  type EntryReading,
  type QueueReading,
  restoreItem,
  restoreSnapshot,
} from '#core/queue/engine/restore.ts';
import { type RememberedItem, storedPlan, type StoredPlan } from '#core/queue/engine/stored.ts';
import type { SettableQueueState } from '#core/queue/model.ts';
import type { Snapshot } from '#core/queue/planner/model.ts';
import { type PlannerEvent, observe, type Observed } from '#core/queue/planner/observe.ts';
import type { StrategyRules } from '#core/queue/planner/strategy.ts';
import type { QueueSettings } from '#core/queue/settings.ts';

/** What was written to a row since the queue was last evaluated. */
type RowChange =
  | { readonly kind: 'rewritten'; readonly pr: number; readonly priority: number; readonly noBatch: boolean }
  | { readonly kind: 'readiness'; readonly pr: number; readonly ready: boolean }
  | { readonly kind: 'state'; readonly state: SettableQueueState }
  | { readonly kind: 'settings'; readonly settings: Partial<QueueSettings> };

/** Everything that can happen to a queue. */
export type Input = PlannerEvent | RowChange;

/** What happened, as an evaluation takes it in. */
export function take(snapshot: Snapshot, input: Input, now: number, strategy?: StrategyRules): Observed {
  switch (input.kind) {
    case 'rewritten': {
      const { pr, priority, noBatch } = input;
      return unobserved(withEntry(snapshot, pr, { priority, noBatch }));
    }
    case 'readiness':
      return unobserved(withEntry(snapshot, input.pr, { ready: input.ready }));
    case 'state':
      return unobserved(withQueue(snapshot, {}, input.state));
    case 'settings':
      return unobserved(withQueue(snapshot, input.settings, undefined));
    case 'ended':
      // A command that finds the entry landing leaves its wish on the row (decide.ts).
      return snapshot.landing?.members.includes(input.pr)
        ? unobserved(withEntry(snapshot, input.pr, { endRequested: input.reason }))
        : observe(snapshot, input, now, strategy);
    default:
      return observe(snapshot, input, now, strategy);
  }
}

const unobserved = (snapshot: Snapshot): Observed => ({ snapshot, facts: [], actions: [] });

function withEntry(snapshot: Snapshot, pr: number, change: Partial<EntryReading>): Snapshot {
  const item = snapshot.items.get(pr);
  if (item === undefined) return snapshot;
  const items = new Map(snapshot.items).set(pr, restoreItem({ ...item, ...change }, item));
  return restored({ ...snapshot, items });
}

function withQueue(
  snapshot: Snapshot,
  settings: Partial<QueueSettings>,
  state: SettableQueueState | undefined,
): Snapshot {
  const { limits, failureShare, flakeShare, line, searches } = snapshot;
  const queue = { ...snapshot, id: 'queue' as QueueId, targetBranch: 'main', stateReason: null };
  const decision = decideQueueChange(queue, { settings, state }, line.length > 0 || searches.length > 0);
  return decision.kind === 'rejected'
    ? snapshot
    : restored(snapshot, { ...decision.queue, limits, failureShare, flakeShare });
}

/** What the next evaluation begins with: what the planner left behind, and what it reads again. */
export const restored = (snapshot: Snapshot, queue: QueueReading = snapshot): Snapshot =>
  restoreSnapshot(
    queue,
    storedPlan(snapshot),
    Array.from(snapshot.items.values(), (item) => restoreItem(item, item)),
  );

/** The snapshot after it was written to the database and read back. */
export function throughDatabase(snapshot: Snapshot): Snapshot {
  const plan = asRead<StoredPlan>(storedPlan(snapshot));
  const items = Array.from(snapshot.items.values(), (item) => {
    const { place, queuedAt, patienceFrom, testedOnTip, screen, findings, expectedMs, odds, ...reading } =
      item;
    const stored = { place, queuedAt, patienceFrom, testedOnTip, screen, findings, expectedMs, odds };
    return restoreItem(reading, asRead<RememberedItem>(stored));
  });
  return restoreSnapshot(snapshot, plan, items);
}

const asRead = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value;
