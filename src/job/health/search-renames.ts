// Searches uploads of the default branch for renamed tests: after they were ingested, and only if usual tests of a job are gone
// and others appeared (ingest-usual.ts). Only complete, trusted uploads count, so neither a pull request nor a fork can rename a
// test. An upload is compared with the three before it of the same job:
//
//   gone    ran in all three, and neither ran nor was skipped in this one
//   fresh   ran in none of the three, nor in any job of the default branch in the last two weeks
//
// What core/health/rename/find-renames.ts makes of these is suspected, and believed after two further commits
// (follow-rename.ts). Only tests of which more is known than that they passed are of interest: the others have no history to
// carry over.

import { dayMs } from '#base/duration.ts';
import type { RepositoryId } from '#base/id.ts';
import { findRenames } from '#core/health/rename/find-renames.ts';
import { followRename } from '#core/health/rename/follow-rename.ts';
import { binarySearch } from '#core/health/segment.ts';
import { beginRename, endRename } from '#command/rename-test.ts';
import type { Tx } from '#db/cell.ts';
import { findHealthSettings } from '#db/health/health-settings-store.ts';
import {
  listOpenRenames,
  noteRenameProgress,
  type OpenRename,
  putRenamesFrom,
  putSuspectedRenames,
  readRenamesFrom,
  removeRename,
} from '#db/rename/rename-store.ts';
import {
  type BranchRun,
  findTestsWithHistory,
  listBranchRuns,
  listEarlierRuns,
  listPlacedTests,
  listShapesBetween,
  listTestsInPlaces,
} from '#db/rename/rename-view.ts';
import { findShape } from '#db/health/segment-store.ts';
import { enqueueRenames, type JobPayloads } from '#db/job/job.ts';
import { type TestsLock, withTestsLock } from '#db/transaction.ts';
import type { TaskDeps } from '../deps.ts';

/** Uploads of one turn: uploads wait for the lock of the tests. */
const runsMax = 10;
/** Earlier uploads of the job that must have had a test that is gone. */
const earlierRuns = 3;
/** How far back the default branch is searched for a test that is said to be new. */
const earlierDays = 14;
/** A rename is followed for so long. */
const followedDays = 30;
/** If more tests are gone or new at once, the suite was rebuilt, and nothing is compared. */
const changedMax = 10_000;
/** Earlier shapes that are searched for a test that is said to be new. With more, none counts as new. */
const shapesMax = 300;
/** Shapes that are kept in memory. */
const keptShapes = 8;
/** Tests of the same places that are read. */
const othersMax = 50_000;

export async function searchRenames(
  { cell, clock }: Pick<TaskDeps, 'cell' | 'clock'>,
  { repositoryId }: JobPayloads['find-renames'],
): Promise<void> {
  await withTestsLock(cell, repositoryId, async (tx, lock) => {
    const from = await readRenamesFrom(tx, lock);
    if (from === null) return;
    const runs = await listBranchRuns(tx, repositoryId, from, runsMax + 1);
    const shapes = createShapeReader(tx, repositoryId);
    for (const run of runs.slice(0, runsMax)) {
      await followRenames(tx, lock, run, shapes, clock.now());
      await suspectRenames(tx, lock, run, shapes);
    }
    const next = runs[runsMax];
    await putRenamesFrom(tx, lock, next?.uploaded_at ?? null);
    if (next !== undefined) await enqueueRenames(tx, repositoryId);
  });
}

type ShapeReader = (hash: Buffer | null) => Promise<Int32Array>;

function createShapeReader(tx: Tx, repositoryId: RepositoryId): ShapeReader {
  const known = new Map<string, Int32Array>();
  return async (hash) => {
    if (hash === null) return new Int32Array();
    const key = hash.toString('hex');
    const ordinals = known.get(key) ?? (await findShape(tx, repositoryId, hash)) ?? new Int32Array();
    known.delete(key);
    known.set(key, ordinals);
    for (const oldest of known.keys()) {
      if (known.size <= keptShapes) break;
      known.delete(oldest);
    }
    return ordinals;
  };
}

const holds = (ordinals: Int32Array, ordinal: number): boolean => binarySearch(ordinals, ordinal) !== -1;

/** Compares what is suspected, and what was found lately, with what this run had. */
async function followRenames(
  tx: Tx,
  lock: TestsLock,
  run: BranchRun,
  shapes: ShapeReader,
  now: Date,
): Promise<void> {
  const since = new Date(run.uploaded_at.getTime() - followedDays * dayMs);
  const open = await listOpenRenames(tx, lock, since);
  if (open.length === 0) return;
  const [ran, skipped] = [await shapes(run.shape), await shapes(run.skipped)];
  const settings = await findHealthSettings(tx, lock.repositoryId);
  const occasion = { settings, trigger: { kind: 'upload', uploadId: run.id }, now } as const;
  for (const rename of open) {
    // It began with this run or a later one.
    if (rename.renamed_at >= run.uploaded_at) continue;
    const has = (ordinal: number) => holds(ran, ordinal) || holds(skipped, ordinal);
    const { job, variant, branch, sha } = run;
    const [hasFormer, hasTest] = [has(rename.former_ordinal), has(rename.ordinal)];
    const seen = { job, variant, branch, sha, hasFormer, hasTest };
    const next = followRename(progressOf(rename), seen);
    if (next.state === 'refuted') await removeRename(tx, lock, rename);
    else if (next.state === 'ended') await endRename(tx, lock, rename, 'ended', occasion);
    else {
      const isChanged = next.lastSha !== rename.last_sha || next.returned !== rename.returned;
      if (isChanged) await noteRenameProgress(tx, lock, rename, next);
      if (rename.state === 'suspected' && next.state === 'active')
        await beginRename(tx, lock, rename, occasion);
    }
  }
}

