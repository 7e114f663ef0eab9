// Accepting uploads. The bytes are stored before the row is written, and the row and the job that reads them
// commit together: an accepted upload can always be read, whichever process ends in between.

import { enqueueIngest } from '#db/job/job.ts';
import type { Cell } from '#db/cell.ts';
import { withTransaction } from '#db/transaction.ts';
import {
  findSameUpload,
  insertAwaited,
  insertStored,
  lockUploadContent,
  lockUploadState,
  markStored,
  type NewUpload,
  type UploadContent,
  type UploadKey,
  type UploadSource,
} from '#db/health/upload-store.ts';

/** `source`: what its content cannot say otherwise. */
export async function expectUpload(
  cell: Cell,
  upload: NewUpload,
  source: Partial<UploadSource>,
): Promise<void> {
  await insertAwaited(cell.db, upload, source);
}

type ReportUpload = {
  readonly upload: NewUpload;
  readonly source: UploadSource;
  readonly content: UploadContent;
  /** Writes the bytes to their store. */
  readonly storeBytes: () => Promise<void>;
};

/** One report in one request; the id is that of an earlier upload with the same content, if there is one. */
export async function acceptReport(cell: Cell, report: ReportUpload): Promise<{ readonly uploadId: string }> {
  const { upload, source, content, storeBytes } = report;
  const known = await findSameUpload(cell.reader, upload, content.hash, source);
  if (known !== null) return { uploadId: known };
  await storeBytes();
  return withTransaction(cell, async (tx) => {
    await lockUploadContent(tx, upload.repositoryId, content.hash);
    const same = await findSameUpload(tx, upload, content.hash, source);
    if (same !== null) return { uploadId: same };
    await insertStored(tx, upload, content, source);
    await enqueueIngest(tx, toIngestJob(upload));
    return { uploadId: upload.uploadId };
  });
}

/** stored; same: these bytes were stored before; other: different ones were; gone: no such upload. */
export type BundleOutcome = 'stored' | 'same' | 'other' | 'gone';

/** The announced bundle has arrived, and its bytes are stored. */
export function acceptBundle(
  cell: Cell,
  key: UploadKey,
  content: UploadContent,
  now: Date,
): Promise<BundleOutcome> {
  return withTransaction(cell, async (tx) => {
    await lockUploadContent(tx, key.repositoryId, content.hash);
    const row = await lockUploadState(tx, key);
    if (row === null) return 'gone';
    if (row.state !== 'awaited')
      return row.content_hash !== null && content.hash.equals(row.content_hash) ? 'same' : 'other';
    const same = await findSameUpload(tx, { ...key, trust: row.trust }, content.hash, null);
    await markStored(tx, key, content, same, now);
    if (same === null) await enqueueIngest(tx, toIngestJob(key));
    return 'stored';
  });
}

const toIngestJob = ({ repositoryId, uploadId, uploadedAt }: UploadKey) => ({
  repositoryId,
  uploadId,
  uploadedAt: uploadedAt.getTime(),
});
