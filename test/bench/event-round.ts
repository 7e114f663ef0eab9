// What a round of webhook events came to: events a second until the last decision, and how long each decision took.

import { until } from './deployment.ts';
import type { EventLoadResult } from './event-load.ts';
import { median, percentile } from './figure.ts';
import { withClient } from './fixture.ts';

export type EventRound = {
  readonly perSecond: number;
  /** Test runs decided. */
  readonly decisions: number;
  /** Milliseconds from the answer to the last event of a run to the commit of its decision. */
  readonly lagP50Ms: number;
  readonly lagP99Ms: number;
  /** Most runs at once whose last event was answered and that were not decided. */
  readonly backlogMax: number;
  readonly load: Omit<EventLoadResult, 'complete'>;
};

type Decided = ReadonlyMap<string, number>;

/** When the decision of each run was committed. */
export async function waitForDecisions(url: string, count: number): Promise<Decided> {
  return withClient(url, (client) =>
    until(`The decision of ${count} runs`, async () => {
      const { rows } = await client.query<{ sha: string; at: number }>(
        `select test_branch_sha as sha, extract(epoch from pg_xact_commit_timestamp(xmin))::float8 * 1000 as at
         from test_run where status <> 'in_progress'`,
      );
      return rows.length >= count ? new Map(rows.map(({ sha, at }) => [sha, at])) : null;
    }),
  );
}

export function eventRoundOf({ complete, ...load }: EventLoadResult, decided: Decided): EventRound {
  const lags = complete.map(([sha, at]) => decided.get(sha)! - at);
  const lastDecision = Math.max(...complete.map(([sha]) => decided.get(sha)!));
  const moves = complete.flatMap(([sha, at]) => [
    [at, 1] as const,
    [Math.max(at, decided.get(sha)!), -1] as const,
  ]);
  let backlog = 0;
  let backlogMax = 0;
  for (const [, step] of moves.toSorted((a, b) => a[0] - b[0])) {
    backlog += step;
    backlogMax = Math.max(backlogMax, backlog);
  }
  return {
    perSecond: load.answered / ((Math.max(load.endedAt, lastDecision) - load.startedAt) / 1000),
    decisions: complete.length,
    lagP50Ms: median(lags),
    lagP99Ms: percentile(lags, 0.99),
    backlogMax,
    load,
  };
}
