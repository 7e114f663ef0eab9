// Why an entry waits, and the sentence about it. The planner computes the situation of every entry
// (planner/situation.ts), the reconcile stores it with its plan, and API, status comment, command line and
// dashboard render the stored value.
//
// A situation holds instants, never minutes: it changes when the plan does, and time alone does not change it. Two things
// are read when it is rendered, because no plan depends on them alone: the position of a pending entry, and how far the CI
// of a run is.

import { minuteMs } from '#base/duration.ts';
import { type Check, type RequiredCheck, evaluateChecks } from './check.ts';
import { deadlineAfter, type RunTimes, takenAt, type TimeLimits } from './run-time.ts';
import type { QueueSettings } from './settings.ts';

/** Entries that a sentence names: the first few, and how many they are. */
export type NamedEntries = { readonly first: readonly number[]; readonly count: number };

export type Situation =
  | { readonly kind: 'landing' }
  | {
      readonly kind: 'pending';
      /** It conflicts with this entry ahead of it; null: with none. */
      readonly conflictsWith: number | null;
      /** It merges with the entries ahead, and passed alone: it failed on top of some, of which that one is the last. */
      readonly failedTogether?: boolean;
      /** It is tested alone, even where the queue batches. */
      readonly startsAlone: boolean;
      /** It passed a screen, and waits for the group with which it is tested before it merges. */
      readonly isScreened?: boolean;
      /** It keeps its position, and its next run waits until a result of the entries ahead is near. */
      readonly startsLater?: boolean;
    }
  | {
      readonly kind: 'testing';
      /** The entries ahead of it in its run that have not merged yet. */
      readonly ahead: NamedEntries;
      readonly times: RunTimes;
      /** Null: the queue has no time-out. */
      readonly limits: TimeLimits | null;
      /** Its last run failed in nothing but flaky tests. */
      readonly isAfterFlake?: boolean;
      /** Only its failed jobs run again. */
      readonly isRerun?: boolean;
      /** It failed on the branch, perhaps by chance, and is tested again while no other waits for it. */
      readonly isAside?: boolean;
    }
  | { readonly kind: 'passed'; readonly ahead: NamedEntries }
  /** Its run ended without a result, or failed in nothing but flaky tests, and is repeated. */
  | { readonly kind: 'retrying'; readonly isAfterFlake?: boolean; readonly isAside?: boolean }
  | { readonly kind: 'failed'; readonly ahead: NamedEntries; readonly isBatch: boolean }
  /** Its batch failed. One of the suspects is the culprit; those that are cleared passed together. */
  | {
      readonly kind: 'bisected';
      readonly suspects: NamedEntries;
      readonly cleared: NamedEntries;
      /** A failure of its batch singled it out: it is tested alone. */
      readonly isAlone?: boolean;
    };

/** How a queue forms the batches that it tests. */
export type BatchRule = {
  /** A batch of this size starts at once. */
  readonly size: number;
  /** A smaller one starts when its oldest entry has waited so long. */
  readonly waitMs: number;
  /** The share of pull requests that fail, 0..1, if that decides the size; null: the settings do. */
  readonly failureShare: number | null;
  /** Each entry counts with its own probability to fail, as far as one is predicted; the size is that of usual ones. */
  readonly isPredicted?: boolean;
};

/** What the situations of all pending entries have in common, stored once and not per entry. */
export type QueueSituation = {
  /** Entries under test or bisected: they are ahead of every pending one. */
  readonly underTest: number;
  /** The first pending entries, in the order in which they are considered. */
  readonly firstPending: readonly number[];
  readonly slotsTaken: number;
  /** Since when the Git host does not answer, so that no clock runs; null while it answers. */
  readonly frozenAt: number | null;
  /** Null: entries are tested one by one. Absent in what an earlier version stored. */
  readonly batches?: BatchRule | null;
};

/** How far CI is with the run of an entry, as it was last reported. */
export type CiProgress = {
  readonly pushedAt: number | null;
  readonly startedAt: number | null;
  readonly required: readonly RequiredCheck[];
  readonly checks: readonly Check[];
  /** How many tests it runs; null or absent: all. */
  readonly selectedTests?: number | null;
};

export type SituationContext = {
  readonly settings: QueueSettings;
  /** How many entries of the queue are ahead. */
  readonly position: number | null;
  readonly queueSituation: QueueSituation | null;
  readonly run: CiProgress | null;
  readonly now: number;
};

