// Where an entry stands in its queue, as the tables say it, and the words for that: the API and the comments on pull
// requests tell the same.

import { type Check, type RequiredCheck, verdictOf } from './check.ts';
import { explainWaiting, type Situation } from './explain.ts';
import { explainFailedTests, type FailedTests } from './failed-test.ts';
import type { Entry, Queue } from './model.ts';
import { isUrgent } from './priority.ts';
import { readinessOf } from './readiness.ts';

export type Standing = {
  readonly entry: Entry;
  readonly hasImpactedTargets: boolean;
  /** How many are ahead in the line; null when it is not in it. */
  readonly position: number | null;
  readonly line: LineFacts;
};

/** What of the line explains an entry: its run while it is under test, those before it while it is pending. */
export type LineFacts = {
  readonly run: {
    readonly status: 'in_progress' | 'succeeded' | 'failed' | 'cancelled';
    readonly outcome: string | null;
    readonly isBisection: boolean;
    readonly isBatch: boolean;
    readonly createdAt: string;
    readonly pushedAt: string | null;
    readonly required: readonly RequiredCheck[];
    /** Members ahead of the group that are still in the queue. */
    readonly ahead: readonly number[];
    readonly tested: readonly number[];
    readonly checks: readonly Check[];
  } | null;
  readonly pending: {
    readonly conflictsWith: number | null;
    readonly before: readonly number[];
    /** How many are under test, and so ahead of it. */
    readonly testingCount: number;
    readonly slotsTaken: number;
  } | null;
  readonly isHostAway: boolean;
  /** What reports name of its run that failed; null: it is in none that did. */
  readonly failedTests: FailedTests | null;
};

/** Why it is where it is, and what would move it. */
export function explainStanding(queue: Queue, standing: Standing, now: Date): readonly string[] {
  const { entry, hasImpactedTargets, position, line } = standing;
  const sentences = explainWaiting(queue, entry, {
    readiness: readinessOf(queue, entry, hasImpactedTargets),
    situation: situationOf(queue, entry, position ?? 0, line, now.getTime()),
    isHostAway: line.isHostAway,
  });
  const failing = line.failedTests === null ? null : explainFailedTests(line.failedTests);
  return entry.stage.kind === 'pending_failure' && failing !== null ? [...sentences, failing] : sentences;
}

/** What the tables say about an entry's place, as explain.ts wants it. */
function situationOf(
  { settings }: Queue,
  entry: Entry,
  position: number,
  { run, pending }: LineFacts,
  now: number,
): Situation | null {
  if (entry.landing) return { kind: 'landing' };
  if (pending !== null) {
    const { concurrency: slots, batch, batchingMinSize, batchingMaxWaitTimeMinutes } = settings;
    const fills = batch && !entry.noBatch && !isUrgent(entry.priority);
    return {
      kind: 'pending',
      conflictsWith: pending.conflictsWith,
      before: pending.before,
      beforeCount: Math.max(0, position - pending.testingCount),
      slots,
      slotsTaken: pending.slotsTaken,
      batch: fills ? { size: batchingMinSize, waitMinutes: batchingMaxWaitTimeMinutes } : null,
    };
  }
  if (run === null) return null;
  const { ahead, isBatch } = run;
  if (run.isBisection) return { kind: 'searched', suspects: run.tested };
  switch (entry.stage.kind) {
    case 'tests_passed':
      return { kind: 'passed', ahead };
    case 'pending_failure':
      return { kind: 'failed', ahead, isBatch };
    default:
      return run.status === 'in_progress' ? testingSituation(settings, run, now) : { kind: 'retrying' };
  }
}

function testingSituation(
  { testingTimeoutMinutes, skippableStatuses }: Queue['settings'],
  run: NonNullable<LineFacts['run']>,
  now: number,
): Situation {
  const verdict = verdictOf(run.required, run.checks, skippableStatuses);
  const checks = verdict.kind === 'open' ? verdict : null;
  const askedAt = Date.parse(run.createdAt);
  const hasBegun = run.checks.length > 0;
  const endsAt = testingTimeoutMinutes === 0 ? null : askedAt + testingTimeoutMinutes * 60_000;
  return {
    kind: 'testing',
    ahead: run.ahead,
    askedMs: now - askedAt,
    runningMs: hasBegun ? now - Date.parse(run.pushedAt ?? run.createdAt) : null,
    timesOutInMs: endsAt === null || !hasBegun ? null : endsAt - now,
    checks: run.pushedAt === null ? null : checks,
  };
}
