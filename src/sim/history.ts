// What a queue remembers of itself, as far as a simulation needs it. Instants are milliseconds.

export type PastTrip = {
  readonly pr: number;
  readonly trip: number;
  readonly outcome: 'merged' | 'failed' | 'cancelled';
  /** How it ended was what its tests said; otherwise somebody took it out, or it could not be tested at all. */
  readonly isByTests: boolean;
  readonly submittedAt: number;
  /** From when it was ready. */
  readonly queuedAt: number;
  readonly concludedAt: number;
  /** What was tested: two trips of one head are the same change. */
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
  /** Pull requests in the order of the line: what was under test, and what it was on top of. */
  readonly tested: readonly number[];
  readonly ahead: readonly number[];
  /** What the names of its failed tests say of a failure: all of them are flaky, or not; null: nobody knows. */
  readonly byChance: boolean | null;
};

export type History = { readonly trips: readonly PastTrip[]; readonly runs: readonly PastRun[] };

/** The last so many to come, and the runs since the first of them did. */
export function lastPart({ trips, runs }: History, count: number): History {
  if (trips.length <= count) return { trips, runs };
  const last = trips.toSorted((a, b) => a.queuedAt - b.queuedAt).slice(-count);
  const from = Math.min(...last.map(({ queuedAt }) => queuedAt));
  return { trips: last, runs: runs.filter(({ createdAt }) => createdAt >= from) };
}