export const notEvaluated = 'The queue has not evaluated it yet. That usually takes a few seconds.';

const listedMax = 3;

export const namedEntries = (entries: readonly number[]): NamedEntries => ({
  first: entries.slice(0, listedMax),
  count: entries.length,
});

function list({ first, count }: NamedEntries): string {
  const names = first.map((pr) => `#${pr}`).join(', ');
  return count > first.length ? `${names} and ${count - first.length} more` : names;
}

const minutes = (ms: number): string => `${Math.max(0, Math.round(ms / minuteMs))} min`;

/** A queue with fast CI waits for seconds. */
const waitText = (ms: number): string =>
  ms > 0 && ms < minuteMs ? `${Math.ceil(ms / 1_000)} s` : minutes(ms);

const verb = (count: number, one: string, many: string): string => (count === 1 ? one : many);

const afterFlake = 'Its last tests failed, and every test that failed is known to be flaky.';

export function explainSituation(situation: Situation, context: SituationContext): string {
  switch (situation.kind) {
    case 'landing':
      return 'Signalbox is merging it now.';
    case 'pending':
      return explainPending(situation, context);
    case 'testing':
      return explainTesting(situation, context);
    case 'passed': {
      const { ahead } = situation;
      return ahead.count === 0
        ? 'Its tests passed. It merges next.'
        : `Its tests passed with ${list(ahead)} ahead of it. It merges as soon as ${list(ahead)} can.`;
    }
    case 'retrying':
      if (situation.isAside === true)
        return 'Its tests failed, perhaps by chance. They run again as soon as a slot is free.';
      return situation.isAfterFlake === true
        ? `${afterFlake} They run again as soon as a slot is free.`
        : 'CI gave no result. Signalbox repeats its tests after a pause.';
    case 'failed':
      return explainFailed(situation);
    case 'bisected':
      return `${explainBisected(situation)}${explainSelection(context.run)}`;
  }
}

function explainPending(
  {
    conflictsWith,
    failedTogether = false,
    startsAlone,
    isScreened = false,
    startsLater = false,
  }: Extract<Situation, { kind: 'pending' }>,
  { settings, position, queueSituation }: SituationContext,
): string {
  if (conflictsWith !== null && failedTogether)
    return `Its tests passed alone and failed on top of others, of which #${conflictsWith} is the last. It is tested again once #${conflictsWith} has merged or is removed from the queue.`;
  if (conflictsWith !== null)
    return `It conflicts with #${conflictsWith}, which is ahead of it. It waits until #${conflictsWith} merges or is removed from the queue.`;
  if (queueSituation === null) return notEvaluated;
  const { underTest, firstPending, slotsTaken, batches = null } = queueSituation;
  const { concurrency: slots } = settings;
  const count = Math.max(0, (position ?? 0) - underTest);
  const before = { first: firstPending.slice(0, Math.min(count, listedMax)), count };
  const taken = slots === 1 ? 'the only test slot is taken' : `all ${slots} test slots are taken`;
  if (isScreened)
    return 'Its batch passed its tests on the branch. It is tested once more, together with everything that merges before it, in the next group.';
  const isBatched = batches !== null && !startsAlone;
  if (slotsTaken >= slots)
    return (
      (count === 0
        ? `It is next, but ${taken}. Its tests start when a slot is free.`
        : `${list(before)} ${verb(count, 'is', 'are')} ahead of it, and ${taken}.`) +
      (isBatched ? explainSize(batches) : '')
    );
  if (startsLater)
    return 'Its next tests start as soon as a result of the pull requests ahead of it is near: before that they would probably be in vain.';
  if (isBatched)
    return `Its batch is filling. Tests start with ${batches.size} pull requests, or when the oldest has waited ${waitText(batches.waitMs)}.${explainSize(batches)}`;
  return count === 0
    ? 'It is next; tests start within seconds.'
    : `It waits for ${list(before)}, ahead of it in the queue.`;
}

/** Why batches have the size that they have, where the settings do not say it. */
function explainSize({ size, failureShare, isPredicted = false }: BatchRule): string {
  if (failureShare === null) return '';
  const percent = Math.round(failureShare * 100);
  const predicted = isPredicted ? ' A batch is smaller if failures are predicted for its pull requests.' : '';
  return ` Batches of ${size}: ${percent} % of pull requests fail here.${predicted}`;
}

