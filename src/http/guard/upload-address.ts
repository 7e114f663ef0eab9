// Upload URLs: /uploads/<cell>_<upload>?repository=…&expires=…&signature=…. They are signed, so that a client
// needs no token, and a URL that Signalbox did not issue is refused before the database is read. A URL is
// valid for one upload: sending the same bytes again changes nothing, other bytes are refused.
//
// All API processes must agree on the key: see cell-key.ts.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { appError } from '#base/error.ts';
import type { RepositoryId } from '#base/id.ts';
import { acceptBundle, type BundleOutcome } from '#command/accept-upload.ts';
import type { Cell } from '#db/cell.ts';
import { listSecretKeys } from '#db/seal.ts';
import { secondsToNextDay, takeUploadQuota } from '#db/account/token-use-store.ts';
import { findUploadState, type UploadContent, type UploadKey } from '#db/health/upload-store.ts';
import { parseUploadTime } from '#db/health/upload-view.ts';
import { detectCompression } from '#report/bundle/decompress.ts';
import { cellKeys } from './cell-key.ts';
import type { Deps } from '../deps.ts';

const keyName = 'upload-address';

type Signed = {
  readonly cell: string;
  readonly repository: string;
  readonly id: string;
  readonly expires: number;
};

const signUpload = (key: Buffer, { cell, repository, id, expires }: Signed): Buffer =>
  createHmac('sha256', key).update(`${cell}\n${repository}\n${id}\n${expires}`).digest();

export type UploadAddresses = {
  /** The path and query, to be appended to the public origin. */
  readonly pathOf: (cell: Cell, upload: UploadKey, expiresAt: Date) => Promise<string>;
  /** Refuses a URL that Signalbox did not issue, or that is too old. */
  readonly read: (
    request: FastifyRequest,
    now: Date,
  ) => Promise<{ readonly cell: Cell; readonly key: UploadKey }>;
};

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const invalid = () =>
  appError('UPLOAD_ADDRESS_INVALID', {
    public: 'This upload URL is not valid. Use it exactly as createBundleUpload returned it.',
  });

export function createUploadAddresses(deps: Pick<Deps, 'config' | 'cells'>): UploadAddresses {
  const keyOf = cellKeys(deps, keyName);
  return {
    pathOf: async (cell, { repositoryId, uploadId }, expiresAt) => {
      const expires = Math.floor(expiresAt.getTime() / 1000);
      const signed = { cell: cell.name, repository: repositoryId, id: uploadId, expires };
      const [active] = listSecretKeys(await keyOf(cell));
      const signature = signUpload(active, signed).toString('base64url');
      const query = new URLSearchParams({ repository: repositoryId, expires: String(expires), signature });
      return `/uploads/${cell.name}_${uploadId}?${query.toString()}`;
    },
    read: async (request, now) => {
      const [cellName = '', id = ''] = (request.params as { id: string }).id.split('_');
      const query = request.query as Record<string, unknown>;
      const { repository, expires, signature } = query;
      const cell = deps.cells.find(cellName);
      const uploadedAt = uuid.test(id) ? parseUploadTime(id) : null;
      if (cell === undefined || uploadedAt === null) throw invalid();
      if (typeof repository !== 'string' || typeof signature !== 'string') throw invalid();
      if (typeof expires !== 'string' || !/^\d{1,12}$/.test(expires)) throw invalid();
      const given = Buffer.from(signature, 'base64url');
      const signed = { cell: cellName, repository, id, expires: Number(expires) };
      const isRight = listSecretKeys(await keyOf(cell)).some((key) => {
        const right = signUpload(key, signed);
        return given.length === right.length && timingSafeEqual(given, right);
      });
      if (!isRight) throw invalid();
      if (Number(expires) * 1000 <= now.getTime())
        throw appError('UPLOAD_ADDRESS_EXPIRED', {
          public: 'The upload URL has expired. Request a new one with createBundleUpload.',
        });
      return { cell, key: { repositoryId: repository as RepositoryId, uploadId: id, uploadedAt } };
    },
  };
}

