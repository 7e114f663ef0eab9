// Reads the stored uploads of a repository that were not read yet, in batches: they are read outside of any
// transaction, and a batch is written in one. Each upload is processed at least once: it stays stored until
// the transaction that writes its results. An upload that cannot be read ends as failed, with the reason; one
// that repeatedly ends the worker is read alone from the third time on, and given up after the tenth.

import type { UploadProblem } from '#core/health/reported-case.ts';
import { listStored, noteBegun, putIngested, type StoredUpload } from '#db/health/ingest-store.ts';
import { enqueueIngest, type JobPayloads } from '#db/job/job.ts';
import { readNumbering } from '#db/health/numbering-store.ts';
import { findRepository } from '#db/account/repository-store.ts';
import { findHealthContext } from '#db/health/verdict-store.ts';
import type { TaskDeps } from '../deps.ts';
import { collectUploadMetadata, uploadColumns } from './ingest-about.ts';
import { writeOwners } from './ingest-owners.ts';
import { readUpload, type ReadUpload } from './ingest-read.ts';
import { writeUploads } from './ingest-write.ts';
import { refreshNumbers, getTestMemory } from './test-memory.ts';

/**
 * Uploads written by one transaction, and their bytes: some hundred thousand results, as CI compresses them.
 */
const uploadsMax = 32;
const bytesMax = 2 * 1024 * 1024;
const aloneFromTry = 2;
const triesMax = 10;
/** After this time other jobs get a turn. */
const turnMs = 20_000;

type IngestDeps = Pick<TaskDeps, 'cell' | 'clock' | 'blobs' | 'log'>;
type IngestRepositoryId = JobPayloads['ingest-upload']['repositoryId'];

/** While PostgreSQL writes one batch, this process reads the next. */
export async function ingestUpload(deps: IngestDeps, payload: JobPayloads['ingest-upload']): Promise<void> {
  const startedAt = performance.now();
  let writing: Promise<void> = Promise.resolve();
  let underWay: ReadonlySet<string> = new Set();
  try {
    while (performance.now() - startedAt <= turnMs) {
      const batch = await readSome(deps, payload.repositoryId, underWay);
      await writing;
      // New uploads may have arrived while the last batch was written.
      if (batch === null && underWay.size === 0) return;
      underWay = new Set(batch?.ids);
      writing = batch?.write() ?? Promise.resolve();
      writing.catch(() => undefined);
    }
    await writing;
    await enqueueIngest(deps.cell.db, payload);
  } finally {
    await writing.catch(() => undefined);
  }
}

type UploadBatch = { readonly ids: readonly string[]; readonly write: () => Promise<void> };

/** Null: none is left but those being written. */
async function readSome(
  deps: IngestDeps,
  repositoryId: IngestRepositoryId,
  underWay: ReadonlySet<string>,
): Promise<UploadBatch | null> {
  const { cell, clock, blobs } = deps;
  const stored = await listStored(cell.db, repositoryId, uploadsMax + underWay.size);
  const batch = together(stored.filter(({ id }) => !underWay.has(id)).slice(0, uploadsMax));
  if (batch.length === 0) return null;
  const repository = await findRepository(cell.db, repositoryId);
  const context = await findHealthContext(cell.db, repositoryId);
  if (repository === null || context === null) return null;
  await noteBegun(cell.db, repositoryId, batch);
  const memory = getTestMemory(cell, repositoryId);
  const numbering = await readNumbering(cell.db, repositoryId);
  await refreshNumbers(cell.db, memory, numbering);
  const { organizationSlug, defaultBranches, settings } = context;
  const read = { cell, blobs, memory, context: { organizationSlug, repository }, defaultBranches };
  const reads: ReadUpload[] = [];
  for (const upload of batch) {
    const found = upload.tries >= triesMax ? null : await readUpload(read, upload);
    if (found === null) await giveUp(deps, repositoryId, upload, defaultBranches);
    else reads.push(found);
  }
  return {
    ids: batch.map(({ id }) => id),
    write: async () => {
      await writeOwners(cell, repositoryId, numbering, reads);
      if (reads.length > 0) await writeUploads({ cell, memory, settings, now: clock.now() }, reads);
    },
  };
}

/** The first uploads that fit into one batch. */
function together(stored: readonly StoredUpload[]): readonly StoredUpload[] {
  const [first] = stored;
  if (first === undefined || first.tries >= aloneFromTry) return stored.slice(0, 1);
  let bytes = 0;
  const batch = stored.filter((upload) => {
    bytes += upload.content_bytes;
    return bytes <= bytesMax && upload.tries < aloneFromTry;
  });
  return batch.length === 0 ? [first] : batch;
}

async function giveUp(
  { cell, clock }: IngestDeps,
  repositoryId: IngestRepositoryId,
  upload: StoredUpload,
  defaultBranches: readonly string[],
): Promise<void> {
  const problem: UploadProblem =
    upload.tries >= triesMax
      ? {
          file: '',
          code: 'GAVE_UP',
          message: 'Signalbox failed to read it ten times. Send it again.',
          count: 1,
        }
      : {
          file: '',
          code: 'BYTES_LOST',
          message: 'Its content is no longer in the upload storage. Send it again.',
          count: 1,
        };
  const nothing = { tests: 0, passed: 0, failed: 0, flaky: 0, skipped: 0, quarantined: 0 };
  const row = {
    ...uploadColumns(upload, collectUploadMetadata(upload, null, defaultBranches)),
    state: 'failed',
    ...nothing,
    usual_tests: null,
    missing_tests: null,
    is_suspect: false,
    is_complete: false,
    problems: [problem],
  } as const;
  await putIngested(cell.db, repositoryId, [row], clock.now());
}
