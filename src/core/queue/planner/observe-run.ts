// Applies what CI and the Git host report about a run (observe.ts).

import { unreachable } from '#base/assert.ts';
import type { FailedReason } from '../reason.ts';
import { type ExcusedCheck, listSuites } from '../rule/rerun.ts';
import { takenAt } from '../run-time.ts';
import { endOutage, infrastructurePauseMs, mayRepeatFlake, startPauseMs } from './clock.ts';
import type { Draft } from './draft.ts';
import { isActive, isFlakyFailure, isRerunAwaited, type Run, withoutRerun } from './model.ts';

/** What happened to a run. */
export type RunEvent =
  /** Its test branch is visible to CI. */
  | { readonly kind: 'run-pushed'; readonly run: number; readonly at: number }
  /** `at`: when CI started, if that is known; else now. */
  | { readonly kind: 'run-started'; readonly run: number; readonly at?: number }
  /** `lacksResults`: of a run of some tests, whose reports do not have a result for each of them. */
  | { readonly kind: 'run-passed'; readonly run: number; readonly lacksResults?: true }
  /** CI ended without a result about the change; `timedOut`: it ran out of CI's own time. */
  | { readonly kind: 'run-infrastructure-failed'; readonly run: number; readonly timedOut: boolean }
  /**
   * `why` if the cause is neither its required checks nor the infrastructure. `tests`: every test that failed, if the
   * reports show them and CI can run them alone.
   */
  | {
      readonly kind: 'run-failed';
      readonly run: number;
      readonly why?: FailedReason;
      readonly tests?: readonly string[];
    }
  /**
   * Its required checks failed, and every test that failed is known to be flaky. `excused`: the failed results, if the Git host may
   * be able to run only the failed jobs again.
   */
  | {
      readonly kind: 'run-failed-by-flakes';
      readonly run: number;
      readonly excused?: readonly ExcusedCheck[];
    }
  /** The Git host does not run the failed jobs again. */
  | { readonly kind: 'rerun-refused'; readonly run: number }
  | { readonly kind: 'run-not-started'; readonly run: number; readonly why?: FailedReason };

export function applyToRun(draft: Draft, event: RunEvent): void {
  switch (event.kind) {
    case 'run-pushed':
      return report(draft, event.run, (run, now) => ({
        ...run,
        pushedAt: run.pushedAt ?? takenAt(event.at, run, now),
      }));
    case 'run-started':
      return report(draft, event.run, (run, now) => ({
        ...run,
        status: 'running',
        startedAt: run.startedAt ?? takenAt(event.at ?? now, run, now),
        ...(run.rerun === undefined ? {} : { rerun: { ...run.rerun, since: event.at ?? now } }),
      }));
    case 'run-passed':
      return report(draft, event.run, (run) => ({
        ...run,
        status: 'passed',
        ...(event.lacksResults === true ? { lacksResults: true } : {}),
      }));
    case 'run-failed':
      return report(draft, event.run, (run) => ({
        ...run,
        status: 'failed',
        why: event.why ?? null,
        ...(event.tests === undefined ? {} : { failedTests: event.tests }),
      }));
    case 'run-failed-by-flakes':
      return failByFlakes(draft, event);
    case 'rerun-refused':
      return report(draft, event.run, (run, now) => (isRerunAwaited(run) ? repeatedWhole(run, now) : run));
    case 'run-infrastructure-failed':
      return report(draft, event.run, (run, now) => ({
        ...run,
        status: event.timedOut ? 'timed_out' : 'infrastructure',
        notBefore: now + infrastructurePauseMs(run.attempt),
      }));
    case 'run-not-started':
      return report(draft, event.run, (run, now) => ({ ...notStarted(run, now), why: event.why ?? null }));
    default:
      return unreachable(event);
  }
}

/** Runs the failed jobs again if the Git host may be able to, or else all of it on another commit. */
function failByFlakes(
  draft: Draft,
  { run: id, excused }: Extract<RunEvent, { kind: 'run-failed-by-flakes' }>,
): void {
  report(draft, id, (run, now) => {
    if (!mayRepeatFlake(draft, run)) return { ...run, status: 'failed' };
    const again = { ...run, flakes: (run.flakes ?? 0) + 1 };
    // A run of some tests is short as a whole. Nothing starts in a paused queue.
    if (excused === undefined || run.tests !== undefined || draft.state === 'PAUSED')
      return repeatedWhole(again, now);
    const after = Math.max(...excused.map(({ at }) => at));
    draft.actions.push({ kind: 'rerun-failed-jobs', run: id, suites: listSuites(excused), after });
    // It keeps its slot. If no new attempt begins within the start limit, the whole run is repeated like any that CI lost.
    return {
      ...again,
      status: 'starting',
      pushedAt: now,
      startedAt: null,
      attempt: 0,
      notBefore: now,
      rerun: { excused, since: null },
    };
  });
}

/** All of it runs again, on a commit of its own, as soon as a slot is free. */
const repeatedWhole = (run: Run, now: number): Run => ({
  ...run,
  status: 'start_failed',
  attempt: -1,
  notBefore: now,
});

export function report(draft: Draft, id: number, change: (run: Run, now: number) => Run): void {
  const run = draft.runs.get(id);
  if (run === undefined || !isActive(run)) return;
  const changed = change(run, draft.now);
  const isRerun = changed.rerun !== undefined && changed.rerun !== run.rerun && changed.startedAt === null;
  draft.runs.set(id, isActive(changed) ? changed : withoutRerun(changed));
  const { status, why } = changed;
  // A `why` means that CI never ran.
  const isRed = (status === 'failed' && why === null) || isFlakyFailure(changed) || isRerun;
  if (status === 'passed' || isRed) endOutage(draft);
  const isWhole = changed.tests === undefined;
  if (draft.direct && isWhole && (status === 'passed' || isRed)) learn(draft, isRerun ? run : changed);
}

/** The next run of the entry probably takes as long as this one. If it passed, it is tested with all that has landed. */
function learn(draft: Draft, { status, composition, startedAt, pushedAt, requestedAt, rerun }: Run): void {
  const item = draft.items.get(composition.members.at(-1)!);
  if (item === undefined || composition.tested !== 1) return;
  // A rerun takes only as long as the failed jobs.
  const expectedMs =
    rerun === undefined ? { expectedMs: draft.now - (startedAt ?? pushedAt ?? requestedAt) } : {};
  const isOnTip = status === 'passed' && composition.base === draft.tip;
  const findings =
    isOnTip && item.findings !== undefined ? { findings: { ...item.findings, untestedLandings: 0 } } : {};
  draft.items.set(item.pr, { ...item, ...findings, ...expectedMs });
}

export const notStarted = (run: Run, now: number): Run => ({
  ...run,
  status: 'start_failed',
  notBefore: now + startPauseMs(run.attempt),
});