/** Receives a bundle at an upload URL. */
export async function addUploadRoute(
  app: FastifyInstance,
  deps: Deps,
  addresses: UploadAddresses,
): Promise<void> {
  /** Uploads in progress: two senders at once would overwrite each other. */
  const receiving = new Set<string>();
  await app.register((scope, _options, done) => {
    // Bundles are streamed; the limit of JSON bodies does not apply.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, payload, parsed) => parsed(null, payload));
    scope.put('/uploads/:id', async (request, reply) => {
      const { cell, key } = await addresses.read(request, deps.clock.now());
      if (Number(request.headers['content-length'] ?? 0) > deps.config.upload.bytesMax)
        throw tooLarge(deps.config.upload.bytesMax);
      if (receiving.has(key.uploadId)) throw refusal('busy');
      receiving.add(key.uploadId);
      try {
        await receive(deps, cell, key, request.body as Readable | undefined);
      } catch (error) {
        // The client is gone and gets no answer; the error only must not be reported as a defect of Signalbox.
        throw request.raw.errored && !request.raw.complete ? refusal('cut') : error;
      } finally {
        receiving.delete(key.uploadId);
      }
      return reply.type('application/json; charset=utf-8').send('{}');
    });
    done();
  });
}

async function receive(deps: Deps, cell: Cell, key: UploadKey, body: Readable | undefined): Promise<void> {
  const row = await findUploadState(cell.reader, key);
  if (row === null) throw refusal('gone');
  const { bytesMax, quota } = deps.config.upload;
  const token = row.state === 'awaited' ? row.api_token_id : null;
  const now = deps.clock.now();
  // The upload was counted when its URL was issued; its bytes are counted when they have arrived.
  const take = (bytes: number) => takeUploadQuota(cell.db, token!, { uploads: 0, bytes }, quota, now);
  if (token !== null && !(await take(0))) throw overQuota(now);
  const measured = measure(body ?? [], bytesMax);
  if (row.state === 'awaited') await deps.blobsOf(cell).write(key, measured.bytes);
  else for await (const _chunk of measured.bytes);
  const content = measured.result();
  if (token !== null) await take(content.bytes);
  if (content.bytes === 0) throw refusal('empty');
  const outcome = await acceptBundle(cell, key, content, deps.clock.now());
  if (outcome !== 'stored' && outcome !== 'same') throw refusal(outcome);
}

export const overQuota = (now: Date) =>
  appError('RATE_LIMITED', {
    public:
      'This token has used up its upload quota for today. Try again tomorrow (UTC), or ask your Signalbox administrator to raise the quota.',
    retryAfterSeconds: secondsToNextDay(now),
  });

const tooLarge = (bytesMax: number) =>
  appError('BODY_TOO_LARGE', {
    public: `The upload is larger than ${Math.floor(bytesMax / 1_048_576)} MiB. Send fewer reports at once, or ask your Signalbox administrator to raise the limit.`,
  });

function refusal(why: Exclude<BundleOutcome, 'stored' | 'same'> | 'empty' | 'busy' | 'cut') {
  switch (why) {
    case 'gone':
      return appError('UPLOAD_NOT_FOUND', {
        public: 'The upload of this URL no longer exists. Request a new URL with createBundleUpload.',
      });
    case 'other':
      return appError('UPLOAD_ALREADY_STORED', {
        public: 'This URL was already used for another upload. Request a new URL for each upload.',
      });
    case 'busy':
      return appError('UPLOAD_ALREADY_STORED', {
        public: 'Another upload to this URL is in progress. Wait until it has finished, then try again.',
      });
    case 'cut':
      return appError('NOT_A_REPORT', { public: 'The upload was interrupted. Send it again.' });
    case 'empty':
      return appError('NOT_A_REPORT', { public: 'The request body is empty. Send the bundle as the body.' });
  }
}

/** Passes bytes on, and computes their hash and count. Throws if there are too many. */
function measure(bytes: Iterable<Uint8Array> | AsyncIterable<Uint8Array>, bytesMax: number) {
  const hash = createHash('sha256');
  let count = 0;
  let start: Buffer = Buffer.alloc(0);
  return {
    bytes: (async function* () {
      for await (const chunk of bytes) {
        count += chunk.length;
        if (count > bytesMax) throw tooLarge(bytesMax);
        if (start.length < 4) start = Buffer.concat([start, chunk.subarray(0, 4)]);
        hash.update(chunk);
        yield chunk;
      }
    })(),
    result: (): UploadContent => ({
      hash: hash.digest(),
      bytes: count,
      form: detectForm(start, 'bundle.tar.zstd'),
    }),
  };
}

/** By the first bytes; `zstd`: the form of zstd-compressed content. */
export function detectForm(start: Uint8Array, zstd: string): string {
  const compression = detectCompression(Buffer.from(start.subarray(0, 4)));
  return compression === 'zstd' ? zstd : (compression ?? 'plain');
}
