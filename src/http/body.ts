// Reading request bodies: bounded, decoded, and never before a large one is known to come from somebody.

import type { Readable } from 'node:stream';
import { PassThrough, pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { appError } from '#base/error.ts';

/** 20 MiB exactly, measured on the decoded body too. */
export const bodyBytesMax = 20 * 1_048_576;
/** A body that says it is larger than this (or does not say) is read only after its token was checked. */
export const largeBodyBytes = 64 * 1024;

/** What a request says of its body's size; the most there may be when it does not say. */
export function declaredBytes(request: FastifyRequest): number {
  if (request.headers['transfer-encoding'] !== undefined || isEncoded(request)) return bodyBytesMax;
  const length = Number(request.headers['content-length'] ?? 0);
  return Number.isFinite(length) ? length : bodyBytesMax;
}

const encodingOf = (request: FastifyRequest): string =>
  (request.headers['content-encoding'] ?? '').trim().toLowerCase();

const isEncoded = (request: FastifyRequest): boolean => !['', 'identity'].includes(encodingOf(request));

const decoders = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
} as const;

type CountedStream = Readable & { receivedEncodedLength?: number };

/** The body as it was before it was compressed; stops as soon as it is too large. */
export function decodedBody(request: FastifyRequest, payload: CountedStream): CountedStream {
  if (!isEncoded(request)) return payload;
  const encoding = encodingOf(request);
  const create = Object.hasOwn(decoders, encoding) ? decoders[encoding as keyof typeof decoders] : undefined;
  if (create === undefined)
    throw appError('UNSUPPORTED_MEDIA_TYPE', {
      public: `The content encoding ${encoding} is not supported. Send the body plain, or as gzip, deflate, br or zstd.`,
    });
  const output: CountedStream & PassThrough = new PassThrough();
  output.receivedEncodedLength = 0;
  payload.on('data', (chunk: Buffer) => {
    output.receivedEncodedLength = (output.receivedEncodedLength ?? 0) + chunk.length;
  });
  pipeline(payload, create(), output, (error) => {
    if (error && !output.destroyed)
      output.destroy(
        appError('MALFORMED_JSON', { public: `The request body is not valid ${encoding}.`, cause: error }),
      );
  });
  return output;
}

/** JSON bytes to a value. A byte order mark, which some Windows tools send, is passed over. */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
}
