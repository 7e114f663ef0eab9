// Uploads in an S3-compatible store. An upload that fits into one part is put as it is; a larger one is sent
// in parts, one after the other, so that an upload holds one part in memory, whatever its size. An object
// gets its name only once it is complete: if the stream breaks off or the store stops answering, nothing can
// be read, and the parts are aborted. If even that fails, a rule of the bucket removes them
// (docs/how-to/operating.md).
//
// Client errors carry the access key and parts of the signed request: only name and status are reported.

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
  /** Prefix of every name, without slashes around it; empty: none. */
  readonly prefix: string;
  /** Null: Amazon's own, by the region. */
  readonly endpoint: string | null;
  /** Null: taken from the client's own settings (`AWS_REGION`, a profile). */
  readonly region: string | null;
  /** Whether the bucket is in the path of a URL, or else in its host name. */
  readonly forcePathStyle: boolean;
  /** Null: found by the client: environment, profile, or the role of the machine. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
};

export type S3Blobs = BlobStore & {
  /** Writes and reads a small object: Signalbox needs no other permission on the bucket. */
  readonly check: () => Promise<S3Check>;
  readonly close: () => void;
};

/** refused: a retry will not help; away: it may. `reason` is for a person and holds no secret. */
type S3Check = { readonly kind: 'usable' } | { readonly kind: 'refused' | 'away'; readonly reason: string };

/** At least the 5 MiB that S3 requires; 10,000 parts, the most it accepts, are 78 GiB. */
const partBytes = 8 * 1024 * 1024;

export function createS3Blobs(options: S3Options): S3Blobs {
  const client = new S3Client(buildClientConfig(options));
  const bucket: S3Bucket = { client, Bucket: options.bucket };
  const withPrefix = (name: string) => (options.prefix === '' ? name : `${options.prefix}/${name}`);
  return {
    write: (key, bytes) => write(bucket, withPrefix(blobName(key)), bytes),
    read: (key) => read(bucket, withPrefix(blobName(key))),
    check: () => check(bucket, withPrefix('check')),
    close: () => client.destroy(),
  };
}

function buildClientConfig({ endpoint, region, forcePathStyle, credentials }: S3Options): S3ClientConfig {
  return {
    ...(endpoint === null ? {} : { endpoint }),
    ...(region === null ? {} : { region }),
    ...(credentials === null ? {} : { credentials }),
    forcePathStyle,
    maxAttempts: 4,
    // Bodies are signed with their hash anyway. Many compatible stores do not support checksums in trailers.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    // An idle timeout, not a total: a large object may take as long as it makes progress.
    requestHandler: { connectionTimeout: 5_000, socketTimeout: 60_000 },
  };
}

/** By day, so that people and rules of the bucket find old objects. */
function blobName({ uploadId, uploadedAt }: BlobKey): string {
  return `${uploadedAt.toISOString().slice(0, 10)}/${uploadId}`;
}

type S3Bucket = { readonly client: S3Client; readonly Bucket: string };

async function write(bucket: S3Bucket, Key: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const { client, Bucket: S3Bucket } = bucket;
  let UploadId: string | undefined;
  const Parts: { readonly PartNumber: number; readonly ETag: string | undefined }[] = [];
  try {
    for await (const { Body, isOnly } of inParts(bytes)) {
      if (isOnly) {
        await withStoreErrors(client.send(new PutObjectCommand({ Bucket: S3Bucket, Key, Body })));
        return;
      }
      UploadId ??= (
        await withStoreErrors(client.send(new CreateMultipartUploadCommand({ Bucket: S3Bucket, Key })))
      ).UploadId;
      const PartNumber = Parts.length + 1;
      const sent = client.send(new UploadPartCommand({ Bucket: S3Bucket, Key, UploadId, PartNumber, Body }));
      Parts.push({ PartNumber, ETag: (await withStoreErrors(sent)).ETag });
    }
    const MultipartUpload = { Parts };
    await withStoreErrors(
      client.send(new CompleteMultipartUploadCommand({ Bucket: S3Bucket, Key, UploadId, MultipartUpload })),
    );
  } catch (error) {
    if (UploadId !== undefined)
      // Report the first error.
      await client
        .send(new AbortMultipartUploadCommand({ Bucket: S3Bucket, Key, UploadId }))
        .catch(() => undefined);
    throw error;
  }
}

type S3UploadPart = { readonly Body: Buffer; readonly isOnly: boolean };

/**
 * All parts but the last have one size; an empty upload is one empty part. The parts share a buffer: a part
 * is sent before the next is requested. A small upload never touches most of the buffer, so that memory is
 * never allocated.
 */
async function* inParts(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<S3UploadPart> {
  const held = Buffer.allocUnsafeSlow(partBytes);
  let heldBytes = 0;
  let isOnly = true;
  for await (const chunk of bytes) {
    for (let rest = chunk; rest.length > 0;) {
      // Only now is it known that the previous part is not the last.
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

async function read(
  { client, Bucket: S3Bucket }: S3Bucket,
  Key: string,
): Promise<AsyncIterable<Uint8Array> | null> {
  try {
    const { Body } = await client.send(new GetObjectCommand({ Bucket: S3Bucket, Key }));
    return withStoreReadErrors(Body as AsyncIterable<Uint8Array>);
  } catch (error) {
    if (error instanceof NoSuchKey) return null;
    throw trouble(error);
  }
}

async function* withStoreReadErrors(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw trouble(error);
  }
}

async function check(bucket: S3Bucket, Key: string): Promise<S3Check> {
  try {
    await write(bucket, Key, oneChunk(Buffer.from('Signalbox can write here.\n')));
    const found = await read(bucket, Key);
    if (found !== null) for await (const _ of found);
    return found === null
      ? { kind: 'refused', reason: 'an object that was written cannot be read' }
      : { kind: 'usable' };
  } catch (error) {
    const { cause } = error as AppError;
    const isRefused = cause instanceof StoreError && cause.isRefused;
    return { kind: isRefused ? 'refused' : 'away', reason: cause instanceof Error ? cause.message : '' };
  }
}

async function* oneChunk(bytes: Buffer): AsyncGenerator<Buffer> {
  yield await Promise.resolve(bytes);
}

/** What went wrong at the store, without the details of the client's error. */
class StoreError extends Error {
  readonly isRefused: boolean;
  constructor(message: string, isRefused: boolean) {
    super(message);
    this.name = 'StoreError';
    this.isRefused = isRefused;
  }
}

const withStoreErrors = <T>(sent: Promise<T>): Promise<T> =>
  sent.catch((error: unknown) => {
    throw trouble(error);
  });

function trouble(error: unknown): AppError {
  return appError('UNAVAILABLE', {
    public: 'The upload storage does not answer as expected. Send the upload again later.',
    cause: toStoreError(error),
    retryAfterSeconds: 10,
  });
}

function toStoreError(error: unknown): StoreError {
  const { name, message, code } = error as { name?: string; message?: string; code?: string };
  if (!(error instanceof S3ServiceException)) {
    // The credentials or the region are not set, or else the store did not answer.
    const isRefused = name === 'CredentialsProviderError' || /region is missing/i.test(message ?? '');
    return new StoreError([name, code, isRefused ? message : ''].filter(Boolean).join(' '), isRefused);
  }
  const { httpStatusCode: status = 0 } = error.$metadata;
  return new StoreError(`${name} (${status})`, status >= 300 && status < 500 && !retried.has(status));
}

/** The 4xx statuses that are temporary: timeout, too early, too many requests. */
const retried = new Set([408, 425, 429]);
