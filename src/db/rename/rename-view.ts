// Reads of renames, and of what the default branch ran: shapes, and the places of tests.

import type { RepositoryId } from '#base/id.ts';
import { type PlacedTest, placeLengthMax } from '#core/health/rename/find-renames.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import { formerNamesMax } from '../health/history-store.ts';
import { renameColumns, type RenameRow } from './rename-store.ts';

export type ShownRename = RenameRow & {
  /** The name of the test as it is now. */
  readonly name: string;
  readonly file_path: string | null;
  /** Null: the former test is not stored any more. */
  readonly stored_former_id: string | null;
};

const selectShown = statement<[repositoryId: string, id: string], ShownRename>(`
  select ${renameColumns}, c.name, c.file_path, f.id as stored_former_id from test_rename r
  join test_case c on c.repository_id = r.repository_id and c.id = r.test_case_id
  left join test_case f on f.repository_id = r.repository_id and f.id = r.former_id
  where r.repository_id = $1 and (r.test_case_id = $2 or r.former_id = $2) and r.state in ('suspected', 'active')`);

/** From which test and to which test it was renamed, as far as that is suspected or known. */
export const listRenamesOf = (db: Tx, repositoryId: RepositoryId, id: string): Promise<ShownRename[]> =>
  selectShown(db, repositoryId, id);

const selectSuccessors = statement<[repositoryId: string, id: string], { id: string }>(`
  with recursive later as (
    select r.test_case_id as id, 1 as depth from test_rename r
    where r.repository_id = $1 and r.former_id = $2 and r.state = 'active'
    union all
    select r.test_case_id, l.depth + 1 from later l
    join test_rename r on r.repository_id = $1 and r.former_id = l.id and r.state = 'active'
    where l.depth < ${formerNamesMax})
  select id from later order by depth`);

/** The tests that it was renamed to since, in order. */
export const listLaterTests = async (
  db: Tx,
  repositoryId: RepositoryId,
  id: string,
): Promise<readonly string[]> => (await selectSuccessors(db, repositoryId, id)).map((row) => row.id);

/** What a complete, trusted upload of the default branch ran. */
export type BranchRun = {
  readonly id: string;
  readonly uploaded_at: Date;
  readonly job: string;
  readonly variant: string;
  readonly branch: string;
  readonly sha: string;
  readonly shape: Buffer;
  readonly skipped: Buffer | null;
};

const completeRuns = `upload u
  join test_segment s on s.repository_id = $1 and s.uploaded_at = u.uploaded_at and s.upload_id = u.id
  where u.repository_id = $1 and u.state = 'ingested' and u.trust = 'full' and u.branch_class = 'default'
    and not u.is_suspect and u.is_complete and u.tests > 0`;
const runColumns = 'u.id, u.uploaded_at, u.job, u.variant, u.branch, u.sha, s.shape, s.skipped';

const selectRuns = statement<[repositoryId: string, from: Date, limit: number], BranchRun>(`
  select ${runColumns} from ${completeRuns} and u.uploaded_at >= $2 order by u.uploaded_at, u.id limit $3`);

/** From this instant on, the oldest first. */
export const listBranchRuns = (
  db: Tx,
  repositoryId: RepositoryId,
  from: Date,
  limit: number,
): Promise<BranchRun[]> => selectRuns(db, repositoryId, from, limit);

const selectEarlier = statement<
  [
    repositoryId: string,
    before: Date,
    since: Date,
    job: string,
    variant: string,
    branch: string,
    limit: number,
  ],
  BranchRun
>(`
  select ${runColumns} from ${completeRuns} and u.uploaded_at < $2 and u.uploaded_at >= $3 and u.job = $4
    and u.variant = $5 and u.branch = $6 order by u.uploaded_at desc, u.id desc limit $7`);

/** Of the same job and branch before this one, the newest first. */
export const listEarlierRuns = (
  db: Tx,
  repositoryId: RepositoryId,
  { uploaded_at: before, job, variant, branch }: BranchRun,
  since: Date,
  limit: number,
): Promise<BranchRun[]> => selectEarlier(db, repositoryId, before, since, job, variant, branch, limit);

