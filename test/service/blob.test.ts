import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createS3Blobs, type S3Blobs, type S3Options } from '#blob/s3.ts';
import { createBlobStore } from '#db/health/blob-store.ts';
import { ensurePartitions } from '#db/partition.ts';
import { bytesOf, describeBlobStore, newKey } from '../support/blob-contract.ts';
import { openTestCell } from '../support/database.ts';
import { type S3Server, startS3 } from '../s3/server.ts';

const mebibyte = 1024 * 1024;

describe('PostgreSQL', () => {
  let world: Awaited<ReturnType<typeof openTestCell>>;
  beforeAll(async () => {
    world = await openTestCell();
    await ensurePartitions(world.cell.db, new Date());
  });
  afterAll(() => world.close());

  describeBlobStore('PostgreSQL', () => createBlobStore(world.cell));
});

describe('an S3-compatible store', () => {
  let s3: S3Server;
  let blobs: S3Blobs;
  beforeAll(async () => {
    s3 = await startS3();
    blobs = createS3Blobs(s3.options);
  });
  afterAll(async () => {
    blobs.close();
    await s3.stop();
  });

  describeBlobStore('S3', () => blobs);

  const withOptions = (options: Partial<S3Options>) => createS3Blobs({ ...s3.options, ...options });

  it('holds an upload by its day under the prefix', async () => {
    const key = { ...newKey(), uploadedAt: new Date('2026-03-01T23:59:59Z') };
    await blobs.write(key, bytesOf(1000));
    expect(await s3.names()).toContain(`ci/2026-03-01/${key.uploadId}`);
  });

  it('is left without parts by what broke off', async () => {
    async function* broken() {
      yield* bytesOf(20 * mebibyte);
      // Until now it was under way: the test would notice if parts were never made.
      expect(await s3.unfinished()).toHaveLength(1);
      throw new Error('the client hung up');
    }
    await expect(blobs.write(newKey(), broken())).rejects.toThrow('the client hung up');
    expect(await s3.unfinished()).toEqual([]);
  });

  it('is usable when it can be written and read', async () => {
    expect(await blobs.check()).toEqual({ kind: 'usable' });
  });

  it('is refused with the reason when the key or the bucket is not right', async () => {
    const credentials = { accessKeyId: 'test-access-key', secretAccessKey: 'wrong' };
    expect(await withOptions({ credentials }).check()).toEqual({
      kind: 'refused',
      reason: 'SignatureDoesNotMatch (403)',
    });
    expect(await withOptions({ bucket: 'nowhere' }).check()).toEqual({
      kind: 'refused',
      reason: 'NoSuchBucket (404)',
    });
  });

  it('does not say that an upload is not there when the bucket is not', async () => {
    await expect(withOptions({ bucket: 'nowhere' }).read(newKey())).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
  });
});

describe('an S3-compatible store that goes away', () => {
  it('is away, and an upload under way fails so that it is sent again', async () => {
    const s3 = await startS3();
    const blobs = createS3Blobs(s3.options);
    async function* endingTheServer() {
      yield* bytesOf(20 * mebibyte);
      await s3.stop();
      yield* bytesOf(20 * mebibyte);
    }
    await expect(blobs.write(newKey(), endingTheServer())).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(await blobs.check()).toMatchObject({
      kind: 'away',
      reason: expect.stringContaining('ECONNREFUSED'),
    });
    blobs.close();
  });
});