const progressOf = ({ state, job, variant, branch, agreed, returned, last_sha: lastSha }: OpenRename) => ({
  state,
  job,
  variant,
  branch,
  agreed,
  returned,
  lastSha,
});

async function suspectRenames(tx: Tx, lock: TestsLock, run: BranchRun, shapes: ShapeReader): Promise<void> {
  const { repositoryId } = lock;
  const since = new Date(run.uploaded_at.getTime() - earlierDays * dayMs);
  const changed = await compareWithEarlier(tx, lock, run, shapes, since);
  if (changed === null) return;
  const withHistory = await findTestsWithHistory(tx, repositoryId, changed.gone);
  if (withHistory.size === 0) return;
  const gone = await listPlacedTests(tx, repositoryId, changed.gone);
  const fresh = await listPlacedTests(tx, repositoryId, changed.fresh);
  const inPlaces = await listTestsInPlaces(tx, repositoryId, [...gone, ...fresh], othersMax);
  if (inPlaces.length === othersMax) return;
  const remaining = inPlaces.filter(({ ordinal }) => changed.isRemaining(ordinal));
  const found = findRenames(gone, fresh, remaining).filter(({ former }) => withHistory.has(former));
  if (found.length === 0) return;
  const isNew = await findNewOnBranch(
    tx,
    lock,
    { since, before: run.uploaded_at },
    found.map(({ test }) => test),
    shapes,
  );
  const byOrdinal = new Map([...gone, ...fresh].map((test) => [test.ordinal, test]));
  const renames = found
    .filter(({ test }) => isNew.has(test))
    .map(({ kind, former, test }) => {
      const before = byOrdinal.get(former)!;
      return {
        test_case_id: byOrdinal.get(test)!.id,
        former_id: before.id,
        kind,
        former_name: before.name,
        former_file_path: before.file || null,
        former_classname: before.classname || null,
        job: run.job,
        variant: run.variant,
        branch: run.branch,
        sha: run.sha,
        renamed_at: run.uploaded_at,
      };
    });
  await putSuspectedRenames(tx, lock, renames);
}

/** The tests that no job of the default branch has run in the period. */
async function findNewOnBranch(
  tx: Tx,
  { repositoryId }: TestsLock,
  period: { readonly since: Date; readonly before: Date },
  tests: readonly number[],
  shapes: ShapeReader,
): Promise<ReadonlySet<number>> {
  const span = { first: Math.min(...tests), last: Math.max(...tests) };
  const earlier = await listShapesBetween(tx, repositoryId, period, span, shapesMax + 1);
  if (earlier.length > shapesMax) return new Set();
  const left = new Set(tests);
  for (const hash of earlier) {
    const ordinals = await shapes(hash);
    for (const test of left) if (holds(ordinals, test)) left.delete(test);
  }
  return left;
}

type ChangedTests = {
  readonly gone: readonly number[];
  readonly fresh: readonly number[];
  /** Whether it ran before or runs now, and is in neither list. */
  readonly isRemaining: (ordinal: number) => boolean;
};

/** Null: nothing can have been renamed. */
async function compareWithEarlier(
  tx: Tx,
  { repositoryId }: TestsLock,
  run: BranchRun,
  shapes: ShapeReader,
  since: Date,
): Promise<ChangedTests | null> {
  const earlier = await listEarlierRuns(tx, repositoryId, run, since, earlierRuns);
  const [last] = earlier;
  // A commit that runs again is no step from one commit to the next.
  if (earlier.length < earlierRuns || last!.shape.equals(run.shape) || run.sha === '') return null;
  if (earlier.some(({ sha }) => sha === run.sha)) return null;
  const [ran, skipped] = [await shapes(run.shape), await shapes(run.skipped)];
  const before: Int32Array[] = [];
  const skippedBefore: Int32Array[] = [];
  for (const one of earlier) {
    before.push(await shapes(one.shape));
    skippedBefore.push(await shapes(one.skipped));
  }
  const gone = [...without(without(before[0]!, ran), skipped)].filter((ordinal) =>
    before.every((one) => holds(one, ordinal)),
  );
  const fresh = [...[...before, ...skippedBefore].reduce(without, ran)];
  if (gone.length === 0 || fresh.length === 0) return null;
  if (gone.length > changedMax || fresh.length > changedMax) return null;
  const changed = new Set([...gone, ...fresh]);
  const known = [ran, skipped, ...before, ...skippedBefore];
  const isRemaining = (ordinal: number) => !changed.has(ordinal) && known.some((one) => holds(one, ordinal));
  return { gone, fresh, isRemaining };
}

/** The numbers of the first list that are not in the other; both ascend. */
function without(numbers: Int32Array, others: Int32Array): Int32Array {
  let at = 0;
  return numbers.filter((number) => {
    while (at < others.length && others[at]! < number) at++;
    return others[at] !== number;
  });
}
