// Reads of test cases.

import type { RepositoryId } from '#base/id.ts';
import type { HeldBackReason } from '#core/health/quarantine/quarantine-contract.ts';
import type { Tx } from '../cell.ts';
import { type KeysetPage, pagedStatement, type PageRequest } from '../keyset.ts';
import { quarantineGainSql } from './quarantine-gain-view.ts';
import { statement } from '../statement.ts';
import { hasEverySearchTerm, parseSearchTerms, searchTermsMax } from './test-search-view.ts';

export type TestCaseRow = {
  readonly id: string;
  readonly name: string;
  readonly variant: string;
  readonly file_path: string | null;
  readonly parent: string | null;
  readonly classname: string | null;
  readonly codeowners: string[];
  readonly ticket_id: string | null;
  readonly status: string;
  readonly status_reason: string;
  readonly status_changed_at: Date;
  readonly quarantine_setting: string;
  readonly quarantined_at: Date | null;
  readonly pull_requests_impacted_7d: number;
};

/** The overrides that people have set for a test. */
type TestOverrideColumns = {
  readonly quarantine_expires_at: Date | null;
  readonly quarantine_owner: string | null;
  readonly quarantine_owners: string[];
  readonly quarantine_note: string | null;
  readonly quarantine_held_back: HeldBackReason | null;
  readonly manual_status: string | null;
  readonly ordinal: number | null;
};

export type OverriddenTestRow = TestCaseRow & TestOverrideColumns;

