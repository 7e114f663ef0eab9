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

// A run of all tests on the same commit comes first: then all tests run.
const selectSelection = statement<
  [repositoryId: string, sha: string],
  { count: number | null; tests: readonly SelectedTestRow[] }
>(`
  select cardinality(t.selected_tests) as count, (
    select coalesce(json_agg(json_build_object('name', c.name, 'classname', coalesce(c.classname, ''),
      'parent', coalesce(c.parent, ''), 'file', coalesce(c.file_path, '')) order by s.n), '[]')
    from unnest(t.selected_tests) with ordinality as s (id, n)
    join test_case c on c.repository_id = $1 and c.id = s.id) as tests
  from queue q join test_run t on t.queue_id = q.id and t.test_branch_sha = $2
  where q.repository_id = $1
  order by t.selected_tests is null desc limit 1`);

/** The tests that the run on this commit runs; null: all, also if one of them is no longer known. */
export async function findTestSelection(
  db: Tx,
  repositoryId: RepositoryId,
  sha: string,
): Promise<readonly SelectedTestRow[] | null> {
  const [row] = await selectSelection(db, repositoryId, sha);
  return row === undefined || row.tests.length !== row.count ? null : row.tests;
}
