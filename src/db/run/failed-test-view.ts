// The test reports for the commits of test runs.

import type { FailedTestsReport } from '#core/queue/engine/reconcile-input.ts';
import { namedTestsMax } from '#core/queue/planner/targeted.ts';
import { minuteMs } from '#base/duration.ts';
import type { QueueId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

/** Most failing tests that are listed for a run. */
const failedTestsMax = 10;

// Uploads that are not fully trusted do not reach the queue.
const failedTestRowsSql = (repositoryId: string): string => `
  upload u
  join test_failure f on f.repository_id = u.repository_id and f.failed_at = u.uploaded_at and f.upload_id = u.id
  join test_case c on c.repository_id = f.repository_id and c.id = f.test_case_id
  where u.repository_id = ${repositoryId} and u.sha = t.test_branch_sha and u.trust = 'full'
    and f.outcome = 'failed'`;

// A test that failed in two jobs counts once.
/** FailedTests of the commit of `t`, as JSON; needs `t` for the run and the id of its repository. */
export const failedTestsSql = (repositoryId: string): string => `(
  select json_build_object('count', count(*), 'first', coalesce(
    json_agg(json_build_object('testCaseId', x.test_case_id, 'name', x.name, 'verdict', x.verdict,
      'isQuarantined', x.was_quarantined) order by x.rank, x.name, x.test_case_id)
      filter (where x.place <= ${failedTestsMax}), '[]'))
  from (
    select d.*, row_number() over (order by d.rank, d.name, d.test_case_id) as place from (
      select distinct on (f.test_case_id) f.test_case_id, c.name, f.verdict, f.was_quarantined,
        array_position(array['new', 'unknown', 'broken', 'flaky'], f.verdict) as rank
      from ${failedTestRowsSql(repositoryId)}
      order by f.test_case_id, u.uploaded_at desc) d) x)`;

/** Whether all failing tests of the commit of `t` are flaky, when they failed or by now; null: none is known. */
export const isByFlakyTests = `(
  select bool_and(f.verdict = 'flaky' or c.status = 'flaky')
  from ${failedTestRowsSql('(select q.repository_id from queue q where q.id = t.queue_id)')})`;

type ReportedFailureRow = {
  number: number;
  is_reading: boolean;
  failed_jobs: number;
  are_all_flaky: boolean;
  tests: readonly string[] | null;
  lacks_results: boolean;
};

/** All tests were reported: nothing is missing of what the job usually reports, and nothing looks like an outage. */
const isWholeReport = `u.state = 'ingested' and u.is_complete and not u.is_suspect
  and coalesce(u.missing_tests, 0) <= coalesce(u.usual_tests, 0) / 100`;

const isFailureOfUpload = `f.repository_id = u.repository_id and f.failed_at = u.uploaded_at and f.upload_id = u.id
  and f.outcome = 'failed'`;

const failuresWhere = (condition: string): string =>
  `(select count(*) from test_failure f where ${isFailureOfUpload} and ${condition})`;

/** Whether `u` is a report for the commit of `t`, about its last attempt; needs `q` for its queue. */
const isReportOfRun = `u.repository_id = q.repository_id and u.sha = t.test_branch_sha and u.trust = 'full'
  and u.state <> 'awaited' and u.uploaded_at > coalesce(t.rerun_at, t.created_at - interval '1 hour')`;

// A bundle names its commit only once it is read: until then it may be about any run. Those that arrived after the failure
// was reported, by the clock of the Git host, are not about it.
//
// The tests that failed are listed if the reports of a run of some tests have as many results as it has tests: a job that
// crashed reports fewer, and a test without a result has not passed.
const selectReportedFailures = statement<
  [queueId: string, numbers: string, since: Date, withTests: boolean],
  ReportedFailureRow
>(`
  select t.number, exists (
      select from upload u
      where u.repository_id = q.repository_id and u.state = 'stored' and u.trust = 'full' and u.uploaded_at > $3
        and (u.sha = t.test_branch_sha or (u.sha = '' and u.uploaded_at <= (
          select max(c.reported_at) + interval '30 seconds' from commit_check c
          where c.repository_id = q.repository_id and c.sha = t.test_branch_sha)))) as is_reading,
    reports.failed_jobs, reports.are_all_flaky,
    failed.tests, coalesce(reports.results, 0) < cardinality(t.selected_tests) is true as lacks_results
  from test_run t join queue q on q.id = t.queue_id cross join lateral (
    select count(distinct (u.job, u.variant)) filter (where u.failed > u.quarantined)::int as failed_jobs,
      coalesce(bool_and(${isWholeReport}
        and u.failed = ${failuresWhere(`f.verdict = 'flaky'`)}), false) as are_all_flaky,
      $4 and coalesce(bool_and(${isWholeReport} and (u.failed <= u.quarantined or u.can_select_tests)
        and u.failed - u.quarantined = ${failuresWhere('not f.was_quarantined')}), false) as are_listed,
      sum(u.tests - u.skipped) as results
    from upload u where ${isReportOfRun}) reports
  cross join lateral (
    select case when reports.are_listed and reports.results >= coalesce(cardinality(t.selected_tests), 0) then array(
      select distinct f.test_case_id from upload u join test_failure f on ${isFailureOfUpload} and not f.was_quarantined
      where ${isReportOfRun} order by 1 limit ${namedTestsMax + 1}) end as tests) failed
  where t.queue_id = $1 and t.number = any ($2::bigint[])`);

/** An upload that was not read by then is not waited for. */
const readingMs = minuteMs;

/** What test reports say about the failures of these runs, by their number; `withTests`: also which tests failed. */
export async function loadReportedFailures(
  tx: Tx,
  queueId: QueueId,
  numbers: readonly number[],
  now: Date,
  withTests: boolean,
): Promise<ReadonlyMap<number, FailedTestsReport>> {
  if (numbers.length === 0) return new Map();
  const since = new Date(now.getTime() - readingMs);
  const rows = await selectReportedFailures(tx, queueId, `{${numbers.join(',')}}`, since, withTests);
  return new Map(
    rows.map(
      ({
        number,
        is_reading: isReading,
        failed_jobs: failedJobs,
        are_all_flaky: areAllFlaky,
        lacks_results: lacksResults,
        tests,
      }) => [
        number,
        {
          isReading,
          failedJobs,
          areAllFlaky,
          lacksResults,
          ...(tests === null || tests.length === 0 || tests.length > namedTestsMax ? {} : { tests }),
        },
      ],
    ),
  );
}
