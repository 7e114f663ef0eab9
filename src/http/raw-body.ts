// Bodies that are not JSON: read whole up to the limit, or not looked at.

import type { Readable } from 'node:stream';
import { appError } from '#base/error.ts';
import { bodyBytesMax } from './body.ts';

export const reportTooLarge = () =>
  appError('BODY_TOO_LARGE', {
    public:
      'The report is larger than 20 MiB, or grows too much when it is decompressed. Send it in parts, or as a bundle (createBundleUpload).',
  });

/** All of it, in the pieces it came in. */
export async function readChunks(body: Readable | null): Promise<readonly Buffer[]> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += (chunk as Buffer).length;
    if (bytes > bodyBytesMax) throw reportTooLarge();
    chunks.push(chunk as Buffer);
  }
  return chunks;
}

/** Reads it to its end, so that the connection can be used again, and keeps nothing. */
export async function passOver(body: Readable | null): Promise<void> {
  let bytes = 0;
  for await (const chunk of body ?? []) {
    bytes += (chunk as Buffer).length;
    if (bytes > bodyBytesMax) throw reportTooLarge();
  }
}
