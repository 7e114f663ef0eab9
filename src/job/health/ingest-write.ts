// Writes the uploads of one repository in one transaction under the lock of its tests: readers see an upload
// with everything that follows from it, or not at all. An upload that another process has ingested meanwhile
// is skipped, so reading one twice changes nothing.

import { classifyTests } from '#command/classify-tests.ts';
import { packDurations } from '#core/health/segment.ts';
import type { ResolvedHealthSettings } from '#core/health/settings.ts';
import type { Cell, Tx } from '#db/cell.ts';
import { countFailures, putFailures, putTexts } from '#db/health/failure-store.ts';
import { addHours, startOfHour, putHistories } from '#db/health/history-store.ts';
import {
  findStillStored,
  type IngestedUpload,
  putIngested,
  type WaitingUpload,
} from '#db/health/ingest-store.ts';
import { enqueueRenames, enqueueStatusComments } from '#db/job/job.ts';
import { lockNumbering, noteWatchChange } from '#db/health/numbering-store.ts';
import {
  countShapes,
  putSegments,
  putShape,
  type SegmentRow,
  type Shape,
  createShape,
} from '#db/health/segment-store.ts';
import { hasUndecidedRenames, requestRenames } from '#db/rename/rename-store.ts';
import { putTestJobs } from '#db/health/test-job-store.ts';
import { markStatusCommentsDue } from '#db/queue/status-comment-store.ts';
import { type TestsLock, withTestsLock } from '#db/transaction.ts';
import { countImpact, findTestHealth } from '#db/health/verdict-store.ts';
import { uploadColumns } from './ingest-about.ts';
import { prepareFailureWrites, type ClassifiedTests } from './ingest-failure.ts';
import { changeHistories, type ChangedHistory, type GuardedUpload } from './ingest-history.ts';
import type { ReadUpload } from './ingest-read.ts';
import { countReports, narrowToFix } from './ingest-fix.ts';
import { loadUsualJobs, type Usual } from './ingest-usual.ts';
import { refreshWatched, rememberShape, type TestMemory } from './test-memory.ts';

type WriteDeps = {
  readonly cell: Cell;
  readonly memory: TestMemory;
  readonly settings: ResolvedHealthSettings;
  readonly now: Date;
};

/** In the order they arrived. */
export async function writeUploads(deps: WriteDeps, reads: readonly ReadUpload[]): Promise<void> {
  const { cell, memory } = deps;
  try {
    const watchedNow = await withTestsLock(cell, memory.repositoryId, async (tx, lock) => {
      const numbering = await lockNumbering(tx, lock);
      if (reads.some((read) => read.generation !== numbering.generation && read.runs.ordinals.length > 0))
        throw new Error('Tests were removed while uploads were being read. Signalbox reads them again.');
      await refreshWatched(tx, memory, numbering);
      const waiting = await findStillStored(
        tx,
        lock,
        reads.map(({ upload, about: { sha } }) => ({ upload, sha })),
      );
      const fresh = reads.filter((read) => waiting.has(read.upload.id));
      return fresh.length === 0 ? [] : write(tx, lock, deps, fresh, waiting);
    });
    // Only committed changes are cached.
    for (const ordinal of watchedNow) memory.watched[ordinal] = 1;
    if (watchedNow.length > 0) memory.watchVersion++;
  } catch (error) {
    memory.watchVersion = -1;
    memory.shapes.clear();
    throw error;
  }
}

