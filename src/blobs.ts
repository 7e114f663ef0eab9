// Where the bytes of uploads are stored: in the database of their cell, or in an S3-compatible store.

import type { Log } from '#base/log.ts';
import type { BlobStore } from '#blob/blob.ts';
import type { Config } from '#config/env.ts';
import { createBlobStore } from '#db/health/blob-store.ts';
import type { Cell } from '#db/cell.ts';

export type BlobsOf = (cell: Cell) => BlobStore;

/**
 * If the store refuses an operation that Signalbox needs, the service does not start: waiting would not help.
 * If the store does not answer, the service starts: queues work without it, and uploads are sent again.
 */
export async function openBlobs(config: Config['blob'], log: Log): Promise<BlobsOf> {
  if (config === null) return createBlobStore;
  // The S3 client is large, and most installations do not need it.
  const { createS3Blobs } = await import('#blob/s3.ts');
  const blobs = createS3Blobs(config);
  const { bucket, endpoint, prefix } = config;
  const found = await blobs.check();
  switch (found.kind) {
    case 'usable':
      log.info({ bucket, prefix, endpoint }, 'uploads are stored in S3');
      break;
    case 'away':
      log.warn({ bucket, prefix, endpoint, reason: found.reason }, 'upload store unreachable');
      break;
    case 'refused':
      throw new Error(
        `SIGNALBOX_BLOB_URL: the bucket ${bucket} of ${endpoint ?? 'Amazon S3'} cannot be written and read: ${found.reason}. See docs/how-to/operating.md for what a key must be allowed to do.`,
      );
  }
  return () => blobs;
}
