// Writes upload_blob: the bytes of uploads if no other store is configured. Parts are written one by one as
// they arrive, under a temporary name, and get the upload's name in one transaction at the end: a slow client
// holds no connection, two concurrent clients do not mix, and an interrupted upload never gets the name.

import { v7 as newId } from 'uuid';
import type { BlobKey, BlobStore } from '#blob/blob.ts';
import type { Cell } from '../cell.ts';
import { statement } from '../statement.ts';
import { withTransaction } from '../transaction.ts';

/** Small enough for a row, large enough that a round trip for each does not matter. */
const partBytes = 1_048_576;

const insertPart = statement<[uploadedAt: Date, id: string, part: number, bytes: Buffer]>(
  'insert into upload_blob (uploaded_at, upload_id, part, bytes) values ($1, $2, $3, $4)',
);
const deleteParts = statement<[uploadedAt: Date, id: string]>(
  'delete from upload_blob where uploaded_at = $1 and upload_id = $2',
);
const renameParts = statement<[uploadedAt: Date, from: string, to: string]>(
  'update upload_blob set upload_id = $3 where uploaded_at = $1 and upload_id = $2',
);
const selectPart = statement<[uploadedAt: Date, id: string, part: number], { bytes: Buffer }>(
  'select bytes from upload_blob where uploaded_at = $1 and upload_id = $2 and part = $3',
);
const lockName = statement<[id: string]>('select pg_advisory_xact_lock(hashtextextended($1, 0))');

export function createBlobStore(cell: Cell): BlobStore {
  return {
    write: (key, bytes) => writeBlob(cell, key, bytes),
    read: (key) => readBlob(cell, key),
  };
}

async function writeBlob(cell: Cell, key: BlobKey, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const { uploadId, uploadedAt } = key;
  const attemptId = newId();
  try {
    let part = 0;
    for await (const piece of inParts(bytes)) await insertPart(cell.db, uploadedAt, attemptId, part++, piece);
    await withTransaction(cell, async (tx) => {
      await lockName(tx, `blob:${uploadId}`);
      await deleteParts(tx, uploadedAt, uploadId);
      await renameParts(tx, uploadedAt, attemptId, uploadId);
    });
  } catch (error) {
    // If this fails too, the remaining parts have no upload's name and are dropped with their month.
    await deleteParts(cell.db, uploadedAt, attemptId).catch(() => undefined);
    throw error;
  }
}

async function* inParts(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let isFirst = true;
  for await (const chunk of bytes) {
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < partBytes) continue;
    yield Buffer.concat(held);
    held = [];
    heldBytes = 0;
    isFirst = false;
  }
  // An empty upload is one empty part: it must differ from a missing one.
  if (heldBytes > 0 || isFirst) yield Buffer.concat(held);
}

async function readBlob(
  cell: Cell,
  { uploadId, uploadedAt }: BlobKey,
): Promise<AsyncIterable<Uint8Array> | null> {
  const [first] = await selectPart(cell.db, uploadedAt, uploadId, 0);
  if (first === undefined) return null;
  return (async function* () {
    let next: { readonly bytes: Buffer } | undefined = first;
    for (let part = 1; next !== undefined; part++) {
      yield next.bytes;
      [next] = await selectPart(cell.db, uploadedAt, uploadId, part);
    }
  })();
}
