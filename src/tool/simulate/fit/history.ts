// The history of a queue, as far as a simulation needs it. Instants are in milliseconds.

export type PastAttempt = {
  readonly pr: number;
  readonly attempt: number;
  readonly outcome: 'merged' | 'failed' | 'cancelled';
  /** Its tests decided how it ended; otherwise a person removed it, or it could not be tested at all. */
  readonly isByTests: boolean;
  readonly submittedAt: number;
  /** When it became ready. */
  readonly queuedAt: number;
  readonly concludedAt: number;
  /** What was tested: two attempts with one head are the same change. */
  readonly headSha: string;
  readonly priority: number;
  readonly noBatch: boolean;
  readonly restarts: number;
};

export type PastRun = {
  readonly outcome: 'passed' | 'failed' | 'cancelled';
  readonly createdAt: number;
  /** When CI could begin. */
  readonly pushedAt: number;
  readonly concludedAt: number;
  /** Pull requests in queue order: those under test, and those ahead of them. */
  readonly tested: readonly number[];
  readonly ahead: readonly number[];
  /** Whether all of its failed tests are flaky, by their names; null: unknown. */
  readonly byChance: boolean | null;
};

export type RecordedHistory = {
  readonly attempts: readonly PastAttempt[];
  readonly runs: readonly PastRun[];
};

/** The last `count` attempts to arrive, and the runs since the first of them. */
export function lastPart({ attempts, runs }: RecordedHistory, count: number): RecordedHistory {
  if (attempts.length <= count) return { attempts, runs };
  const last = attempts.toSorted((a, b) => a.queuedAt - b.queuedAt).slice(-count);
  const from = Math.min(...last.map(({ queuedAt }) => queuedAt));
  return { attempts: last, runs: runs.filter(({ createdAt }) => createdAt >= from) };
}
