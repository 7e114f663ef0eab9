// Two clocks per run: CI must begin in time after the push, and it must finish in time. How long that may take comes from
// the queue's own history of runs (limits), with `testingTimeoutMinutes` as the upper bound of both.
//
// A run that ends without a result says nothing about the change, so the same composition is tried again in place, after
// growing pauses, and nothing else in the line is disturbed:
//   infrastructure  CI was cancelled, lost its runner, or never began: three repeats, and as long as something ahead of it
//                   has not landed, as many as an outage is given.
//   timed_out       one repeat.
//   start_failed    the test branch could not be made or pushed: four repeats.
// Each repeat is given twice the time of the one before, so a CI that is merely slow is learned, not given up.
//
// An outage of CI breaks every run. It must not empty the queue: after one entry was removed without a result, no other
// is until CI has given a result again, or until it was repeated for hours (outageRepeatsMax).
//
// While the host does not answer, the clocks stand still (observe.ts moves them on when it is back).

import type { Draft } from './draft.ts';
import { isActive, isInconclusive, type Limits, type Run } from './model.ts';

const minuteMs = 60_000;

/** Without any history of the queue. */
export const limitsWithoutHistory: Limits = { startByMs: 3 * minuteMs, finishByMs: null };

/** Signalbox itself must have pushed the test branch by then. Never longer than the whole time-out. */
export const pushByMs = 60 * minuteMs;

/** Before the next attempt to start, by how often it failed. */
export const startPauseMs = (attempt: number): number => 15_000 * 2 ** Math.min(attempt, 6);

const infrastructurePausesMs = [15_000, 3 * minuteMs, 15 * minuteMs] as const;

/** Before CI is asked again after an infrastructure failure: soon for a lost runner, late enough to outlast an outage. */
export const infrastructurePauseMs = (attempt: number): number =>
  infrastructurePausesMs[Math.min(Math.max(attempt, 0), infrastructurePausesMs.length - 1)]!;

const repeatsMax = { infrastructure: 3, timed_out: 1, start_failed: 4 } as const;

/** What was ahead of it landed, so CI works: one more attempt, at once, before it may be given up. */
export const withOneMoreAttempt = (run: Run, now: number): Run =>
  run.status === 'infrastructure'
    ? { ...run, attempt: Math.min(run.attempt, repeatsMax.infrastructure - 1), notBefore: now }
    : run;

/** At the longest pause these take five hours. */
export const outageRepeatsMax = 20;

/** Whether it ended without a result and is tried again. */
export function isRetriable({ outageSince }: Pick<Draft, 'outageSince'>, run: Run): boolean {
  const { status, attempt, timeouts, why, composition } = run;
  if (status !== 'infrastructure' && status !== 'timed_out' && status !== 'start_failed') return false;
  // What is built on others cannot be decided before they are, so it is not given up either.
  const isBehind = status === 'infrastructure' && composition.members.length > composition.tested;
  // What the host refuses is known: an outage is no excuse for it.
  if ((isBehind || outageSince !== null) && why === null) return attempt < outageRepeatsMax;
  return (status === 'timed_out' ? timeouts : attempt) < repeatsMax[status];
}

/** How much more time a repeat is given. */
const growth = (attempt: number): number => 2 ** Math.min(Math.max(attempt, 0), 3);

export function deadlineOf(
  { settings, limits }: { readonly settings: Draft['settings']; readonly limits: Limits },
  run: Run,
): number | null {
  const { testingTimeoutMinutes } = settings;
  if (testingTimeoutMinutes === 0) return null;
  const wholeMs = testingTimeoutMinutes * minuteMs;
  const { startByMs, finishByMs } = limits;
  const { startedAt, pushedAt, requestedAt, attempt } = run;
  if (startedAt !== null) return startedAt + Math.min(wholeMs, (finishByMs ?? wholeMs) * growth(attempt));
  if (pushedAt !== null) return pushedAt + Math.min(wholeMs, startByMs * growth(attempt));
  return requestedAt + Math.min(wholeMs, pushByMs);
}

/** How a run ended whose time is over. CI that never began has lost the run: that is never the change's failure. */
export const statusOutOfTime = ({ startedAt }: Run): 'infrastructure' | 'timed_out' =>
  startedAt === null ? 'infrastructure' : 'timed_out';

export function watchClocks(draft: Draft): void {
  for (const run of draft.runs.values()) {
    const deadline = isActive(run) ? deadlineOf(draft, run) : null;
    if (deadline === null) continue;
    if (deadline > draft.now) continue;
    draft.runs.set(run.id, { ...run, status: statusOutOfTime(run), notBefore: draft.now });
    draft.actions.push({ kind: 'cancel-run', run: run.id });
  }
}

/** Asked last: what has just been started runs out of time too, even if nobody ever speaks of it. */
export function wakeByDeadlines(draft: Draft): void {
  for (const run of draft.runs.values()) {
    const deadline = isActive(run) ? deadlineOf(draft, run) : null;
    if (deadline !== null) draft.wake(deadline);
  }
}

/** Tries again what ended without a result, in place and within the budget. */
export function retryRuns(draft: Draft): void {
  if (draft.state === 'PAUSED') return;
  for (const run of draft.runs.values()) {
    if (run.of.kind !== 'line' || !isRetriable(draft, run)) continue;
    if (run.notBefore > draft.now) draft.wake(run.notBefore);
    else if (draft.activeRuns('line') < draft.settings.concurrency) draft.repeatRun(run);
  }
}

/** CI gave a result: the outage is over, and what waits for it is tried at once, as often as ever. */
export function endOutage(draft: Draft): void {
  if (draft.outageSince === null) return;
  draft.outageSince = null;
  for (const run of draft.runs.values())
    if (isActive(run) || (isInconclusive(run) && run.why === null))
      draft.runs.set(run.id, {
        ...run,
        // The attempt that follows a run which has ended is the first again.
        attempt: Math.min(run.attempt, isActive(run) ? 0 : -1),
        timeouts: 0,
        notBefore: Math.min(run.notBefore, draft.now),
      });
}
