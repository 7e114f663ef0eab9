// Writes test_history and the hours of watched tests (test_rollup). A test is watched from its first failure on.

import { hourMs } from '#base/duration.ts';
import type { RepositoryId } from '#base/id.ts';
import { type TestCaseHistory } from '#core/health/history.ts';
import { decodeHistory, encodeHistory } from '#core/health/history-bytes.ts';
import { type MonitorId, monitorIds } from '#core/health/monitor/monitors.ts';
import { continueHistory } from '#core/health/rename/continue-history.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';

export type WatchedTest = {
  readonly ordinal: number;
  readonly testCaseId: string;
  readonly history: TestCaseHistory;
  readonly activeMonitors: readonly MonitorId[];
  readonly lastFailedAt: Date;
};

const selectWatched = statement<[repositoryId: string], { ordinal: number }>(
  'select ordinal from test_history where repository_id = $1',
);

export async function listWatched(db: Tx, repositoryId: RepositoryId): Promise<readonly number[]> {
  return (await selectWatched(db, repositoryId)).map((row) => row.ordinal);
}

type TestHistoryRow = {
  readonly ordinal: number;
  readonly test_case_id: string;
  readonly body: Buffer;
  readonly active_monitors: string[];
  readonly last_failed_at: Date;
};

const toWatchedTest = (row: TestHistoryRow): WatchedTest => ({
  ordinal: row.ordinal,
  testCaseId: row.test_case_id,
  history: decodeHistory(row.body),
  activeMonitors: monitorIds.filter((monitor) => row.active_monitors.includes(monitor)),
  lastFailedAt: row.last_failed_at,
});

const columns = 'ordinal, test_case_id, body, active_monitors, last_failed_at';

const selectHistories = statement<[repositoryId: string, ordinals: readonly number[]], TestHistoryRow>(
  `select ${columns} from test_history where repository_id = $1 and ordinal = any ($2::int[])`,
);

export async function findHistories(
  db: Tx,
  repositoryId: RepositoryId,
  ordinals: readonly number[],
): Promise<readonly WatchedTest[]> {
  return ordinals.length === 0 ? [] : (await selectHistories(db, repositoryId, ordinals)).map(toWatchedTest);
}

const selectHistoriesOf = statement<[repositoryId: string, ids: readonly string[]], TestHistoryRow>(
  `select ${columns} from test_history where repository_id = $1 and test_case_id = any ($2::uuid[])`,
);

/** The same, by the tests' ids. */
export async function findHistoriesByTestId(
  db: Tx,
  repositoryId: RepositoryId,
  testCaseIds: readonly string[],
): Promise<readonly WatchedTest[]> {
  return testCaseIds.length === 0
    ? []
    : (await selectHistoriesOf(db, repositoryId, testCaseIds)).map(toWatchedTest);
}

/** A test that was renamed again and again is followed so far back. */
export const formerNamesMax = 5;

export type FormerTest = {
  readonly test_case_id: string;
  readonly former_id: string;
  readonly carries_quarantine: boolean;
  /** Null: it is not stored any more. */
  readonly body: Buffer | null;
};

const selectFormers = statement<[repositoryId: string, ids: readonly string[]], FormerTest>(`
  with recursive former as (
    select r.test_case_id, r.former_id, r.carries_quarantine, 1 as depth from test_rename r
    where r.repository_id = $1 and r.test_case_id = any ($2::uuid[]) and r.state = 'active'
    union all
    select f.test_case_id, r.former_id, f.carries_quarantine and r.carries_quarantine, f.depth + 1
    from former f
    join test_rename r on r.repository_id = $1 and r.test_case_id = f.former_id and r.state = 'active'
    where f.depth < ${formerNamesMax})
  select f.test_case_id, f.former_id, f.carries_quarantine, h.body
  from former f left join test_history h on h.repository_id = $1 and h.test_case_id = f.former_id
  order by f.test_case_id, f.depth`);

