// Writes test_split: how long test files take, as the first shard of a run on a commit was answered. All other shards of
// the run get the same answer, whatever was uploaded meanwhile: with another one they would divide the files
// differently, and a file would run in no shard.

import type { RepositoryId } from '#base/id.ts';
import type { TestPlace } from '#core/health/split/match-file.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

export type SplitKey = {
  readonly repositoryId: RepositoryId;
  readonly sha: string;
  /** Of the list of files, and of what else the answer depends on. */
  readonly filesHash: Buffer;
};

/** In milliseconds, for each file of the list; null: unknown. */
export type FileDurations = readonly (number | null)[];

const selectSplit = statement<
  [repositoryId: string, sha: string, filesHash: Buffer],
  { durations_ms: FileDurations }
>('select durations_ms from test_split where repository_id = $1 and sha = $2 and files_hash = $3');

export async function findSplit(
  db: Tx,
  { repositoryId, sha, filesHash }: SplitKey,
): Promise<FileDurations | null> {
  const [row] = await selectSplit(db, repositoryId, sha, filesHash);
  return row?.durations_ms ?? null;
}

export type MeasuredDurations = { readonly durations: FileDurations; readonly measuredAt: Date };

const selectMeasured = statement<
  [repositoryId: string, filesHash: Buffer, since: Date],
  { durations_ms: FileDurations; measured_at: Date }
>(`
  select durations_ms, measured_at from test_split
  where repository_id = $1 and files_hash = $2 and measured_at >= $3 and array_position(durations_ms, null) is null
  order by measured_at desc, created_at desc limit 1`);

/** The durations of the same files, measured since then for any commit, if those of all files were known. */
export async function findMeasured(
  db: Tx,
  { repositoryId, filesHash }: SplitKey,
  since: Date,
): Promise<MeasuredDurations | null> {
  const [row] = await selectMeasured(db, repositoryId, filesHash, since);
  return row === undefined ? null : { durations: row.durations_ms, measuredAt: row.measured_at };
}

const insertSplit = statement<
  [
    repositoryId: string,
    filesHash: Buffer,
    sha: string,
    durationsMs: FileDurations,
    measuredAt: Date,
    createdAt: Date,
  ]
>(`
  insert into test_split (repository_id, files_hash, sha, durations_ms, measured_at, created_at)
  values ($1, $2, $3, $4::int[], $5, $6) on conflict do nothing`);

/** Stores the durations, and answers with those that were stored first. */
export async function putSplit(
  db: Tx,
  key: SplitKey,
  { durations, measuredAt }: MeasuredDurations,
  now: Date,
): Promise<FileDurations> {
  await insertSplit(db, key.repositoryId, key.filesHash, key.sha, durations, measuredAt, now);
  return (await findSplit(db, key)) ?? durations;
}

const selectPlaces = statement<
  [repositoryId: string, ordinals: readonly number[]],
  TestPlace & { variant: string; ordinals: readonly number[] }
>(`
  select coalesce(file_path, '') as file, coalesce(classname, '') as classname, variant, array_agg(ordinal) as ordinals
  from test_case where repository_id = $1 and ordinal = any ($2::int[]) group by 1, 2, 3`);

/** Where the tests with these numbers are: those of one class together. */
export const listTestPlaces = (
  db: Tx,
  repositoryId: RepositoryId,
  ordinals: readonly number[],
): Promise<readonly (TestPlace & { readonly variant: string; readonly ordinals: readonly number[] })[]> =>
  selectPlaces(db, repositoryId, ordinals);
