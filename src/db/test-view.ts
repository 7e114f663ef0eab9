// Reads of test cases.

import type { RepositoryId } from '#base/id.ts';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { Tx } from './cell.ts';
import type { TestCase } from './database.ts';
import { type KeysetPage, type PageCursor, readPage } from './keyset.ts';
import { gainOf } from './quarantine-gain-view.ts';
import { matching } from './test-search-view.ts';

export type TestCaseRow = Omit<Selectable<TestCase>, 'repository_id' | 'created_at'>;

export type TestDetailsRow = TestCaseRow & {
  readonly runs_24h: number;
  readonly failures_24h: number;
  readonly runs_7d: number;
  readonly failures_7d: number;
  readonly common_failures: readonly {
    readonly summary: string;
    readonly occurrence_count: number;
    readonly last_occurrence: string;
  }[];
};

const caseColumns = sql`c.id, c.name, c.variant, c.file_path, c.parent, c.classname, c.codeowners, c.ticket_id, c.status,
  c.status_reason, c.status_changed_at, c.quarantine_setting, c.quarantined_at, c.pull_requests_impacted_7d`;

const overrideColumns = sql`c.quarantine_expires_at, c.quarantine_owner, c.quarantine_note, c.manual_status, c.ordinal`;

/** How many of a test's ways to fail are shown. */
const commonFailuresMax = 10;

// Rates count whole hours: the hour that began less than 24 hours (7 days) ago is the oldest counted.
export const detailColumns: RawBuilder<unknown> = sql`${caseColumns}, ${overrideColumns},
  rate.runs_24h, rate.failures_24h, rate.runs_7d, rate.failures_7d,
  (select coalesce(json_agg(g), '[]') from (
    select summary, occurrence_count, last_occurrence from test_failure_group g
    where g.repository_id = c.repository_id and g.test_case_id = c.id
    order by occurrence_count desc, last_occurrence desc limit ${commonFailuresMax}) g) as common_failures
  `;

export const rates = (now: Date): RawBuilder<unknown> => sql`cross join lateral (
    select coalesce(sum(runs) filter (where hour > ${now}::timestamptz - interval '24 hours'), 0)::int as runs_24h,
      coalesce(sum(failures) filter (where hour > ${now}::timestamptz - interval '24 hours'), 0)::int as failures_24h,
      coalesce(sum(runs), 0)::int as runs_7d, coalesce(sum(failures), 0)::int as failures_7d
    from test_rollup u
    where u.repository_id = c.repository_id and u.test_case_id = c.id
      and u.hour > ${now}::timestamptz - interval '7 days' and u.hour <= ${now}) rate`;

export async function findTestDetails(
  db: Tx,
  repositoryId: RepositoryId,
  testCaseId: string,
  now: Date,
): Promise<TestDetailsRow | null> {
  const { rows } = await sql<TestDetailsRow>`
    select ${detailColumns} from test_case c ${rates(now)}
    where c.repository_id = ${repositoryId} and c.id = ${testCaseId}`.execute(db);
  return rows[0] ?? null;
}

/** What narrows a list of tests; null: anything. */
export type TestFilter = { readonly search: string | null; readonly codeowner: string | null };

const narrowed = ({ search, codeowner }: TestFilter): RawBuilder<unknown> => {
  const bySearch = search === null ? sql`` : sql` and ${matching(search)}`;
  const byOwner = codeowner === null ? sql`` : sql` and ${codeowner} = any (c.codeowners)`;
  return sql`${bySearch}${byOwner}`;
};

export type PageWish = { readonly size: number; readonly cursor: PageCursor | null };

export function listUnhealthy(
  db: Tx,
  repositoryId: RepositoryId,
  { status, ...filter }: TestFilter & { readonly status: 'flaky' | 'broken' },
  page: PageWish,
): Promise<KeysetPage<TestCaseRow>> {
  return readPage(db, {
    columns: caseColumns,
    source: sql`from test_case c
      where c.repository_id = ${repositoryId} and c.status = ${status} and c.status <> 'healthy'${narrowed(filter)}`,
    keys: [
      { column: 'c.pull_requests_impacted_7d', direction: 'desc', type: 'bigint' },
      { column: 'c.status_changed_at', direction: 'desc', type: 'timestamptz' },
      { column: 'c.id', direction: 'asc', type: 'uuid' },
    ],
    ...page,
  });
}

export type QuarantinedRow = TestCaseRow & {
  readonly gain: { readonly failures: number; readonly pullRequests: number };
};

export function listQuarantined(
  db: Tx,
  repositoryId: RepositoryId,
  filter: TestFilter,
  page: PageWish,
  now: Date,
): Promise<KeysetPage<QuarantinedRow>> {
  return readPage(db, {
    columns: sql`${caseColumns}, ${overrideColumns}, ${gainOf(now)} as gain`,
    source: sql`from test_case c
      where c.repository_id = ${repositoryId} and c.quarantined_at is not null${narrowed(filter)}`,
    keys: [
      { column: 'c.quarantined_at', direction: 'desc', type: 'timestamptz' },
      { column: 'c.id', direction: 'asc', type: 'uuid' },
    ],
    ...page,
  });
}

/** Tests that failed from `start` until before `end`: those that failed most often first. */
export function listFailing(
  db: Tx,
  repositoryId: RepositoryId,
  span: { readonly start: Date; readonly end: Date },
  page: PageWish,
  now: Date,
): Promise<KeysetPage<TestDetailsRow>> {
  return readPage(db, {
    columns: detailColumns,
    source: sql`from (
        select f.test_case_id, count(*) as failure_count from test_failure f
        where f.repository_id = ${repositoryId} and f.failed_at >= ${span.start} and f.failed_at < ${span.end}
        group by f.test_case_id) failing
      join test_case c on c.repository_id = ${repositoryId} and c.id = failing.test_case_id
      ${rates(now)} where true`,
    keys: [
      { column: 'failing.failure_count', direction: 'desc', type: 'bigint' },
      { column: 'c.id', direction: 'asc', type: 'uuid' },
    ],
    ...page,
  });
}
