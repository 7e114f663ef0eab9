// Writes test_rename, and the column of test_numbering that says which uploads are searched for renamed tests.

import type { FollowedRename } from '#core/health/rename/follow-rename.ts';
import type { FoundRename } from '#core/health/rename/find-renames.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';
import type { CarriedTerms } from './carried-store.ts';

type RenameKind = FoundRename['kind'] | 'stated';
type RenameState = FollowedRename['state'] | 'undone' | 'ended';

export type RenameRow = {
  readonly test_case_id: string;
  readonly former_id: string;
  readonly kind: RenameKind;
  readonly state: RenameState;
  readonly former_name: string;
  readonly former_file_path: string | null;
  readonly former_classname: string | null;
  readonly sha: string;
  readonly renamed_at: Date;
  readonly carries_quarantine: boolean;
  readonly decided_by: string | null;
  readonly carried: CarriedTerms | null;
};

export const renameColumns = `r.test_case_id, r.former_id, r.kind, r.state, r.former_name, r.former_file_path,
  r.former_classname, r.sha, r.renamed_at, r.carries_quarantine, r.decided_by, r.carried`;

const selectRename = statement<[repositoryId: string, testCaseId: string, formerId: string], RenameRow>(`
  select ${renameColumns} from test_rename r
  where r.repository_id = $1 and r.test_case_id = $2 and r.former_id = $3`);

export const findRename = async (
  tx: Tx,
  { repositoryId }: TestsLock,
  testCaseId: string,
  formerId: string,
): Promise<RenameRow | null> => (await selectRename(tx, repositoryId, testCaseId, formerId))[0] ?? null;

const selectRivals = statement<[repositoryId: string, testCaseId: string, formerId: string], RenameRow>(`
  select ${renameColumns} from test_rename r
  where r.repository_id = $1 and r.state in ('suspected', 'active')
    and (r.test_case_id = $2 or r.former_id = $3) and not (r.test_case_id = $2 and r.former_id = $3)`);

/** Other renames of the test, and other tests that the former test is thought to be. */
export const listRivalRenames = (
  tx: Tx,
  { repositoryId }: TestsLock,
  testCaseId: string,
  formerId: string,
): Promise<RenameRow[]> => selectRivals(tx, repositoryId, testCaseId, formerId);

export type OpenRename = RenameRow &
  Pick<FollowedRename, 'job' | 'variant' | 'branch' | 'agreed' | 'returned'> & {
    readonly state: FollowedRename['state'];
    readonly last_sha: string;
    readonly ordinal: number;
    readonly former_ordinal: number;
  };

/** The most renames of a repository that are followed. */
const openMax = 2_000;

const selectOpen = statement<[repositoryId: string, since: Date], OpenRename>(`
  select ${renameColumns}, r.job, r.variant, r.branch, r.agreed, r.returned, r.last_sha, c.ordinal, f.ordinal as former_ordinal
  from test_rename r
  join test_case c on c.repository_id = $1 and c.id = r.test_case_id
  join test_case f on f.repository_id = $1 and f.id = r.former_id
  where r.repository_id = $1 and r.state in ('suspected', 'active') and r.decided_by is null and r.renamed_at > $2
    and c.ordinal is not null and f.ordinal is not null
  order by r.renamed_at desc, r.test_case_id limit ${openMax}`);

/** Renames that were found since then, and that no person has decided about. */
export const listOpenRenames = (tx: Tx, { repositoryId }: TestsLock, since: Date): Promise<OpenRename[]> =>
  selectOpen(tx, repositoryId, since);

const selectUndecided = statement<[repositoryId: string], { is_undecided: boolean }>(`
  select exists (select from test_rename where repository_id = $1 and state in ('suspected', 'active')
    and decided_by is null and (state = 'suspected' or returned > 0)) as is_undecided`);

/** Whether the next upload of the default branch may decide about a rename. */
export const hasUndecidedRenames = async (tx: Tx, { repositoryId }: TestsLock): Promise<boolean> =>
  (await selectUndecided(tx, repositoryId))[0]!.is_undecided;

export type NewRename = Pick<
  RenameRow,
  | 'test_case_id'
  | 'former_id'
  | 'kind'
  | 'former_name'
  | 'former_file_path'
  | 'former_classname'
  | 'sha'
  | 'renamed_at'
> &
  Pick<FollowedRename, 'job' | 'variant' | 'branch'>;

