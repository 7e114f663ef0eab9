// Bodies that are not JSON: read up to the limit, and kept or discarded.

import type { Readable } from 'node:stream';
import { appError } from '#base/error.ts';
import { bodyBytesMax } from './body.ts';

export const reportTooLarge = () =>
  appError('BODY_TOO_LARGE', {
    public:
      'The report is larger than 20 MiB, or decompresses to too many bytes. Send it in parts, or as a bundle (createBundleUpload).',
  });

/** The chunks of the body; throws if it is larger than the limit. */
async function* bounded(body: Readable | null): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw reportTooLarge();
    yield chunk;
  }
}

/** All chunks of the body. */
export async function readChunks(body: Readable | null): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of bounded(body)) chunks.push(chunk);
  return chunks;
}

/** Reads the body to its end and discards it, so that the connection can be reused. */
export async function passOver(body: Readable | null): Promise<void> {
  for await (const _chunk of bounded(body));
}
