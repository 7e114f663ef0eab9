// Uploads in an S3-compatible store. What fits into one part is put as it is; anything larger goes as parts, one after
// the other, so that an upload holds one of them in memory, whatever its size. An object has its name only once
// it is whole: a stream that breaks off, and a store that stops answering, leave nothing that could be read, and the
// parts are given up. If even that fails, a rule of the bucket removes them (docs/guide/operating.md).
//
// What the client throws carries the access key and parts of the signed request. It is told by name and status alone.

import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  GetObjectCommand,
  NoSuchKey,
  PutObjectCommand,
  S3Client,
  type S3ClientConfig,
  S3ServiceException,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { type AppError, appError } from '#base/error.ts';
import type { BlobKey, BlobStore } from './blob.ts';

export type S3Options = {
  readonly bucket: string;
  /** In front of every name, without slashes around it; empty: nothing. */
  readonly prefix: string;
  /** Null: Amazon's own, by the region. */
  readonly endpoint: string | null;
  /** Null: where the client's own settings say (`AWS_REGION`, a profile). */
  readonly region: string | null;
  /** Whether the bucket is in the path of an address, or else in its host name. */
  readonly forcePathStyle: boolean;
  /** Null: found by the client: environment, profile, or the role of the machine. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
};

export type S3Blobs = BlobStore & {
  /** Writes and reads a small object, which is all that is needed of the bucket. */
  readonly check: () => Promise<S3Check>;
  readonly close: () => void;
};

/** refused: asking again will not help; away: it may. `reason` is for a person and holds no secret. */
type S3Check = { readonly kind: 'usable' } | { readonly kind: 'refused' | 'away'; readonly reason: string };

/** At least the 5 MiB that S3 asks for; 10,000 of them, the most it takes, are 78 GiB. */
const partBytes = 8 * 1024 * 1024;

export function createS3Blobs(options: S3Options): S3Blobs {
  const client = new S3Client(clientConfigOf(options));
  const bucket: Bucket = { client, Bucket: options.bucket };
  const nameOf = (name: string) => (options.prefix === '' ? name : `${options.prefix}/${name}`);
  return {
    write: (key, bytes) => write(bucket, nameOf(blobName(key)), bytes),
    read: (key) => read(bucket, nameOf(blobName(key))),
    check: () => check(bucket, nameOf('check')),
    close: () => client.destroy(),
  };
}

function clientConfigOf({ endpoint, region, forcePathStyle, credentials }: S3Options): S3ClientConfig {
  return {
    ...(endpoint === null ? {} : { endpoint }),
    ...(region === null ? {} : { region }),
    ...(credentials === null ? {} : { credentials }),
    forcePathStyle,
    maxAttempts: 4,
    // Bodies are signed with their hash anyway. Checksums in trailers are what many compatible stores do not know.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // Idle, not in total: a large object may take as long as it moves.
    requestHandler: { connectionTimeout: 5_000, socketTimeout: 60_000 },
  };
}

/** By day, so that people and rules of the bucket find what is old. */
function blobName({ uploadId, uploadedAt }: BlobKey): string {
  return `${uploadedAt.toISOString().slice(0, 10)}/${uploadId}`;
}

type Bucket = { readonly client: S3Client; readonly Bucket: string };

async function write(bucket: Bucket, Key: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const { client, Bucket } = bucket;
  let UploadId: string | undefined;
  const Parts: { readonly PartNumber: number; readonly ETag: string | undefined }[] = [];
  try {
    for await (const { Body, isOnly } of inParts(bytes)) {
      if (isOnly) {
        await told(client.send(new PutObjectCommand({ Bucket, Key, Body })));
        return;
      }
      UploadId ??= (await told(client.send(new CreateMultipartUploadCommand({ Bucket, Key })))).UploadId;
      const PartNumber = Parts.length + 1;
      const sent = client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
      Parts.push({ PartNumber, ETag: (await told(sent)).ETag });
    }
    const MultipartUpload = { Parts };
    await told(client.send(new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload })));
  } catch (error) {
    if (UploadId !== undefined)
      // The first error is the one to tell.
      await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(() => undefined);
    throw error;
  }
}

type Part = { readonly Body: Buffer; readonly isOnly: boolean };

/**
 * All but the last are of one size; no bytes at all are one empty part. They share their memory: a part is sent before
 * the next is asked for. Of a small upload most of that memory is never touched, and so never taken.
 */
async function* inParts(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Part> {
  const held = Buffer.allocUnsafeSlow(partBytes);
  let heldBytes = 0;
  let isOnly = true;
  for await (const chunk of bytes) {
    for (let rest = chunk; rest.length > 0;) {
      // Only now is it known that the part before is not the last.
      if (heldBytes === partBytes) {
        isOnly = false;
        yield { Body: held, isOnly };
        heldBytes = 0;
      }
      const taken = rest.subarray(0, partBytes - heldBytes);
      held.set(taken, heldBytes);
      heldBytes += taken.length;
      rest = rest.subarray(taken.length);
    }
  }
  yield { Body: held.subarray(0, heldBytes), isOnly };
}

async function read({ client, Bucket }: Bucket, Key: string): Promise<AsyncIterable<Uint8Array> | null> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
    return toldWhileRead(Body as AsyncIterable<Uint8Array>);
  } catch (error) {
    if (error instanceof NoSuchKey) return null;
    throw trouble(error);
  }
}

async function* toldWhileRead(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw trouble(error);
  }
}

async function check(bucket: Bucket, Key: string): Promise<S3Check> {
  try {
    await write(bucket, Key, oneChunk(Buffer.from('Signalbox can write here.\n')));
    const found = await read(bucket, Key);
    if (found !== null) for await (const _ of found);
    return found === null ? { kind: 'refused', reason: 'what was written is not there' } : { kind: 'usable' };
  } catch (error) {
    const { cause } = error as AppError;
    const isRefused = cause instanceof StoreError && cause.isRefused;
    return { kind: isRefused ? 'refused' : 'away', reason: cause instanceof Error ? cause.message : '' };
  }
}

async function* oneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}

/** What went wrong at the store, without what the client knows beyond that. */
class StoreError extends Error {
  readonly isRefused: boolean;
  constructor(message: string, isRefused: boolean) {
    super(message);
    this.name = 'StoreError';
    this.isRefused = isRefused;
  }
}

const told = <T>(sent: Promise<T>): Promise<T> =>
  sent.catch((error: unknown) => {
    throw trouble(error);
  });

function trouble(error: unknown): AppError {
  return appError('UNAVAILABLE', {
    public: 'The store of uploads does not answer as it should; send the upload again later.',
    cause: storeErrorOf(error),
    retryAfterSeconds: 10,
  });
}

function storeErrorOf(error: unknown): StoreError {
  const { name, message, code } = error as { name?: string; message?: string; code?: string };
  if (!(error instanceof S3ServiceException)) {
    // The credentials or the region are not set, or else nobody answered.
    const isRefused = name === 'CredentialsProviderError' || /region is missing/i.test(message ?? '');
    return new StoreError([name, code, isRefused ? message : ''].filter(Boolean).join(' '), isRefused);
  }
  const { httpStatusCode: status = 0 } = error.$metadata;
  return new StoreError(`${name} (${status})`, status >= 300 && status < 500 && !retried.has(status));
}

/** Of the client's errors those that pass: too slow, too often. */
const retried = new Set([408, 425, 429]);
