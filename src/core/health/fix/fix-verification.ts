// A person says that a flaky or broken test is fixed. Signalbox then asks CI to run this test again and again on the default
// branch, so that enough clean runs come together in hours.
//
//   verification       from the moment when a person asks for it, until it is shown that the test is fixed, or that it is not
//   verification run   one run of CI on the tip of the default branch, of this test alone, repeated
//   clean run          the test passed once (monitor.ts says how many in a row are enough)
//
// A verification ends by the first of these that holds:
//
//   refuted            the test failed as it did before, on a commit that contains the fix
//   failed_otherwise   it failed there in a way in which it had never failed before: a person must look, since a test that
//                      needs others may fail alone
//   fixed              no monitor is active any more
//   expired            the time is over
//   cancelled          a person ended it, or set the status of the test
//
// A verification run starts only in a slot of the queue that no pull request needs, and one at a time. If pull requests need
// the slot, the run is stopped. A run that ended without a report shows nothing; after two in a row none is started any more,
// because CI does not run the test there. If clean runs are not what is missing, as for a broken test, one run for each tip
// is enough: further ones on the same commit say the same.
//
// Example. `adds` needs 73 more clean runs in a row. The queue is idle: a run repeats it 50 times, and it passes. The next
// one repeats it 23 times, and the monitor resolves. Had it failed in the second run as it used to, the verification would
// have ended there as refuted, after two runs instead of days.

import { hourMs, minuteMs } from '#base/duration.ts';
import type { HealthStatus } from '../status.ts';

export const fixEnds = ['fixed', 'refuted', 'failed_otherwise', 'expired', 'cancelled'] as const;
export type FixEnd = (typeof fixEnds)[number];

/** Why no verification run is started at present. */
export const fixWaits = [
  /** The repository has no queue for its default branch. */
  'no_queue',
  /** The settings allow no verification run. */
  'off',
  /** CI of the queue runs on draft pull requests only. */
  'draft_pull_requests',
  /** No CI job has said that it can run single tests. */
  'cannot_select',
  /** The last two runs ended without a report of the test, or the Git host refused their branches. */
  'no_report',
  /** The default branch does not contain the fix yet. */
  'not_landed',
  /** The queue is paused or stopped, or its Git host does not answer. */
  'queue_stopped',
  /** Pull requests use every slot. */
  'busy',
  /** The runs of the last 24 hours are used up. */
  'budget',
  /** The tip was tested, and the next one is waited for. */
  'next_commit',
] as const;
export type FixWait = (typeof fixWaits)[number];

export const fixRunEnds = ['reported', 'no_report', 'gave_way', 'stopped', 'refused'] as const;
export type FixRunEnd = (typeof fixRunEnds)[number];

/** Most repeats of one run: it must leave the slot soon. */
export const fixRepeatsMax = 50;
/** If no number of clean runs is missing. */
const repeatsWithoutNumber = 10;
/** Runs in a row without a report after which CI is taken not to run the test there. */
const unreportedMax = 2;
/** CI reports its checks before its reports are read. */
const reportMs = 5 * minuteMs;
const runMs = 2 * hourMs;

export type FixFacts = {
  readonly status: HealthStatus;
  readonly isAnyMonitorActive: boolean;
  /** A person set the status: it no longer depends on runs. */
  readonly isStatusManual: boolean;
  /** The first failure on a commit that contains the fix; `isKnown`: it had failed in this way before. */
  readonly failure: { readonly isKnown: boolean } | null;
  readonly endsAt: number;
};

/** Null: the verification continues. */
export function findFixEnd(
  { status, isAnyMonitorActive, isStatusManual, failure, endsAt }: FixFacts,
  now: number,
): FixEnd | null {
  if (isStatusManual) return 'cancelled';
  if (failure !== null) return failure.isKnown ? 'refuted' : 'failed_otherwise';
  // A test whose monitors are muted is healthy too, and nothing has shown that it is fixed.
  if (status === 'healthy' && !isAnyMonitorActive) return 'fixed';
  return now >= endsAt ? 'expired' : null;
}

/** A verification run that has not ended. */
export type OpenFixRun = {
  readonly id: string;
  /** When its branch was pushed; null: it may not be pushed yet. */
  readonly pushedAt: number | null;
  readonly isVerificationOver: boolean;
  readonly reports: number;
  /** Every check that CI has reported for it has ended; null: not known, or it has reported none. */
  readonly areChecksOver: boolean | null;
};