// A pair that was undone stays undone, and a test is part of one rename at a time.
const insertRenames = statement<[repositoryId: string, rows: string]>(`
  insert into test_rename (repository_id, test_case_id, former_id, kind, state, former_name, former_file_path,
    former_classname, job, variant, branch, sha, renamed_at, last_sha)
  select $1::uuid, r.test_case_id, r.former_id, r.kind, 'suspected', r.former_name, r.former_file_path, r.former_classname,
    r.job, r.variant, r.branch, r.sha, r.renamed_at, r.sha
  from jsonb_to_recordset($2::jsonb) as r (test_case_id uuid, former_id uuid, kind text, former_name text,
    former_file_path text, former_classname text, job text, variant text, branch text, sha text,
    renamed_at timestamptz)
  on conflict do nothing`);

export async function putSuspectedRenames(
  tx: Tx,
  { repositoryId }: TestsLock,
  renames: readonly NewRename[],
): Promise<void> {
  if (renames.length > 0) await insertRenames(tx, repositoryId, JSON.stringify(renames));
}

const insertStated = statement<[repositoryId: string, testCaseId: string, formerId: string, now: Date]>(`
  insert into test_rename (repository_id, test_case_id, former_id, kind, state, former_name, former_file_path,
    former_classname, renamed_at)
  select $1::uuid, $2::uuid, f.id, 'stated', 'suspected', f.name, f.file_path, f.classname, $4::timestamptz
  from test_case f where f.repository_id = $1 and f.id = $3
  on conflict (repository_id, test_case_id, former_id) do nothing`);

/** For a pair that is not known yet. */
export const putStatedRename = (
  tx: Tx,
  { repositoryId }: TestsLock,
  testCaseId: string,
  formerId: string,
  now: Date,
): Promise<unknown> => insertStated(tx, repositoryId, testCaseId, formerId, now);

const updateProgress = statement<
  [string, string, string, agreed: number, returned: number, lastSha: string]
>(`
  update test_rename set agreed = $4, returned = $5, last_sha = $6
  where repository_id = $1 and test_case_id = $2 and former_id = $3`);

export const noteRenameProgress = (
  tx: Tx,
  { repositoryId }: TestsLock,
  { test_case_id: id, former_id: formerId }: RenameRow,
  { agreed, returned, lastSha }: Pick<FollowedRename, 'agreed' | 'returned' | 'lastSha'>,
): Promise<unknown> => updateProgress(tx, repositoryId, id, formerId, agreed, returned, lastSha);

const deleteRename = statement<[string, string, string]>(
  'delete from test_rename where repository_id = $1 and test_case_id = $2 and former_id = $3',
);

export const removeRename = (
  tx: Tx,
  { repositoryId }: TestsLock,
  { test_case_id: id, former_id: formerId }: RenameRow,
): Promise<unknown> => deleteRename(tx, repositoryId, id, formerId);

type RenameDecision = {
  readonly state: RenameState;
  readonly carriesQuarantine: boolean;
  readonly carried: CarriedTerms | null;
  /** Null: no person decided. */
  readonly by: string | null;
};

const updateState = statement<
  [
    repositoryId: string,
    testCaseId: string,
    formerId: string,
    state: string,
    carriesQuarantine: boolean,
    carried: string | null,
    by: string | null,
    now: Date,
  ]
>(`
  update test_rename set state = $4, carries_quarantine = $5, carried = $6::jsonb, decided_by = coalesce($7, decided_by),
    decided_at = case when $7::text is null then decided_at else $8::timestamptz end
  where repository_id = $1 and test_case_id = $2 and former_id = $3`);

export const putRenameState = (
  tx: Tx,
  { repositoryId }: TestsLock,
  { test_case_id: id, former_id: formerId }: RenameRow,
  { state, carriesQuarantine, carried, by }: RenameDecision,
  now: Date,
): Promise<unknown> =>
  updateState(
    tx,
    repositoryId,
    id,
    formerId,
    state,
    carriesQuarantine,
    carried === null ? null : JSON.stringify(carried),
    by,
    now,
  );

const selectFrom = statement<[repositoryId: string], { renames_from: Date | null }>(
  'select renames_from from test_numbering where repository_id = $1',
);

/** The first upload that is to be searched; null: none is. */
export const readRenamesFrom = async (tx: Tx, { repositoryId }: TestsLock): Promise<Date | null> =>
  (await selectFrom(tx, repositoryId))[0]?.renames_from ?? null;

const updateFrom = statement<[repositoryId: string, from: Date | null]>(
  'update test_numbering set renames_from = $2 where repository_id = $1',
);

export const putRenamesFrom = (tx: Tx, { repositoryId }: TestsLock, from: Date | null): Promise<unknown> =>
  updateFrom(tx, repositoryId, from);

const lowerFrom = statement<[repositoryId: string, from: Date]>(
  'update test_numbering set renames_from = least(renames_from, $2) where repository_id = $1',
);

/** Uploads from this one on are to be searched, if earlier ones are not already. */
export const requestRenames = (tx: Tx, { repositoryId }: TestsLock, from: Date): Promise<unknown> =>
  lowerFrom(tx, repositoryId, from);
