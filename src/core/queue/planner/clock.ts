// Two clocks per run: CI must start in time after the push, and it must finish in time. The limits come from
// the queue's own history of runs, with `testingTimeoutMinutes` as the upper bound of both.
//
// A run that ends without a result says nothing about the change, so the same composition is run again in
// place, after growing pauses, and no other entry is affected:
//   infrastructure  CI was cancelled, lost its runner, or never started: three repeats, and as long as an
//                   entry ahead of it has not landed, as many as during an outage.
//   timed_out       one repeat.
//   start_failed    the test branch could not be created or pushed: four repeats.
// A run that failed in nothing but flaky tests is run again `flakeReruns` times, at once: only its failed jobs, on the same
// commit, if the Git host can do that (../rule/rerun.ts), or else all of it on another commit. If the Git host refuses, or no new
// attempt of the failed jobs begins within the start limit, all of it is run again too, which uses no other rerun up. The next
// failure of these commits counts, whichever tests fail.
// Each repeat without a result gets twice the time of the one before, so a CI that is merely slow still gives a result.
//
// An outage of CI breaks every run. It must not empty the queue: after one entry was removed without a
// result, no other is until CI has given a result again, or until it was repeated for hours
// (outageRepeatsMax).
//
// While the host does not answer, the clocks stop (observe.ts moves them forward when it is back).

import { minuteMs } from '#base/duration.ts';
import { deadlineAfter, type TimeLimits } from '../run-time.ts';
import type { Draft } from './draft.ts';
import { isActive, isInconclusive, isRerunAwaited, type Limits, type Run } from './model.ts';

/** Used while the queue has no history. */
export const limitsWithoutHistory: Limits = { startByMs: 3 * minuteMs, finishByMs: null, usualMs: null };

/** Signalbox itself must have pushed the test branch by then. Never longer than the whole time-out. */
export const pushByMs = 60 * minuteMs;

/** The pause before the next attempt to start, by how often it failed. */
export const startPauseMs = (attempt: number): number => 15_000 * 2 ** Math.min(attempt, 6);

const infrastructurePausesMs = [15_000, 3 * minuteMs, 15 * minuteMs] as const;

/** The pause after an infrastructure failure: short for a lost runner, long enough to outlast an outage. */
export const infrastructurePauseMs = (attempt: number): number =>
  infrastructurePausesMs[Math.min(Math.max(attempt, 0), infrastructurePausesMs.length - 1)]!;

const repeatsMax = { infrastructure: 3, timed_out: 1, start_failed: 4 } as const;

/** The entries ahead of it landed, so CI works: one more attempt, at once, before it may be given up. */
export const withOneMoreAttempt = (run: Run, now: number): Run =>
  run.status === 'infrastructure'
    ? { ...run, attempt: Math.min(run.attempt, repeatsMax.infrastructure - 1), notBefore: now }
    : run;

/** At the longest pause these take five hours. */
export const outageRepeatsMax = 20;

/** Whether a failure of this run by nothing but flaky tests is run again instead of counted. */
export const mayRepeatFlake = ({ settings }: Pick<Draft, 'settings'>, { flakes = 0 }: Run): boolean =>
  flakes < settings.flakeReruns;

/** Whether it ended without a result and is run again. */
export function isRetriable({ outageSince }: Pick<Draft, 'outageSince'>, run: Run): boolean {
  const { status, attempt, timeouts, why, composition } = run;
  if (status !== 'infrastructure' && status !== 'timed_out' && status !== 'start_failed') return false;
  // A run on top of others cannot be decided before they are, so it is not given up either.
  const isBehind = status === 'infrastructure' && composition.members.length > composition.tested;
  // A refusal by the host is a known cause: an outage does not excuse it.
  if ((isBehind || outageSince !== null) && why === null) return attempt < outageRepeatsMax;
  return (status === 'timed_out' ? timeouts : attempt) < repeatsMax[status];
}

/** The factor by which a repeat gets more time. */
const growth = (attempt: number): number => 2 ** Math.min(Math.max(attempt, 0), 3);

type ClockSettings = { readonly settings: Draft['settings']; readonly limits: Limits };

/** Null: the queue has no time-out. */
export function timeLimits({ settings, limits }: ClockSettings, { attempt }: Run): TimeLimits | null {
  const { testingTimeoutMinutes } = settings;
  if (testingTimeoutMinutes === 0) return null;
  const wholeMs = testingTimeoutMinutes * minuteMs;
  const { startByMs, finishByMs } = limits;
  return {
    pushMs: Math.min(wholeMs, pushByMs),
    startMs: Math.min(wholeMs, startByMs * growth(attempt)),
    finishMs: Math.min(wholeMs, (finishByMs ?? wholeMs) * growth(attempt)),
  };
}

export function computeDeadline(clock: ClockSettings, run: Run): number | null {
  const limits = timeLimits(clock, run);
  if (limits !== null) return deadlineAfter(run, limits);
  // Whether the Git host runs the failed jobs again is no question of how long tests take.
  return isRerunAwaited(run) ? run.pushedAt! + clock.limits.startByMs : null;
}

/** How a run that is out of time ended. If CI never started, it lost the run: the change is not at fault. */
export const statusOutOfTime = ({ startedAt }: Run): 'infrastructure' | 'timed_out' =>
  startedAt === null ? 'infrastructure' : 'timed_out';

export function watchClocks(draft: Draft): void {
  for (const run of draft.runs.values()) {
    const deadline = isActive(run) ? computeDeadline(draft, run) : null;
    if (deadline === null) continue;
    if (deadline > draft.now) continue;
    draft.runs.set(run.id, { ...run, status: statusOutOfTime(run), notBefore: draft.now });
    draft.actions.push({ kind: 'cancel-run', run: run.id });
  }
}

/** Called last: a run that has just started runs out of time too, even if CI never reports on it. */
export function wakeByDeadlines(draft: Draft): void {
  for (const run of draft.runs.values()) {
    const deadline = isActive(run) ? computeDeadline(draft, run) : null;
    if (deadline !== null) draft.wake(deadline);
  }
}

/** Repeats runs that ended without a result, in place and within the budget. */
export function retryRuns(draft: Draft): void {
  if (draft.state === 'PAUSED') return;
  for (const run of draft.runs.values()) {
    if (run.of.kind !== 'line' || !isRetriable(draft, run)) continue;
    if (run.notBefore > draft.now) draft.wake(run.notBefore);
    else if (draft.freeSlots('line') > 0) draft.repeatRun(run);
  }
}

/** CI gave a result: the outage is over, and waiting runs start at once, with all their repeats. */
export function endOutage(draft: Draft): void {
  if (draft.outageSince === null) return;
  draft.outageSince = null;
  for (const run of draft.runs.values())
    if (isActive(run) || (isInconclusive(run) && run.why === null))
      draft.runs.set(run.id, {
        ...run,
        // The next attempt of a run that has ended counts as the first.
        attempt: Math.min(run.attempt, isActive(run) ? 0 : -1),
        timeouts: 0,
        notBefore: Math.min(run.notBefore, draft.now),
      });
}
