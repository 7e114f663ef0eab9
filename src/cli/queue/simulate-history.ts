// The history of a queue, read through the API: every trip and every test run of the last days, page by page, bounded.

import type { ResponseOf } from '#contract/endpoint.ts';
import { type History, lastPart, type PastRun, type PastTrip } from '#sim/history.ts';
import type { Api } from '../client/api.ts';
import type { QueuePlace } from '../client/place.ts';

export type HistoryWish = {
  readonly since: Date;
  readonly until: Date;
  readonly onPage: (trips: number, runs: number) => void;
};

/** Of more than these the last are taken. */
const tripsMax = 5_000;
const runsMax = 50_000;
const tripsPage = 100;
const runsPage = 500;

export async function readHistory(api: Api, place: QueuePlace, wish: HistoryWish): Promise<History> {
  const window = { ...place, since: wish.since.toISOString(), until: wish.until.toISOString() };
  const trips: PastTrip[] = [];
  const runs: PastRun[] = [];
  let cursor: string | undefined;
  do {
    const page: ResponseOf<'listTrips'> = await api.call('listTrips', {
      ...window,
      take: tripsPage,
      ...(cursor !== undefined && { cursor }),
    });
    trips.push(...page.trips.flatMap(tripOf));
    wish.onPage(trips.length, runs.length);
    cursor = page.nextCursor;
  } while (cursor !== undefined && trips.length < tripsMax);
  cursor = undefined;
  do {
    const page: ResponseOf<'listTestRuns'> = await api.call('listTestRuns', {
      ...window,
      take: runsPage,
      ...(cursor !== undefined && { cursor }),
    });
    runs.push(...page.testRuns.flatMap(runOf));
    wish.onPage(trips.length, runs.length);
    cursor = page.nextCursor;
  } while (cursor !== undefined && runs.length < runsMax);
  // Runs that were read only in part begin later than the trips do: what came before them is left out.
  const from = cursor === undefined ? -Infinity : Math.min(...runs.map(({ createdAt }) => createdAt));
  return lastPart({ trips: trips.filter(({ queuedAt }) => queuedAt >= from), runs }, tripsMax);
}

const testReasons: ReadonlySet<string | null> = new Set([
  'TEST_RUN_REQUIRED_STATUS_FAILED',
  'TEST_RUN_FAILED_BY_OPTIMIZATION',
  'TEST_RUN_TIMEOUT',
]);

/** None of one that never was in the queue. */
function tripOf(trip: ResponseOf<'listTrips'>['trips'][number]): PastTrip[] {
  if (trip.timeInQueueSeconds === 0) return [];
  const concludedAt = Date.parse(trip.concludedAt);
  const isByHand = trip.reason === 'MANUAL_MERGE';
  return [
    {
      pr: trip.prNumber,
      trip: trip.trip,
      outcome: isByHand ? 'cancelled' : trip.conclusion,
      isByTests: (trip.conclusion === 'merged' && !isByHand) || testReasons.has(trip.reason),
      submittedAt: Date.parse(trip.submittedAt),
      queuedAt: concludedAt - trip.timeInQueueSeconds * 1_000,
      concludedAt,
      headSha: trip.headSha,
      priority: trip.priorityValue,
      noBatch: trip.noBatch,
      restarts: trip.restarts,
    },
  ];
}

/** None of one that is still under way, or that never reached CI. */
function runOf(run: ResponseOf<'listTestRuns'>['testRuns'][number]): PastRun[] {
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
