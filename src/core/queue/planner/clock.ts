// Two clocks per run: it must be started by CI in time, and it must finish in time. A time-out is the machinery's
// problem until it happens again, so the same composition is tried once more; a failure to start is tried again after
// growing pauses. While the host does not answer, the clocks stand still (observe.ts moves them on when it is back).

import type { Draft } from './draft.ts';
import { isRetriable } from './line.ts';
import { isActive, type Run } from './model.ts';

const minuteMs = 60_000;

/** CI must have reported something by then, or the run counts as lost. Never longer than the whole time-out. */
export const startByMs = 60 * minuteMs;

/** Before the next attempt to start, by how often it failed. */
export const startPauseMs = (attempt: number): number => 15_000 * 2 ** attempt;

export function deadlineOf(draft: { readonly settings: Draft['settings'] }, run: Run): number | null {
  const { testingTimeoutMinutes } = draft.settings;
  if (testingTimeoutMinutes === 0) return null;
  const finishByMs = testingTimeoutMinutes * minuteMs;
  if (run.startedAt === null) return run.requestedAt + Math.min(startByMs, finishByMs);
  return run.startedAt + finishByMs;
}

export function watchClocks(draft: Draft): void {
  for (const run of draft.runs.values()) {
    const deadline = isActive(run) ? deadlineOf(draft, run) : null;
    if (deadline === null) continue;
    if (deadline > draft.now) continue;
    draft.runs.set(run.id, { ...run, status: 'timed_out' });
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

/** Tries again what the machinery is to blame for, in place and within the budget. */
export function retryRuns(draft: Draft): void {
  if (draft.state === 'PAUSED') return;
  for (const run of draft.runs.values()) {
    if (run.of.kind !== 'line' || !isRetriable(run)) continue;
    if (run.notBefore > draft.now) draft.wake(run.notBefore);
    else if (draft.activeRuns('line') < draft.settings.concurrency) {
      draft.dropRun(run);
      draft.startRun(run.of, run.composition, run.attempt + 1);
    }
  }
}
