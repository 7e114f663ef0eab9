// The plan of a queue: planQueue(snapshot, now) → facts to record and when to look again.
//
// Today the plan admits. A ready entry of a RUNNING queue goes from not_ready to pending; a pending one that is no
// longer ready goes back and keeps its seniority; one that was never ready for longer than the queue's patience is
// cancelled. A queue that waits to switch modes does so when nothing is under test.
//
// Example. #3 and #4 are submitted to a paused queue: both wait in not_ready. The queue is set RUNNING: the next plan
// admits both, in submission order. #4 loses its mergeability: the next plan puts it back. It regains it: pending
// again, in its old place among equals.
//
//   not_ready ──ready and the queue admits──► pending
//   not_ready ◄────────no longer ready─────── pending
//   not_ready ──patience over──► cancelled

import { finishModeSwitch, admits } from './decide-queue.ts';
import type { Fact } from './fact.ts';
import { type Entry, type Queue, isUnderTest } from './model.ts';
import { isReady, readinessOf } from './readiness.ts';

export type SnapshotEntry = { readonly entry: Entry; readonly hasImpactedTargets: boolean };
/** One immutable picture of a queue: every live entry. */
export type Snapshot = { readonly queue: Queue; readonly entries: readonly SnapshotEntry[] };

type PlannedFact = { readonly prNumber: number; readonly fact: Fact };
export type Plan = {
  readonly queue: Queue;
  readonly facts: readonly PlannedFact[];
  /** When time alone changes the plan; null if it never does. */
  readonly wakeAt: Date | null;
};

const hourMs = 3_600_000;

export function planQueue(snapshot: Snapshot, now: Date): Plan {
  const isAnythingUnderTest = snapshot.entries.some(({ entry }) => isUnderTest(entry.stage));
  const queue = isAnythingUnderTest ? snapshot.queue : finishModeSwitch(snapshot.queue);
  const facts: PlannedFact[] = [];
  let wakeAt: Date | null = null;

  for (const { entry, hasImpactedTargets } of snapshot.entries) {
    const ready = isReady(readinessOf(queue, entry, hasImpactedTargets));
    const record = (body: Pick<Fact & { kind: 'moved' }, 'to' | 'reason'>) =>
      facts.push({
        prNumber: entry.pullRequest.number,
        fact: { kind: 'moved', ...body, at: now, actor: 'queue' },
      });
    if (entry.stage.kind === 'pending' && !ready) {
      record({ to: { kind: 'not_ready' }, reason: null });
    } else if (entry.stage.kind === 'not_ready' && ready && admits(queue)) {
      record({ to: { kind: 'pending' }, reason: 'MERGE_ITEM_NOW_READY' });
    } else if (entry.stage.kind === 'not_ready' && !ready && entry.queuedAt === null) {
      const giveUpAt = patienceEndOf(queue, entry);
      if (giveUpAt === null) continue;
      if (giveUpAt <= now) {
        const reason = 'NOT_READY_TIMEOUT_EXPIRED';
        record({ to: { kind: 'cancelled', reason }, reason });
      } else if (wakeAt === null || giveUpAt < wakeAt) wakeAt = giveUpAt;
    }
  }
  return { queue, facts, wakeAt };
}

function patienceEndOf(queue: Queue, entry: Entry): Date | null {
  const { notReadyTimeoutHours } = queue.settings;
  if (notReadyTimeoutHours === 0) return null;
  return new Date(entry.submittedAt.getTime() + notReadyTimeoutHours * hourMs);
}
