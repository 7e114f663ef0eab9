// What reports say of the commits of test runs.

/** How many failing tests of a run are told. */
const failedTestsMax = 10;

// Reports of those who may only upload tell nothing to the queue.
const failuresOf = (repositoryId: string): string => `
  upload u
  join test_failure f on f.repository_id = u.repository_id and f.failed_at = u.uploaded_at and f.upload_id = u.id
  join test_case c on c.repository_id = f.repository_id and c.id = f.test_case_id
  where u.repository_id = ${repositoryId} and u.sha = t.test_branch_sha and u.trust = 'full'
    and f.outcome = 'failed'`;

// A test that failed in two jobs counts once.
/** FailedTests of the commit of `t`, as JSON; needs `t` for the run and the id of its repository. */
export const failedTestsOf = (repositoryId: string): string => `(
  select json_build_object('count', count(*), 'first', coalesce(
    json_agg(json_build_object('testCaseId', x.test_case_id, 'name', x.name, 'verdict', x.verdict,
      'isQuarantined', x.was_quarantined) order by x.rank, x.name, x.test_case_id)
      filter (where x.place <= ${failedTestsMax}), '[]'))
  from (
    select d.*, row_number() over (order by d.rank, d.name, d.test_case_id) as place from (
      select distinct on (f.test_case_id) f.test_case_id, c.name, f.verdict, f.was_quarantined,
        array_position(array['new', 'unknown', 'broken', 'flaky'], f.verdict) as rank
      from ${failuresOf(repositoryId)}
      order by f.test_case_id, u.uploaded_at desc) d) x)`;

/** Whether all failing tests of the commit of `t` are flaky, when they failed or by now; null: none is known. */
export const isByFlakyTests = `(
  select bool_and(f.verdict = 'flaky' or c.status = 'flaky')
  from ${failuresOf('(select q.repository_id from queue q where q.id = t.queue_id)')})`;
