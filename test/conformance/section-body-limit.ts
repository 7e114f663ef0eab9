/** 20 MiB exactly: sized, in chunks, and as gzip that unfolds. */
import { gzipSync } from 'node:zlib';
import { show } from './client.ts';
import { expectError } from './expect.ts';
import { freshRepo, type World } from './world.ts';

const LIMIT_BYTES = 20 * 1_048_576;

/** A valid getQueue body of exactly this many bytes, filled up by a key that nobody knows. */
function bodyOfSize(world: World, bytes: number): Buffer {
  const head = JSON.stringify({ repo: freshRepo(world, 'ghost'), targetBranch: 'main' }).slice(0, -1);
  const start = `${head},"padding":"`;
  return Buffer.from(`${start}${'x'.repeat(bytes - start.length - 2)}"}`);
}

export async function checkBodyLimit(world: World): Promise<void> {
  const { client } = world;
  const atLimit = bodyOfSize(world, LIMIT_BYTES);
  const overLimit = bodyOfSize(world, LIMIT_BYTES + 1);
  const sizes = `${atLimit.byteLength} ${overLimit.byteLength}`;
  world.recorder.equal(
    'the suite builds bodies of the right size',
    sizes,
    `${LIMIT_BYTES} ${LIMIT_BYTES + 1}`,
  );
  for (const socket of ['sized', 'chunked'] as const) {
    const fits = await client.send('/v1/getQueue', { raw: atLimit, socket });
    expectError(world, `a ${socket} body of exactly 20 MiB is read`, fits, 404, 'QUEUE_NOT_FOUND');
    const over = await client.send('/v1/getQueue', { raw: overLimit, socket });
    expectError(world, `a ${socket} body of 20 MiB and one byte`, over, 413, 'BODY_TOO_LARGE');
  }
  const gzip = { 'content-encoding': 'gzip' };
  const small = await client.send('/v1/getQueue', { raw: gzipSync(bodyOfSize(world, 2000)), headers: gzip });
  expectError(world, 'a gzip body is read', small, 404, 'QUEUE_NOT_FOUND');
  const unfoldsToLimit = await client.send('/v1/getQueue', { raw: gzipSync(atLimit), headers: gzip });
  expectError(world, 'a gzip body that unfolds to 20 MiB is read', unfoldsToLimit, 404, 'QUEUE_NOT_FOUND');
  const unfoldsOver = await client.send('/v1/getQueue', { raw: gzipSync(overLimit), headers: gzip });
  expectError(world, 'a gzip body that unfolds to one byte more', unfoldsOver, 413, 'BODY_TOO_LARGE');
  const broken = await client.send('/v1/getQueue', { raw: 'this is no gzip', headers: gzip });
  const isRefused = broken.status === 400 || broken.status === 415;
  world.recorder.check(
    'a body that is not the gzip it says',
    isRefused,
    `expected 400 or 415, got ${show(broken)}`,
  );
}
