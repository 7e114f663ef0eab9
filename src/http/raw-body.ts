// Bodies that are not JSON: read whole up to the limit, or not looked at.

import type { Readable } from 'node:stream';
import { appError } from '#base/error.ts';
import { bodyBytesMax } from './body.ts';

export const reportTooLarge = () =>
  appError('BODY_TOO_LARGE', {
    public:
      'The report is larger than 20 MiB, or grows too much when it is decompressed. Send it in parts, or as a bundle (createBundleUpload).',
  });

/** In the pieces it comes in; throws where it is larger than the limit. */
async function* bounded(body: Readable | null): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) throw reportTooLarge();
    yield chunk;
  }
}

/** All of it, in the pieces it came in. */
export async function readChunks(body: Readable | null): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  for await (const chunk of bounded(body)) chunks.push(chunk);
  return chunks;
}

/** Reads it to its end, so that the connection can be used again, and keeps nothing. */
export async function passOver(body: Readable | null): Promise<void> {
  for await (const _chunk of bounded(body));
}
