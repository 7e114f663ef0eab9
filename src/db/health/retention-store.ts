// Removes test data that is no longer needed. Partitioned tables drop whole months: partition.ts.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';
import { removeEmptyIncidents } from './incident-store.ts';

const deleteShapeHours = statement<[before: Date]>('delete from test_shape_hour where hour < $1');
const deleteRollups = statement<[before: Date]>('delete from test_rollup where hour < $1');
const deleteShapes = statement<[before: Date]>('delete from test_shape where last_used_at < $1');
const deleteSplits = statement<[before: Date]>('delete from test_split where created_at < $1');
const deleteMutes = statement<[before: Date]>('delete from test_mute where until < $1');
// The newest text of each way to fail is kept for as long as that is known.
const deleteTexts = statement<[before: Date]>(`
  delete from failure_text t where t.last_used_at < $1 and not exists (
    select from test_failure_group g where g.repository_id = t.repository_id and g.text_hash = t.hash)`);

const deleteGroups = statement<[before: Date]>('delete from test_failure_group where last_occurrence < $1');
const deleteIncidents = statement<[before: Date]>('delete from test_incident where closed_at < $1');
const deleteVerifications = statement<[before: Date]>('delete from fix_verification where ended_at < $1');
const deleteJobs = statement<[before: Date]>('delete from test_job where used_at < $1');

export type Deadlines = {
  /** Counts of uploads by shape, and of runs by test, by the hour. */
  readonly shapeHours: Date;
  readonly testHours: Date;
  readonly shapes: Date;
  readonly texts: Date;
  readonly mutes: Date;
  readonly splits: Date;
  /** Kinds of failure, and what CI jobs usually report. */
  readonly groups: Date;
};

export async function forgetOld(db: Tx, deadlines: Deadlines): Promise<void> {
  // Before the texts: that of a kind of failure stays for as long.
  await deleteGroups(db, deadlines.groups);
  await deleteJobs(db, deadlines.groups);
  await deleteIncidents(db, deadlines.groups);
  await deleteVerifications(db, deadlines.groups);
  await deleteShapeHours(db, deadlines.shapeHours);
  await deleteRollups(db, deadlines.testHours);
  await deleteShapes(db, deadlines.shapes);
  await deleteTexts(db, deadlines.texts);
  await deleteMutes(db, deadlines.mutes);
  await deleteSplits(db, deadlines.splits);
}

const selectRepositories = statement<[], { repository_id: RepositoryId }>(
  'select repository_id from test_numbering',
);

export async function listNumberedRepositories(db: Tx): Promise<readonly RepositoryId[]> {
  return (await selectRepositories(db)).map((row) => row.repository_id);
}

const deleteQuiet = statement<[repositoryId: string, before: Date], { ordinal: number }>(`
  delete from test_history where repository_id = $1 and last_failed_at < $2 and active_monitors = '{}'
  returning ordinal`);

/** Tests that have not failed since are not watched any more; answers with how many. */
export async function unwatchQuiet(tx: Tx, { repositoryId }: TestsLock, before: Date): Promise<number> {
  return (await deleteQuiet(tx, repositoryId, before)).length;
}

const selectShapePage = statement<
  [repositoryId: string, since: Date, after: Buffer],
  { hash: Buffer; body: Buffer }
>(`
  select hash, body from test_shape where repository_id = $1 and last_used_at >= $2 and hash > $3
  order by hash limit 100`);

/** A part of the shapes that were in use since then, by their hashes. */
export const listShapePage = (
  db: Tx,
  repositoryId: RepositoryId,
  since: Date,
  after: Buffer,
): Promise<readonly { readonly hash: Buffer; readonly body: Buffer }[]> =>
  selectShapePage(db, repositoryId, since, after);

// What a person said of a test is not forgotten before they take it back.
const deleteCases = statement<
  [repositoryId: string, ordinals: readonly number[], before: Date],
  { id: string }
>(`
  delete from test_case where repository_id = $1 and ordinal = any ($2::int[]) and created_at < $3
    and manual_status is null and quarantine_setting = 'AUTO_QUARANTINE' and ticket_id is null
  returning id`);
const belongings = ['test_history', 'test_rollup', 'test_failure_group', 'test_mute', 'test_breakage'];
const deleteBelongings = belongings.map((table) =>
  statement<[repositoryId: string, ids: readonly string[]]>(
    `delete from ${table} where repository_id = $1 and test_case_id = any ($2::uuid[])`,
  ),
);

/** Removes tests with everything that is known of them; answers with how many. */
export async function removeTests(
  tx: Tx,
  lock: TestsLock,
  ordinals: readonly number[],
  before: Date,
): Promise<number> {
  const { repositoryId } = lock;
  const ids = (await deleteCases(tx, repositoryId, ordinals, before)).map((row) => row.id);
  if (ids.length > 0) {
    for (const remove of deleteBelongings) await remove(tx, repositoryId, ids);
    await removeEmptyIncidents(tx, lock);
  }
  return ids.length;
}

const bumpGeneration = statement<[repositoryId: string]>(`
  update test_numbering set generation = generation + 1, watch_version = watch_version + 1 where repository_id = $1`);

/** Says that tests were removed: what workers remember is not right any more. */
export async function noteRemoval(tx: Tx, { repositoryId }: TestsLock): Promise<void> {
  await bumpGeneration(tx, repositoryId);
}