/** The former tests of each test, the latest first. Few tests have one. */
export async function findFormerTests(
  db: Tx,
  repositoryId: RepositoryId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly FormerTest[]>> {
  if (ids.length === 0) return new Map();
  return Map.groupBy(await selectFormers(db, repositoryId, ids), (row) => row.test_case_id);
}

/** The history with those of the former names. */
export const withFormers = (own: TestCaseHistory, formers: readonly FormerTest[]): TestCaseHistory =>
  formers.reduce(
    (history, { body }) => (body === null ? history : continueHistory(decodeHistory(body), history)),
    own,
  );

/** The stored histories of the tests, each with those of its former names. */
export async function findContinuedHistories(
  db: Tx,
  repositoryId: RepositoryId,
  ids: readonly string[],
): Promise<readonly WatchedTest[]> {
  const [watched, formers] = await Promise.all([
    findHistoriesByTestId(db, repositoryId, ids),
    findFormerTests(db, repositoryId, ids),
  ]);
  return watched.map((test) => ({
    ...test,
    history: withFormers(test.history, formers.get(test.testCaseId) ?? []),
  }));
}

type PageRow = Omit<TestHistoryRow, 'body'> & { readonly body: Buffer | null };

// The limit is inside, so that a statement never reads more than one page, however few tests failed since.
const selectPage = statement<[repositoryId: string, after: string, limit: number, since: Date], PageRow>(`
  select ordinal, test_case_id, active_monitors, last_failed_at, case when last_failed_at >= $4 then body end as body
  from (
    select ${columns} from test_history where repository_id = $1 and test_case_id > $2
    order by test_case_id limit $3) page
  order by test_case_id`);

export type HistoryPage = {
  /** The tests of the page that failed since. */
  readonly tests: readonly WatchedTest[];
  /** The last test of the page, where the next one begins; null: this was the last page. */
  readonly last: string | null;
};

/** One page of the watched tests of a repository, in the order of their ids. */
export async function listHistoriesFailedSince(
  db: Tx,
  repositoryId: RepositoryId,
  since: Date,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<HistoryPage> {
  const rows = await selectPage(db, repositoryId, after, limit, since);
  const tests = rows.flatMap(({ body, ...row }) => (body === null ? [] : [toWatchedTest({ ...row, body })]));
  return { tests, last: rows.length < limit ? null : rows.at(-1)!.test_case_id };
}

// Nested arrays must have one length, so active monitors are sent as texts with commas: their ids have none.
const upsertHistories = statement<
  [
    repositoryId: string,
    ordinals: readonly number[],
    ids: readonly string[],
    bodies: readonly Buffer[],
    active: readonly string[],
    lastFailedAts: readonly Date[],
  ]
>(`
  insert into test_history (repository_id, ordinal, test_case_id, body, active_monitors, last_failed_at)
  select $1::uuid, ordinal, test_case_id, body, coalesce(string_to_array(nullif(active, ''), ','), '{}'), last_failed_at
  from unnest($2::int[], $3::uuid[], $4::bytea[], $5::text[], $6::timestamptz[])
    as given (ordinal, test_case_id, body, active, last_failed_at)
  on conflict (repository_id, ordinal) do update set body = excluded.body, active_monitors = excluded.active_monitors,
    last_failed_at = excluded.last_failed_at`);

export async function putHistories(
  tx: Tx,
  { repositoryId }: TestsLock,
  tests: readonly WatchedTest[],
): Promise<void> {
  if (tests.length === 0) return;
  await upsertHistories(
    tx,
    repositoryId,
    tests.map((test) => test.ordinal),
    tests.map((test) => test.testCaseId),
    tests.map((test) => Buffer.from(encodeHistory(test.history))),
    tests.map((test) => test.activeMonitors.join(',')),
    tests.map((test) => test.lastFailedAt),
  );
}

const updateActive = statement<
  [repositoryId: string, ordinals: readonly number[], active: readonly string[]]
>(`
  update test_history h set active_monitors = coalesce(string_to_array(nullif(given.active, ''), ','), '{}')
  from unnest($2::int[], $3::text[]) as given (ordinal, active)
  where h.repository_id = $1 and h.ordinal = given.ordinal`);

/** For tests that were classified without a new run. */
export async function putActiveMonitors(
  tx: Tx,
  { repositoryId }: TestsLock,
  tests: readonly Pick<WatchedTest, 'ordinal' | 'activeMonitors'>[],
): Promise<void> {
  if (tests.length === 0) return;
  await updateActive(
    tx,
    repositoryId,
    tests.map((test) => test.ordinal),
    tests.map((test) => test.activeMonitors.join(',')),
  );
}

const deleteHistory = statement<[repositoryId: string, id: string]>(
  'delete from test_history where repository_id = $1 and test_case_id = $2',
);
const deleteHours = statement<[repositoryId: string, id: string]>(
  'delete from test_rollup where repository_id = $1 and test_case_id = $2',
);

/** The test is not watched any more. */
export async function removeHistory(tx: Tx, { repositoryId }: TestsLock, testCaseId: string): Promise<void> {
  await deleteHistory(tx, repositoryId, testCaseId);
  await deleteHours(tx, repositoryId, testCaseId);
}

/** The hour that an instant counts for. */
export const startOfHour = (at: Date): Date => new Date(Math.floor(at.getTime() / hourMs) * hourMs);

export type TestHour = {
  readonly testCaseId: string;
  readonly hour: Date;
  readonly runs: number;
  readonly failures: number;
};

const upsertHours = statement<
  [
    repositoryId: string,
    ids: readonly string[],
    hours: readonly Date[],
    runs: readonly number[],
    failures: readonly number[],
  ]
>(`
  insert into test_rollup (repository_id, test_case_id, hour, runs, failures)
  select $1::uuid, test_case_id, hour, sum(runs), sum(failures)
  from unnest($2::uuid[], $3::timestamptz[], $4::int[], $5::int[]) as given (test_case_id, hour, runs, failures)
  group by test_case_id, hour
  on conflict (repository_id, test_case_id, hour) do update set runs = test_rollup.runs + excluded.runs,
    failures = test_rollup.failures + excluded.failures`);

export async function addHours(
  tx: Tx,
  { repositoryId }: TestsLock,
  hours: readonly TestHour[],
): Promise<void> {
  if (hours.length === 0) return;
  await upsertHours(
    tx,
    repositoryId,
    hours.map((row) => row.testCaseId),
    hours.map((row) => row.hour),
    hours.map((row) => row.runs),
    hours.map((row) => row.failures),
  );
}
