// Reads the history of a queue through the API: attempts and runs of the last days, page by page, bounded.

import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { type RecordedHistory, lastPart, type PastRun, type PastAttempt } from '../fit/history.ts';
import type { Api } from '#cli/client/api.ts';
import type { QueueReference } from '#cli/client/place.ts';

export type HistoryReadOptions = {
  readonly since: Date;
  readonly until: Date;
  readonly onPage: (attempts: number, runs: number) => void;
};

/** Of a longer history the last attempts are used. */
const attemptsMax = 5_000;
const runsMax = 50_000;
const attemptsPage = 100;
const runsPage = 500;

export async function readHistory(
  api: Api,
  place: QueueReference,
  options: HistoryReadOptions,
): Promise<RecordedHistory> {
  const window = { ...place, since: options.since.toISOString(), until: options.until.toISOString() };
  const attempts: PastAttempt[] = [];
  const runs: PastRun[] = [];
  let cursor: string | undefined;
  do {
    const page: ResponseOf<'listTrips'> = await api.call('listTrips', {
      ...window,
      take: attemptsPage,
      ...(cursor !== undefined && { cursor }),
    });
    attempts.push(...page.trips.flatMap(toPastAttempts));
    options.onPage(attempts.length, runs.length);
    cursor = page.nextCursor;
  } while (cursor !== undefined && attempts.length < attemptsMax);
  cursor = undefined;
  do {
    const page: ResponseOf<'listTestRuns'> = await api.call('listTestRuns', {
      ...window,
      take: runsPage,
      ...(cursor !== undefined && { cursor }),
    });
    runs.push(...page.testRuns.flatMap(toPastRuns));
    options.onPage(attempts.length, runs.length);
    cursor = page.nextCursor;
  } while (cursor !== undefined && runs.length < runsMax);
  // If only part of the runs was read, they begin later than the attempts: earlier attempts are left out.
  const from = cursor === undefined ? -Infinity : Math.min(...runs.map(({ createdAt }) => createdAt));
  return lastPart({ attempts: attempts.filter(({ queuedAt }) => queuedAt >= from), runs }, attemptsMax);
}

const testReasons: ReadonlySet<string | null> = new Set([
  'TEST_RUN_REQUIRED_STATUS_FAILED',
  'TEST_RUN_FAILED_BY_OPTIMIZATION',
  'TEST_RUN_TIMEOUT',
]);

/** Empty for an attempt that never was in the queue. */
function toPastAttempts(attempt: ResponseOf<'listTrips'>['trips'][number]): PastAttempt[] {
  if (attempt.timeInQueueSeconds === 0) return [];
  const concludedAt = Date.parse(attempt.concludedAt);
  const isByHand = attempt.reason === 'MANUAL_MERGE';
  return [
    {
      pr: attempt.prNumber,
      attempt: attempt.trip,
      outcome: isByHand ? 'cancelled' : attempt.conclusion,
      isByTests: (attempt.conclusion === 'merged' && !isByHand) || testReasons.has(attempt.reason),
      submittedAt: Date.parse(attempt.submittedAt),
      queuedAt: concludedAt - attempt.timeInQueueSeconds * 1_000,
      concludedAt,
      headSha: attempt.headSha,
      priority: attempt.priorityValue,
      noBatch: attempt.noBatch,
      restarts: attempt.restarts,
    },
  ];
}

/** Empty for a run that is still in progress, that never reached CI, or that ran only some tests. */
function toPastRuns(run: ResponseOf<'listTestRuns'>['testRuns'][number]): PastRun[] {
  if ((run.selectedTests ?? null) !== null) return [];
  if (run.concludedAt === null || run.pushedAt === null || run.status === 'in_progress') return [];
  return [
    {
      outcome: run.status === 'succeeded' ? 'passed' : run.status,
      createdAt: Date.parse(run.createdAt),
      pushedAt: Date.parse(run.pushedAt),
      concludedAt: Date.parse(run.concludedAt),
      tested: run.tested,
      ahead: run.ahead,
      byChance: run.failedByFlakyTests,
    },
  ];
}
