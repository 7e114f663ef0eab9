// Reads request bodies: bounded, decoded, and a large one only after its caller's token was checked.

import type { Readable } from 'node:stream';
import { PassThrough, pipeline } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import type { FastifyRequest } from 'fastify';
import { appError } from '#base/error.ts';

/** 20 MiB exactly, measured on the decoded body too. */
export const bodyBytesMax = 20 * 1_048_576;
/** A body that declares more than this, or no size, is read only after its token was checked. */
export const largeBodyBytes = 64 * 1024;

/** The declared size of a body; the limit if it declares none. */
export function declaredBytes(request: FastifyRequest): number {
  if (request.headers['transfer-encoding'] !== undefined || isEncoded(request)) return bodyBytesMax;
  const length = Number(request.headers['content-length'] ?? 0);
  return Number.isFinite(length) ? length : bodyBytesMax;
}

const contentEncoding = (request: FastifyRequest): string =>
  (request.headers['content-encoding'] ?? '').trim().toLowerCase();

const isEncoded = (request: FastifyRequest): boolean => !['', 'identity'].includes(contentEncoding(request));

const decoders = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
} as const;

type CountedStream = Readable & { receivedEncodedLength?: number };

/** The decompressed body; stops as soon as it is too large. */
export function decodedBody(request: FastifyRequest, payload: CountedStream): CountedStream {
  if (!isEncoded(request)) return payload;
  const encoding = contentEncoding(request);
  const create = Object.hasOwn(decoders, encoding) ? decoders[encoding as keyof typeof decoders] : undefined;
  if (create === undefined)
    throw appError('UNSUPPORTED_MEDIA_TYPE', {
      public: `The content encoding ${encoding} is not supported. Send the body without encoding, or as gzip, deflate, br or zstd.`,
    });
  const output: CountedStream & PassThrough = new PassThrough();
  output.receivedEncodedLength = 0;
  payload.on('data', (chunk: Buffer) => {
    output.receivedEncodedLength = (output.receivedEncodedLength ?? 0) + chunk.length;
  });
  pipeline(payload, create(), output, (error) => {
    if (error && !output.destroyed)
      output.destroy(
        appError('MALFORMED_JSON', {
          public: `The request body is not valid ${encoding}. Check how it was compressed.`,
          cause: error,
        }),
      );
  });
  return output;
}

/** JSON bytes to a value. A byte order mark, which some Windows tools send, is passed over. */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
}