function explainTesting(
  {
    ahead,
    times,
    limits,
    isAfterFlake = false,
    isRerun = false,
    isAside = false,
  }: Extract<Situation, { kind: 'testing' }>,
  { settings, queueSituation, run, now }: SituationContext,
): string {
  const at = queueSituation?.frozenAt ?? now;
  // Reports since the last reconcile are treated as the planner will treat them.
  const { requestedAt } = times;
  const taken = (known: number | null, reported: number | null | undefined): number | null =>
    known ?? (typeof reported === 'number' ? takenAt(reported, times, at) : null);
  const pushedAt = taken(times.pushedAt, run?.pushedAt);
  // CI reported the start of the attempt that failed.
  const startedAt = taken(times.startedAt, isRerun ? null : run?.startedAt);
  const on = ahead.count === 0 ? 'as it is now' : `and ${list(ahead)} ahead of it`;
  const deadline = limits === null ? null : deadlineAfter({ requestedAt, pushedAt, startedAt }, limits);
  const limit = deadline === null ? '' : ` It times out in ${minutes(deadline - at)}.`;
  const state =
    startedAt === null
      ? `Its tests were requested ${minutes(at - (isRerun ? (pushedAt ?? requestedAt) : requestedAt))} ago and have not started.`
      : `Its tests have been running for ${minutes(at - startedAt)}.`;
  const checks = isRerun || run === null || run.pushedAt === null ? '' : explainChecks(run, settings);
  const again = isRerun
    ? ` ${afterFlake} Only the failed jobs run again.`
    : isAfterFlake
      ? ` ${afterFlake} They run again.`
      : '';
  const aside = isAside
    ? ' It failed before, which may have been chance: it is removed once that is improbable.'
    : '';
  return `${state}${checks}${limit} It is tested with the branch ${on}.${again}${aside}${explainSelection(run)}`;
}

function explainSelection(run: CiProgress | null): string {
  const count = run?.selectedTests ?? null;
  if (count === null) return '';
  const tests = count === 1 ? 'test that failed runs' : `${count} tests that failed run`;
  return ` Only the ${tests} now. All tests run before it merges.`;
}

/** The first few of names that people chose. */
export const listNames = (all: readonly string[]): string => {
  const shown = all.slice(0, listedMax).join(', ');
  return all.length > listedMax ? `${shown} and ${all.length - listedMax} more` : shown;
};

function explainChecks({ required, checks }: CiProgress, { skippableStatuses }: QueueSettings): string {
  const verdict = evaluateChecks(required, checks, skippableStatuses);
  if (verdict.kind !== 'open') return '';
  const { running, missing } = verdict;
  const reported = running.length === 0 ? '' : ` Running: ${listNames(running)}.`;
  const awaited = missing.length === 0 ? '' : ` Not reported yet: ${listNames(missing)}.`;
  return `${reported}${awaited}`;
}

/** "Merged" rather than "passed": an entry that passed can still be cancelled before it merges (planner/verdict.ts). */
function explainFailed({ ahead, isBatch }: Extract<Situation, { kind: 'failed' }>): string {
  if (ahead.count > 0)
    return `Its tests failed with ${list(ahead)} ahead of it. Signalbox knows whether this pull request is the cause once ${list(ahead)} ${verb(ahead.count, 'has', 'have')} merged.`;
  return isBatch
    ? 'The tests of its batch failed. Signalbox bisects the batch next.'
    : 'Its tests failed. Signalbox waits for the pull requests behind it before it decides.';
}

function explainBisected({
  suspects,
  cleared,
  isAlone = false,
}: Extract<Situation, { kind: 'bisected' }>): string {
  if (isAlone)
    return 'Its batch passed without this pull request and failed with it. It is tested alone, and removed if it fails again.';
  const suspected = `${list(suspects)} ${verb(suspects.count, 'is', 'are')} suspected`;
  const passed = cleared.count === 0 ? '' : `, ${list(cleared)} ${verb(cleared.count, 'is', 'are')} cleared`;
  return `The tests of its batch failed, and Signalbox bisects the batch: ${suspected}${passed}. All but the culprit return to the queue.`;
}