/** Returns the numbers of tests that are watched from now on. */
async function write(
  tx: Tx,
  lock: TestsLock,
  { memory, settings, now }: WriteDeps,
  reads: readonly ReadUpload[],
  waiting: ReadonlyMap<string, WaitingUpload>,
): Promise<readonly number[]> {
  const usualJobs = await loadUsualJobs(tx, lock.repositoryId, reads);
  const usuals = new Map<string, Usual>();
  // What a run that verifies a fix reports says nothing about whole runs: neither how long tests take, nor which are usual.
  const isWhole = ({ upload }: ReadUpload) => waiting.get(upload.id)!.fix === null;
  const shapes = await putResults(tx, lock, memory, reads, isWhole);
  for (const [index, read] of reads.entries())
    usuals.set(
      read.upload.id,
      await usualJobs.compare(read, shapes[index]!, waiting.get(read.upload.id)!.selectedTests),
    );
  const guarded = reads.map((read): GuardedUpload => ({
    ...narrowToFix(read, waiting.get(read.upload.id)!.fix),
    isSuspect: usuals.get(read.upload.id)!.isSuspect,
    isUnusual: usuals.get(read.upload.id)!.isUnusual,
  }));
  const feeding = guarded.filter(({ read }) => read.upload.trust === 'full');
  const { tests, hours } = await changeHistories(tx, memory, feeding);
  const isCounted = (read: ReadUpload) =>
    read.upload.trust === 'full' && read.runs.ordinals.length > 0 && isWhole(read);
  await countShapes(
    tx,
    lock,
    reads.flatMap((read, index) => (isCounted(read) ? [shapeRun(read, shapes[index]!)] : [])),
  );
  const classified = await classify(tx, lock, guarded, tests, { settings, now });
  const failures = await prepareFailureWrites(tx, lock, guarded, classified);
  await putTexts(
    tx,
    lock,
    reads.flatMap((read) => read.texts),
    now,
  );
  await putFailures(tx, lock, failures.rows);
  await countFailures(tx, lock, failures.groups);
  await addHours(tx, lock, hours);
  await putTestJobs(tx, lock, usualJobs.changed());
  await searchRenames(
    tx,
    lock,
    guarded.filter(({ read }) => isWhole(read)),
    usuals,
  );
  const impacted = failures.rows.filter((row) => row.was_unhealthy && row.pr_number !== null);
  await countImpact(tx, lock, [...new Set(impacted.map((row) => row.test_case_id))], now);
  const watchedNow = [...tests.values()].filter(({ isNew }) => isNew).map(({ test }) => test.ordinal);
  if (watchedNow.length > 0) await noteWatchChange(tx, lock);
  const rows = reads.map((read) =>
    buildIngestedUpload(read, usuals.get(read.upload.id)!, failures.quarantined.get(read.upload.id) ?? 0),
  );
  await putIngested(tx, lock.repositoryId, rows, now);
  await countReports(tx, lock, feeding, waiting);
  const failing = rows.filter(({ failed }) => failed > 0);
  for (const queueId of await markStatusCommentsDue(tx, lock.repositoryId, failing))
    await enqueueStatusComments(tx, queueId, 'soon');
  return watchedNow;
}

const shapeRun = ({ upload, about }: ReadUpload, { hash }: Shape) => ({
  hour: startOfHour(upload.uploaded_at),
  shape: hash,
  branchClass: about.branchClass,
  runs: 1,
});

/** Has the default branch searched for renamed tests, from the first upload on that says there may be some. */
async function searchRenames(
  tx: Tx,
  lock: TestsLock,
  uploads: readonly GuardedUpload[],
  usuals: ReadonlyMap<string, Usual>,
): Promise<void> {
  const complete = uploads.filter(
    ({ read: { upload, about, isComplete }, isSuspect }) =>
      upload.trust === 'full' && about.branchClass === 'default' && isComplete && !isSuspect,
  );
  if (complete.length === 0) return;
  const isUndecided = await hasUndecidedRenames(tx, lock);
  const first = complete.find(({ read }) => isUndecided || usuals.get(read.upload.id)!.isReplacing);
  if (first === undefined) return;
  await requestRenames(tx, lock, first.read.upload.uploaded_at);
  await enqueueRenames(tx, lock.repositoryId);
}

