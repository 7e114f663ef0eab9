// What quarantine saved: failures that were excused, and the pull requests that had them.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

/** The window in days, and the most failures that are counted: of one test, and of a repository. */
const gainDays = 30;
const failuresOfTestMax = 2_000;
export const failuresOfRepositoryMax = 100_000;

/** Whether the failure `f` of the test `c` was excused; `g` is its way to fail. */
export const isExcusedFailure = `f.was_quarantined and (coalesce(g.flake_count, 0) > 0
  or (c.quarantine_setting = 'ALWAYS_QUARANTINE' and not coalesce(c.quarantine_expires_at <= f.failed_at, false)))`;

const group = `left join test_failure_group g on g.repository_id = f.repository_id
  and g.test_case_id = f.test_case_id and g.fingerprint = f.fingerprint`;

/** Of the test `c`, up to the instant of a parameter, as `{ failures, pullRequests }`. */
export const quarantineGainSql = (now: string): string => `(
  select json_build_object('failures', count(*), 'pullRequests', count(distinct f.pr_number))
  from (
    select * from test_failure f
    where f.repository_id = c.repository_id and f.test_case_id = c.id and f.failed_at <= ${now}::timestamptz
      and f.failed_at > ${now}::timestamptz - interval '${gainDays} days' and f.outcome = 'failed'
      and f.was_quarantined
    order by f.failed_at desc limit ${failuresOfTestMax}) f
  ${group} where ${isExcusedFailure})`;

export type QuarantineSummary = {
  readonly tests: number;
  readonly held_back: number;
  readonly always: number;
  readonly expiring: number;
  readonly looked: number;
  readonly failures: number;
  readonly pull_requests: number;
};

const selectSummary = statement<[repositoryId: string, now: Date], QuarantineSummary>(`
  select held.*, back.*, gain.*
  from (
    select count(*) as tests, count(*) filter (where c.quarantine_setting = 'ALWAYS_QUARANTINE') as always,
      count(*) filter (where c.quarantine_expires_at <= $2::timestamptz + interval '7 days') as expiring
    from test_case c where c.repository_id = $1 and c.quarantined_at is not null) held
  cross join (
    select count(*) as held_back from test_case c
    where c.repository_id = $1 and c.status <> 'healthy' and c.quarantine_held_back is not null) back
  cross join (
    select count(*) as looked, count(*) filter (where f.is_excused) as failures,
      count(distinct f.pr_number) filter (where f.is_excused) as pull_requests
    from (
      select f.pr_number, ${isExcusedFailure} as is_excused
      from (
        select * from test_failure f
        where f.repository_id = $1 and f.was_quarantined and f.outcome = 'failed' and f.failed_at <= $2::timestamptz
          and f.failed_at > $2::timestamptz - interval '${gainDays} days'
        order by f.failed_at desc limit ${failuresOfRepositoryMax}) f
      join test_case c on c.repository_id = f.repository_id and c.id = f.test_case_id
      ${group}) f) gain`);

export async function readQuarantineSummary(
  db: Tx,
  repositoryId: RepositoryId,
  now: Date,
): Promise<QuarantineSummary> {
  const [row] = await selectSummary(db, repositoryId, now);
  return row!;
}
