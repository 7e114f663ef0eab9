// The clock of a run: when it was requested, when its test branch was pushed, when CI started, and the
// deadlines.

/** Milliseconds since the epoch; an outage of the Git host moves them forward. */
export type RunTimes = {
  readonly requestedAt: number;
  readonly pushedAt: number | null;
  readonly startedAt: number | null;
};

/**
 * How long a run may take until its test branch is pushed, from there until CI starts, and from there to its
 * end.
 */
export type TimeLimits = { readonly pushMs: number; readonly startMs: number; readonly finishMs: number };

export function deadlineAfter(
  { requestedAt, pushedAt, startedAt }: RunTimes,
  { pushMs, startMs, finishMs }: TimeLimits,
): number {
  if (startedAt !== null) return startedAt + finishMs;
  return pushedAt === null ? requestedAt + pushMs : pushedAt + startMs;
}

/** A time from another clock: never before the run was requested, and never in the future. */
export const takenAt = (
  reportedAt: number,
  { requestedAt }: Pick<RunTimes, 'requestedAt'>,
  now: number,
): number => Math.max(requestedAt, Math.min(reportedAt, now));
