// Upload addresses: /uploads/<cell>_<upload>?repository=…&expires=…&signature=…. They are signed, so that whoever has one
// needs no token, and what was not made here is refused before the database is asked. An address holds for one upload:
// the same bytes again change nothing, other bytes are refused.
//
// All API processes must agree on the key: see cell-key.ts.

import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { appError } from '#base/error.ts';
import type { RepositoryId } from '#base/id.ts';
import { acceptBundle, type BundleOutcome } from '#command/accept-upload.ts';
import type { Cell } from '#db/cell.ts';
import { keysOf } from '#db/seal.ts';
import { secondsToNextDay, takeUploadQuota } from '#db/token-use-store.ts';
import { findUploadState, type UploadContent, type UploadKey } from '#db/upload-store.ts';
import { uploadedAtOf } from '#db/upload-view.ts';
import { compressionOf } from '#report/decompress.ts';
import { cellKeys } from './cell-key.ts';
import type { Deps } from './deps.ts';

const keyName = 'upload-address';

type Signed = {
  readonly cell: string;
  readonly repository: string;
  readonly id: string;
  readonly expires: number;
};

const signatureOf = (key: Buffer, { cell, repository, id, expires }: Signed): Buffer =>
  createHmac('sha256', key).update(`${cell}\n${repository}\n${id}\n${expires}`).digest();

export type UploadAddresses = {
  /** The path and query, to be put behind where we are reached. */
  readonly pathOf: (cell: Cell, upload: UploadKey, expiresAt: Date) => Promise<string>;
  /** Refuses what was not made here, or is too old. */
  readonly read: (
    request: FastifyRequest,
    now: Date,
  ) => Promise<{ readonly cell: Cell; readonly key: UploadKey }>;
};

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const invalid = () =>
  appError('UPLOAD_ADDRESS_INVALID', {
    public: 'This is no upload address of ours. Use it exactly as createBundleUpload answered it.',
  });

export function createUploadAddresses(deps: Pick<Deps, 'config' | 'cells'>): UploadAddresses {
  const keyOf = cellKeys(deps, keyName);
  return {
    pathOf: async (cell, { repositoryId, uploadId }, expiresAt) => {
      const expires = Math.floor(expiresAt.getTime() / 1000);
      const signed = { cell: cell.name, repository: repositoryId, id: uploadId, expires };
      const [active] = keysOf(await keyOf(cell));
      const signature = signatureOf(active, signed).toString('base64url');
      const query = new URLSearchParams({ repository: repositoryId, expires: String(expires), signature });
      return `/uploads/${cell.name}_${uploadId}?${query.toString()}`;
    },
    read: async (request, now) => {
      const [cellName = '', id = ''] = (request.params as { id: string }).id.split('_');
      const query = request.query as Record<string, unknown>;
      const { repository, expires, signature } = query;
      const cell = deps.cells.find(cellName);
      const uploadedAt = uuid.test(id) ? uploadedAtOf(id) : null;
      if (cell === undefined || uploadedAt === null) throw invalid();
      if (typeof repository !== 'string' || typeof signature !== 'string') throw invalid();
      if (typeof expires !== 'string' || !/^\d{1,12}$/.test(expires)) throw invalid();
      const given = Buffer.from(signature, 'base64url');
      const signed = { cell: cellName, repository, id, expires: Number(expires) };
      const isRight = keysOf(await keyOf(cell)).some((key) => {
        const right = signatureOf(key, signed);
        return given.length === right.length && timingSafeEqual(given, right);
      });
      if (!isRight) throw invalid();
      if (Number(expires) * 1000 <= now.getTime())
        throw appError('UPLOAD_ADDRESS_EXPIRED', {
          public: 'The upload address is too old. Ask for a new one with createBundleUpload.',
        });
      return { cell, key: { repositoryId: repository as RepositoryId, uploadId: id, uploadedAt } };
    },
  };
}

/** Receives what is put to an upload address. */
export async function addUploadRoute(
  app: FastifyInstance,
  deps: Deps,
  addresses: UploadAddresses,
): Promise<void> {
  /** Addresses that bytes are coming to now: two senders at once would write over each other. */
  const receiving = new Set<string>();
  await app.register((scope, _options, done) => {
    // Bundles are passed on as they come; the limit of JSON bodies is not theirs.
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
        // Nobody hears this; it only must not look like a defect of ours.
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
  // The address was counted when it was given out; its bytes are counted when they are there.
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
      'This token has sent as many reports as it may in a day. Try again tomorrow (UTC), or ask your Signalbox administrator for more.',
    retryAfterSeconds: secondsToNextDay(now),
  });

const tooLarge = (bytesMax: number) =>
  appError('BODY_TOO_LARGE', {
    public: `The upload is larger than ${Math.floor(bytesMax / 1_048_576)} MiB. Send fewer reports at once, or ask an administrator for more.`,
  });

function refusal(why: Exclude<BundleOutcome, 'stored' | 'same'> | 'empty' | 'busy' | 'cut') {
  switch (why) {
    case 'gone':
      return appError('UPLOAD_NOT_FOUND', {
        public: 'The upload that this address was made for is not there any more. Ask for a new address.',
      });
    case 'other':
      return appError('UPLOAD_ALREADY_STORED', {
        public: 'Other bytes were put to this address before. Ask for a new address for each upload.',
      });
    case 'busy':
      return appError('UPLOAD_ALREADY_STORED', {
        public: 'Something is being put to this address right now. Wait until it ended, then try again.',
      });
    case 'cut':
      return appError('NOT_A_REPORT', { public: 'The upload ended before it was whole. Send it again.' });
    case 'empty':
      return appError('NOT_A_REPORT', { public: 'Nothing was sent. Put the bundle as the body.' });
  }
}

/** Passes bytes on, and knows their hash and number in the end. Too many are an error. */
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
      form: formOf(start, 'bundle.tar.zstd'),
    }),
  };
}

/** By the first bytes; `zstd`: what is in it where it is compressed so. */
export function formOf(start: Uint8Array, zstd: string): string {
  const compression = compressionOf(Buffer.from(start.subarray(0, 4)));
  return compression === 'zstd' ? zstd : (compression ?? 'plain');
}