// The first and last number exclude shapes that cannot hold any of the tests.
const selectShapesBetween = statement<
  [repositoryId: string, since: Date, before: Date, first: number, last: number, limit: number],
  { hash: Buffer }
>(`
  select h.hash from test_shape h
  where h.repository_id = $1 and h.last_used_at >= $2 and h.first_ordinal <= $5 and h.last_ordinal >= $4 and exists (
    select from upload u
    join test_segment s on s.repository_id = $1 and s.uploaded_at = u.uploaded_at and s.upload_id = u.id
    where u.repository_id = $1 and u.branch_class = 'default' and u.trust = 'full' and u.state = 'ingested'
      and u.uploaded_at >= $2 and u.uploaded_at < $3 and s.uploaded_at >= $2 and s.uploaded_at < $3 and s.shape = h.hash)
  limit $6`);

/** Shapes that any job of the default branch reported in a period, if they may hold a test between two numbers. */
export const listShapesBetween = async (
  db: Tx,
  repositoryId: RepositoryId,
  period: { readonly since: Date; readonly before: Date },
  span: { readonly first: number; readonly last: number },
  limit: number,
): Promise<readonly Buffer[]> => {
  const { since, before } = period;
  const rows = await selectShapesBetween(db, repositoryId, since, before, span.first, span.last, limit);
  return rows.map((row) => row.hash);
};

type PlacedRow = PlacedTest & { readonly id: string };

/** A place with longer texts is not compared, so that they can be cut. */
const cut = (column: string): string => `left(coalesce(${column}, ''), ${placeLengthMax + 1})`;
const placedColumns = `ordinal, id, ${cut('name')} as name, ${cut('file_path')} as file, ${cut('classname')} as classname,
  ${cut('parent')} as parent, variant`;

const selectPlaced = statement<[repositoryId: string, ordinals: readonly number[]], PlacedRow>(
  `select ${placedColumns} from test_case where repository_id = $1 and ordinal = any ($2::int[])`,
);

export const listPlacedTests = (
  db: Tx,
  repositoryId: RepositoryId,
  ordinals: readonly number[],
): Promise<PlacedRow[]> => selectPlaced(db, repositoryId, ordinals);

const selectInPlaces = statement<
  [repositoryId: string, files: readonly string[], classnames: readonly string[], limit: number],
  PlacedRow
>(`
  select ${placedColumns} from test_case where repository_id = $1 and ordinal is not null
    and ${cut('file_path')} = any ($2::text[]) and ${cut('classname')} = any ($3::text[]) limit $4`);

/** Tests of one of the files and one of the classes. */
export const listTestsInPlaces = (
  db: Tx,
  repositoryId: RepositoryId,
  places: readonly PlacedTest[],
  limit: number,
): Promise<PlacedRow[]> =>
  selectInPlaces(
    db,
    repositoryId,
    [...new Set(places.map(({ file }) => file))],
    [...new Set(places.map(({ classname }) => classname))],
    limit,
  );

const selectWithHistory = statement<
  [repositoryId: string, ordinals: readonly number[]],
  { ordinal: number }
>(`
  select ordinal from test_history where repository_id = $1 and ordinal = any ($2::int[])
  union
  select ordinal from test_case where repository_id = $1 and ordinal = any ($2::int[])
    and (manual_status is not null or quarantine_setting <> 'AUTO_QUARANTINE' or ticket_id is not null)`);

/** Those of which more is known than that they passed. */
export const findTestsWithHistory = async (
  db: Tx,
  repositoryId: RepositoryId,
  ordinals: readonly number[],
): Promise<ReadonlySet<number>> =>
  new Set((await selectWithHistory(db, repositoryId, ordinals)).map((row) => row.ordinal));

const selectFormerIds = statement<[repositoryId: string, ids: readonly string[]], { former_id: string }>(`
  select former_id from test_rename
  where repository_id = $1 and former_id = any ($2::uuid[]) and state = 'active'`);

/** Those that have another name now, under which their history continues. */
export const findRenamedTests = async (
  db: Tx,
  repositoryId: RepositoryId,
  ids: readonly string[],
): Promise<ReadonlySet<string>> =>
  new Set((await selectFormerIds(db, repositoryId, ids)).map((row) => row.former_id));
