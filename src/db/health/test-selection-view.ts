// Which tests CI runs on a commit. Asked by every CI job before it runs its tests: one statement by index, for most commits
// without a row.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

type SelectedTestRow = {
  readonly name: string;
  readonly classname: string;
  readonly parent: string;
  readonly file: string;
};

type SelectionRow = {
  readonly count: number | null;
  readonly tests: readonly (SelectedTestRow & { readonly isOfJob: boolean })[];
  readonly isJobKnown: boolean;
};

// A run of all tests on the same commit comes first: then all tests run. A test is of the jobs in whose reports it failed
// before the run was started: at most some rounds of a bisection ago.
const selectSelection = statement<[repositoryId: string, sha: string, job: string], SelectionRow>(`
  select cardinality(t.selected_tests) as count, (
    select coalesce(json_agg(json_build_object('name', c.name, 'classname', coalesce(c.classname, ''),
      'parent', coalesce(c.parent, ''), 'file', coalesce(c.file_path, ''), 'isOfJob', exists (
        select from test_failure f
        join upload u on u.repository_id = f.repository_id and u.uploaded_at = f.failed_at and u.id = f.upload_id
        where f.repository_id = $1 and f.test_case_id = c.id and f.failed_at > t.created_at - interval '1 day'
          and u.job = $3)) order by s.n), '[]')
    from unnest(t.selected_tests) with ordinality as s (id, n)
    join test_case c on c.repository_id = $1 and c.id = s.id) as tests,
    exists (select from test_job j where j.repository_id = $1 and j.job = $3) as "isJobKnown"
  from queue q join test_run t on t.queue_id = q.id and t.test_branch_sha = $2 and t.status = 'in_progress'
  where q.repository_id = $1
  order by t.selected_tests is null desc limit 1`);

/**
 * The tests that the run on this commit runs, of this job if its reports are known; null: all, also if one of them is no
 * longer known. A job without a name is not known.
 */
export async function findTestSelection(
  db: Tx,
  repositoryId: RepositoryId,
  sha: string,
  job = '',
): Promise<readonly SelectedTestRow[] | null> {
  const [row] = await selectSelection(db, repositoryId, sha, job);
  if (row === undefined || row.tests.length !== row.count) return null;
  const ofJob = row.tests.filter(({ isOfJob }) => isOfJob || job === '' || !row.isJobKnown);
  return ofJob.map(({ name, classname, parent, file }) => ({ name, classname, parent, file }));
}