/** Stores shapes and segments; returns the shape of each upload. */
async function putResults(
  tx: Tx,
  lock: TestsLock,
  memory: TestMemory,
  reads: readonly ReadUpload[],
  isWhole: (read: ReadUpload) => boolean,
): Promise<readonly Shape[]> {
  const segments: SegmentRow[] = [];
  const shapes: Shape[] = [];
  for (const read of reads) {
    const { upload, runs } = read;
    const shape = createShape(runs.ordinals);
    shapes.push(shape);
    if (runs.ordinals.length + runs.skipped.length === 0 || !isWhole(read)) continue;
    const typical = await storeShapeDaily(tx, lock, memory, shape, runs.durations, upload.uploaded_at);
    // A test that is only skipped is in use as well: tests that are in no shape are removed later.
    const skipped = runs.skipped.length === 0 ? null : createShape(runs.skipped);
    if (skipped !== null)
      await storeShapeDaily(tx, lock, memory, skipped, new Uint8Array(), upload.uploaded_at);
    segments.push({
      uploadId: upload.id,
      uploadedAt: upload.uploaded_at,
      shape: shape.hash,
      skipped: skipped?.hash ?? null,
      body: packDurations(runs.durations, typical),
    });
  }
  await putSegments(tx, lock, segments);
  return shapes;
}

/** Stores a shape unless that was done today, and returns the durations of its first upload. */
async function storeShapeDaily(
  tx: Tx,
  lock: TestsLock,
  memory: TestMemory,
  shape: Shape,
  durations: Uint8Array,
  at: Date,
): Promise<Uint8Array> {
  const name = `${shape.hash.toString('hex')} ${at.toISOString().slice(0, 10)}`;
  const known = memory.shapes.get(name);
  if (known !== undefined) return known;
  const typical = await putShape(tx, lock, shape, durations, at);
  rememberShape(memory, name, typical);
  return typical;
}

/** Classifies the tests with new evidence, and writes their histories. */
async function classify(
  tx: Tx,
  lock: TestsLock,
  uploads: readonly GuardedUpload[],
  histories: ReadonlyMap<number, ChangedHistory>,
  { settings, now }: Pick<WriteDeps, 'settings' | 'now'>,
): Promise<ClassifiedTests> {
  const ids = uploads.flatMap(({ read }) => [...read.failures.values()].map((found) => found.testCaseId));
  const knownTests = await findTestHealth(tx, lock.repositoryId, [...new Set(ids)]);
  const significantHistories = [...histories.values()].filter(
    ({ canChangeVerdict: isSignificant }) => isSignificant,
  );
  const last = uploads.at(-1)!.read.upload.id;
  const classifications = await classifyTests(
    tx,
    lock,
    significantHistories.map(({ test }) => test),
    { settings, trigger: { kind: 'upload', uploadId: last }, now },
  );
  await putHistories(
    tx,
    lock,
    [...histories.values()].map(({ test }) => ({
      ...test,
      activeMonitors: classifications.get(test.testCaseId)?.activeMonitors ?? test.activeMonitors,
    })),
  );
  const statuses = new Map([...classifications].map(([id, { status }]) => [id, status]));
  return { histories, statuses, standings: knownTests };
}

function buildIngestedUpload(read: ReadUpload, usual: Usual, quarantined: number): IngestedUpload {
  const { upload, about, runs } = read;
  const counts = [0, 0, 0];
  for (const code of runs.outcomes) counts[code]!++;
  const isEmpty = runs.ordinals.length + runs.skipped.length === 0;
  return {
    ...uploadColumns(upload, about),
    // A report without tests that has problems or is incomplete must not count as a success.
    state: isEmpty && (read.problems.length > 0 || !read.isComplete) ? 'failed' : 'ingested',
    tests: runs.ordinals.length + runs.skipped.length,
    passed: counts[0]!,
    failed: counts[1]!,
    flaky: counts[2]!,
    skipped: runs.skipped.length,
    quarantined,
    usual_tests: usual.usualTests,
    missing_tests: usual.missingTests,
    is_suspect: usual.isSuspect,
    is_complete: read.isComplete,
    problems: read.problems,
  };
}
