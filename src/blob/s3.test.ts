// What a store may answer and a well-behaved one does not; test/service/blob.test.ts has the rest, on a real server.
import { createServer, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { AppError } from '#base/error.ts';
import { createS3Blobs } from './s3.ts';

const key = {
  uploadId: '0199d0b0-0000-7000-8000-000000000001',
  uploadedAt: new Date('2026-03-01T12:00:00Z'),
};

type Answer = { readonly status?: number; readonly body?: string; readonly cutOff?: boolean };

/** A store with the given answers, and a record of its requests. */
async function storeAnswering(answer: (request: IncomingMessage, count: number) => Answer) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      const kind = /uploadId|uploads|partNumber/.exec(request.url ?? '')?.[0] ?? '';
      const {
        status = 200,
        body = '',
        cutOff = false,
      } = answer(request, asked.push(`${request.method} ${kind}`));
      response.writeHead(status, {
        'content-type': 'application/xml',
        etag: '"1"',
        'content-length': body.length,
      });
      if (!cutOff) response.end(body);
      else response.write(body.slice(1), () => response.destroy());
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const blobs = createS3Blobs({
    bucket: 'bucket',
    prefix: '',
    endpoint: `http://127.0.0.1:${port}`,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'the-key', secretAccessKey: 'the-secret' },
  });
  onTestFinished(() => {
    blobs.close();
    server.close();
    server.closeAllConnections();
  });
  return { blobs, asked };
}

async function* zeros(mebibytes: number) {
  for (let made = 0; made < mebibytes; made++) yield await Promise.resolve(Buffer.alloc(1024 * 1024));
}

async function readAll(bytes: AsyncIterable<Uint8Array> | null): Promise<number> {
  let size = 0;
  for await (const chunk of bytes ?? []) size += chunk.length;
  return size;
}

const started = '<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>';

describe('a store that does not do as it should', () => {
  it('has the parts given up when they cannot be put together, even if it says so under a success', async () => {
    const { blobs, asked } = await storeAnswering(({ method, url = '' }) => {
      if (url.includes('uploads')) return { body: started };
      return { body: method === 'POST' ? '<Error><Code>InvalidPart</Code></Error>' : '' };
    });
    await expect(blobs.write(key, zeros(20))).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(asked.at(-1)).toBe('DELETE uploadId');
  });

  it('is asked again when it is busy', async () => {
    const { blobs, asked } = await storeAnswering((_, count) =>
      count < 3 ? { status: 503, body: '<Error><Code>SlowDown</Code></Error>' } : {},
    );
    await blobs.write(key, zeros(1));
    expect(asked).toEqual(['PUT ', 'PUT ', 'PUT ']);
  });

  it('is not passed on with the parts of the request that it repeats', async () => {
    const body =
      '<Error><Code>InvalidAccessKeyId</Code><Message>the-key is not known</Message><AWSAccessKeyId>the-key</AWSAccessKeyId></Error>';
    const { blobs } = await storeAnswering(() => ({ status: 403, body }));
    const error: unknown = await blobs.write(key, zeros(1)).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(AppError);
    const { cause } = error as AppError;
    expect(cause).toMatchObject({ message: 'InvalidAccessKeyId (403)' });
    const said = [error, cause].map((part) => `${(part as Error).stack} ${JSON.stringify(part)}`);
    expect(said.join()).not.toContain('the-key');
    expect(await blobs.check()).toEqual({ kind: 'refused', reason: 'InvalidAccessKeyId (403)' });
  });

  it('fails the reading of an upload that it cuts off', async () => {
    const { blobs } = await storeAnswering(() => ({ body: 'x'.repeat(1000), cutOff: true }));
    const found = await blobs.read(key);
    await expect(readAll(found)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});
