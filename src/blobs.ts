// Where the bytes of uploads are kept: in the database of their cell, or in an S3-compatible store.

import type { Log } from '#base/log.ts';
import type { BlobStore } from '#blob/blob.ts';
import type { Config } from '#config/env.ts';
import { createBlobStore } from '#db/blob-store.ts';
import type { Cell } from '#db/cell.ts';

export type BlobsOf = (cell: Cell) => BlobStore;

/**
 * A store that refuses what is needed of it stops the start: nothing would mend it. One that does not answer does not,
 * since queues work without it, and uploads are sent again.
 */
export async function openBlobs(config: Config['blob'], log: Log): Promise<BlobsOf> {
  if (config === null) return createBlobStore;
  // Its client is large, and most installations do without it.
  const { createS3Blobs } = await import('#blob/s3.ts');
  const blobs = createS3Blobs(config);
  const { bucket, endpoint, prefix } = config;
  const found = await blobs.check();
  switch (found.kind) {
    case 'usable':
      log.info({ bucket, prefix, endpoint }, 'uploads are kept in an S3-compatible store');
      break;
    case 'away':
      log.warn({ bucket, prefix, endpoint, reason: found.reason }, 'the store of uploads does not answer');
      break;
    case 'refused':
      throw new Error(
        `SIGNALBOX_BLOB_URL: the bucket ${bucket} of ${endpoint ?? 'Amazon S3'} cannot be written and read: ${found.reason}. See docs/guide/operating.md for what a key must be allowed to do.`,
      );
  }
  return () => blobs;
}
