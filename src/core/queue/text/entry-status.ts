// An entry as it is displayed: its row, and the situation that the last reconcile of its queue stored.

import { explainWaiting } from './explain.ts';
import { explainFailedTests, type FailedTests } from '../rule/failed-test.ts';
import type { Entry, Queue } from '../model.ts';
import { assessReadiness } from '../rule/readiness.ts';
import type { QueueSituation, CiProgress, Situation } from '../situation.ts';

export type EntryStatus = {
  readonly entry: Entry;
  readonly hasImpactedTargets: boolean;
  /** How many entries are ahead in the queue; null if it is not in the queue. */
  readonly position: number | null;
  /** Null until the first reconcile of the queue, and for an entry that is not in it. */
  readonly situation: Situation | null;
  readonly queueSituation: QueueSituation | null;
  /** The progress of its run, while that is active. */
  readonly run: CiProgress | null;
  readonly isHostAway: boolean;
  /** The failed tests that reports name for its failed run; null: it has no failed run. */
  readonly failedTests: FailedTests | null;
};

/** Why the entry waits, and what would move it. */
export function explainStatus(queue: Queue, status: EntryStatus, now: Date): readonly string[] {
  const { entry, hasImpactedTargets, position, situation, queueSituation, run, isHostAway, failedTests } =
    status;
  const sentences = explainWaiting(queue, entry, {
    readiness: assessReadiness(queue, entry, hasImpactedTargets),
    situation,
    context: { position, queueSituation, run, now: now.getTime() },
    isHostAway,
  });
  const failing = failedTests === null ? null : explainFailedTests(failedTests);
  return entry.stage.kind === 'pending_failure' && failing !== null ? [...sentences, failing] : sentences;
}