export type TestDetailsRow = OverriddenTestRow & {
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

const caseColumns = `c.id, c.name, c.variant, c.file_path, c.parent, c.classname, c.codeowners, c.ticket_id, c.status,
  c.status_reason, c.status_changed_at, c.quarantine_setting, c.quarantined_at, c.pull_requests_impacted_7d`;

/** The owner that a person named, else the code owners, else the default owners of the settings. */
export const quarantineOwnersColumn = `case when c.quarantine_owner is not null then array[c.quarantine_owner]
    when c.codeowners <> '{}' then c.codeowners
    else array(select jsonb_array_elements_text(s.settings -> 'quarantine' -> 'defaultOwners')
      from health_settings s where s.repository_id = c.repository_id) end as quarantine_owners`;

const overrideColumns = `c.quarantine_expires_at, c.quarantine_owner, ${quarantineOwnersColumn}, c.quarantine_note,
  c.quarantine_held_back, c.manual_status, c.ordinal`;

/** Most failure groups of a test that are shown. */
const commonFailuresMax = 10;

// Rates count whole hours: the hour that began less than 24 hours (7 days) ago is the oldest counted.
export const detailColumns = `${caseColumns}, ${overrideColumns},
  rate.runs_24h, rate.failures_24h, rate.runs_7d, rate.failures_7d,
  (select coalesce(json_agg(g), '[]') from (
    select summary, occurrence_count, last_occurrence from test_failure_group g
    where g.repository_id = c.repository_id and g.test_case_id = c.id
    order by occurrence_count desc, last_occurrence desc limit ${commonFailuresMax}) g) as common_failures
  `;

/** `now`: the parameter with the instant for which the rates are computed. */
export const rates = (now: string): string => `cross join lateral (
    select coalesce(sum(runs) filter (where hour > ${now}::timestamptz - interval '24 hours'), 0)::int as runs_24h,
      coalesce(sum(failures) filter (where hour > ${now}::timestamptz - interval '24 hours'), 0)::int as failures_24h,
      coalesce(sum(runs), 0)::int as runs_7d, coalesce(sum(failures), 0)::int as failures_7d
    from test_rollup u
    where u.repository_id = c.repository_id and u.test_case_id = c.id
      and u.hour > ${now}::timestamptz - interval '7 days' and u.hour <= ${now}::timestamptz) rate`;

const selectDetails = statement<[repositoryId: string, testCaseId: string, now: Date], TestDetailsRow>(`
  select ${detailColumns} from test_case c ${rates('$3')} where c.repository_id = $1 and c.id = $2`);

export async function findTestDetails(
  db: Tx,
  repositoryId: RepositoryId,
  testCaseId: string,
  now: Date,
): Promise<TestDetailsRow | null> {
  return (await selectDetails(db, repositoryId, testCaseId, now))[0] ?? null;
}

export type TestNameRow = Pick<TestCaseRow, 'id' | 'name' | 'variant' | 'file_path'>;

const selectNames = statement<[repositoryId: string, ids: readonly string[]], TestNameRow>(`
  select id, name, variant, file_path from test_case where repository_id = $1 and id = any ($2::uuid[])`);

/** By the tests' ids. */
export async function findTestNames(
  db: Tx,
  repositoryId: RepositoryId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, TestNameRow>> {
  return new Map((await selectNames(db, repositoryId, ids)).map((row) => [row.id, row]));
}

/** The filter of a list of tests; null: any value. */
export type TestFilter = { readonly search: string | null; readonly codeowner: string | null };

/** The conditions of a filter; `first` is the number of the first parameter of `filterArguments`. */
const matchesFilter = (first: number): string =>
  `($${first}::text is null or $${first} = any (c.codeowners)) and ${hasEverySearchTerm(first + 1)}`;

const filterParameters = 1 + searchTermsMax;

type FilterArguments = [codeowner: string | null, ...terms: readonly (string | null)[]];

const filterArguments = ({ search, codeowner }: TestFilter): FilterArguments => [
  codeowner,
  ...parseSearchTerms(search),
];

const readUnhealthy = pagedStatement<[repositoryId: string, status: string, ...FilterArguments], TestCaseRow>(
  {
    columns: caseColumns,
    source: `from test_case c
      where c.repository_id = $1 and c.status = $2 and c.status <> 'healthy' and not exists (
        select from test_rename r where r.repository_id = $1 and r.former_id = c.id and r.state = 'active')
        and ${matchesFilter(3)}`,
    keys: [
      { column: 'c.pull_requests_impacted_7d', direction: 'desc', type: 'bigint' },
      { column: 'c.status_changed_at', direction: 'desc', type: 'timestamptz' },
      { column: 'c.id', direction: 'asc', type: 'uuid' },
    ],
  },
);

export const listUnhealthy = (
  db: Tx,
  repositoryId: RepositoryId,
  { status, ...filter }: TestFilter & { readonly status: 'flaky' | 'broken' },
  page: PageRequest,
): Promise<KeysetPage<TestCaseRow>> =>
  readUnhealthy(db, [repositoryId, status, ...filterArguments(filter)], page);

export type QuarantinedRow = OverriddenTestRow & {
  readonly gain: { readonly failures: number; readonly pullRequests: number };
};

const readQuarantined = pagedStatement<[repositoryId: string, ...FilterArguments, now: Date], QuarantinedRow>(
  {
    columns: `${caseColumns}, ${overrideColumns}, ${quarantineGainSql(`$${2 + filterParameters}`)} as gain`,
    source: `from test_case c
    where c.repository_id = $1 and c.quarantined_at is not null and ${matchesFilter(2)}`,
    keys: [
      { column: 'c.quarantined_at', direction: 'desc', type: 'timestamptz' },
      { column: 'c.id', direction: 'asc', type: 'uuid' },
    ],
  },
);

export const listQuarantined = (
  db: Tx,
  repositoryId: RepositoryId,
  filter: TestFilter,
  page: PageRequest,
  now: Date,
): Promise<KeysetPage<QuarantinedRow>> =>
  readQuarantined(db, [repositoryId, ...filterArguments(filter), now], page);

const readFailing = pagedStatement<[repositoryId: string, start: Date, end: Date, now: Date], TestDetailsRow>(
  {
    columns: detailColumns,
    source: `from (
      select f.test_case_id, count(*) as failure_count from test_failure f
      where f.repository_id = $1 and f.failed_at >= $2 and f.failed_at < $3
      group by f.test_case_id) failing
    join test_case c on c.repository_id = $1 and c.id = failing.test_case_id
    ${rates('$4')} where true`,
    keys: [
      { column: 'failing.failure_count', direction: 'desc', type: 'bigint' },
      { column: 'c.id', direction: 'asc', type: 'uuid' },
    ],
  },
);

/** Tests that failed from `start` until before `end`, the most failures first. */
export const listFailing = (
  db: Tx,
  repositoryId: RepositoryId,
  span: { readonly start: Date; readonly end: Date },
  page: PageRequest,
  now: Date,
): Promise<KeysetPage<TestDetailsRow>> => readFailing(db, [repositoryId, span.start, span.end, now], page);