/** Slots of the queue. */
export type FixSlots = {
  readonly concurrency: number;
  /** Test runs of pull requests in progress. */
  readonly busy: number;
};

/** Null: the run continues. */
export function findFixRunEnd(
  run: OpenFixRun,
  { concurrency, busy }: FixSlots,
  now: number,
): FixRunEnd | null {
  if (run.isVerificationOver) return 'stopped';
  // A crash came between the record and the push, or the Git host refused: nothing ran.
  if (run.pushedAt === null) return 'stopped';
  const age = now - run.pushedAt;
  if (run.areChecksOver === true && run.reports > 0) return 'reported';
  if (age >= runMs || (run.areChecksOver === true && age >= reportMs))
    return run.reports > 0 ? 'reported' : 'no_report';
  return busy >= concurrency ? 'gave_way' : null;
}

/** What decides whether a verification gets a run. */
export type FixCandidate = {
  readonly id: string;
  /** Clean runs that are still missing; null: no number of them ends it. */
  readonly missing: number | null;
  /** The tip contains the fix. */
  readonly hasLanded: boolean;
  /** A run of it on the present tip was reported. */
  readonly isTipTested: boolean;
  /** How many of its last runs, in a row, ended without a report of the test. */
  readonly unreported: number;
  /** Its last run was started; 0: it had none. */
  readonly lastRunAt: number;
};

export type FixQueue = FixSlots & {
  readonly isRunning: boolean;
  readonly usesDraftPullRequests: boolean;
  readonly canSelectTests: boolean;
  readonly runsPerDay: number;
  readonly runsToday: number;
};

/** Why the queue has no run for any verification; null: it has. */
function findQueueWait(queue: FixQueue): FixWait | null {
  if (queue.runsPerDay === 0) return 'off';
  if (queue.usesDraftPullRequests) return 'draft_pull_requests';
  if (!queue.canSelectTests) return 'cannot_select';
  if (!queue.isRunning) return 'queue_stopped';
  if (queue.busy >= queue.concurrency) return 'busy';
  return queue.runsToday >= queue.runsPerDay ? 'budget' : null;
}

function findOwnWait({ missing, hasLanded, isTipTested, unreported }: FixCandidate): FixWait | null {
  if (!hasLanded) return 'not_landed';
  if (unreported >= unreportedMax) return 'no_report';
  return isTipTested && (missing === null || missing === 0) ? 'next_commit' : null;
}

export type FixPlan = {
  /** The verification that gets a run, and how often the run repeats the test. */
  readonly start: { readonly id: string; readonly repeats: number } | null;
  /** By verification; null: it has a run, or waits for its turn. */
  readonly waits: ReadonlyMap<string, FixWait | null>;
};

/** One run at a time: the verification whose last run is the longest ago comes first. */
export function planFixRuns(
  queue: FixQueue,
  candidates: readonly FixCandidate[],
  hasOpenRun: boolean,
): FixPlan {
  const waitOfQueue = findQueueWait(queue);
  // What a person must change is said before what ends without them.
  const isLasting =
    waitOfQueue === 'off' || waitOfQueue === 'draft_pull_requests' || waitOfQueue === 'cannot_select';
  const waits = new Map(
    candidates.map((candidate) => {
      const own = findOwnWait(candidate);
      return [candidate.id, isLasting ? waitOfQueue : (own ?? (hasOpenRun ? null : waitOfQueue))] as const;
    }),
  );
  const due = candidates
    .filter(({ id }) => waits.get(id) === null)
    .toSorted((a, b) => a.lastRunAt - b.lastRunAt);
  const first = hasOpenRun ? undefined : due[0];
  return {
    start: first === undefined ? null : { id: first.id, repeats: countRepeats(first.missing) },
    waits,
  };
}

// A job that is asked for one run cannot say that it verifies a fix: it looks like any run of some tests.
const repeatsMin = 2;

const countRepeats = (missing: number | null): number =>
  missing === null ? repeatsWithoutNumber : Math.min(fixRepeatsMax, Math.max(repeatsMin, missing));

/** How many clean runs a report shows: never more than were asked for, or than the job says it made. */
export const countCleanRuns = (report: {
  readonly asked: number;
  readonly said: number;
  readonly attempts: number;
}): number => Math.max(1, Math.min(report.asked, report.said, report.attempts));
