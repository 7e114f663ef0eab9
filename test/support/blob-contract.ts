// What every store of uploads must do, with bytes that are made as they are asked for: nothing here holds an upload whole.
import { createHash } from 'node:crypto';
import { v7 as newId } from 'uuid';
import { describe, expect, it } from 'vitest';
import type { BlobKey, BlobStore } from '#blob/blob.ts';

const mebibyte = 1024 * 1024;

export const newKey = (): BlobKey => ({ uploadId: newId(), uploadedAt: new Date() });

/** So many bytes that no other seed gives, in chunks of uneven sizes. */
export async function* bytesOf(size: number, seed = 1): AsyncGenerator<Uint8Array> {
  let state = seed;
  for (let made = 0; made < size;) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    const chunk = Buffer.alloc(Math.min(size - made, 1 + (state % 131_072)), `${seed}:${made};`);
    made += chunk.length;
    yield await Promise.resolve(chunk);
  }
}

async function* broken(size: number): AsyncGenerator<Uint8Array> {
  yield* bytesOf(size);
  throw new Error('the client hung up');
}

type Content = { readonly bytes: number; readonly hash: string };

async function contentOf(bytes: AsyncIterable<Uint8Array> | null): Promise<Content | null> {
  if (bytes === null) return null;
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of bytes) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { bytes: size, hash: hash.digest('hex') };
}

export function describeBlobStore(name: string, storeOf: () => BlobStore): void {
  const read = async (key: BlobKey) => contentOf(await storeOf().read(key));

  describe(`uploads in ${name}`, () => {
    it('come back as they were, whatever their size', async () => {
      const sizes = [
        0,
        1,
        mebibyte,
        5 * mebibyte,
        8 * mebibyte - 1,
        8 * mebibyte,
        8 * mebibyte + 1,
        21 * mebibyte,
      ];
      for (const size of sizes) {
        const key = newKey();
        await storeOf().write(key, bytesOf(size));
        expect(await read(key)).toEqual(await contentOf(bytesOf(size)));
      }
    });

    it('are not there when nobody wrote them', async () => {
      expect(await storeOf().read(newKey())).toBeNull();
    });

    it('are what was written last', async () => {
      const key = newKey();
      await storeOf().write(key, bytesOf(17 * mebibyte, 1));
      await storeOf().write(key, bytesOf(1000, 2));
      expect(await read(key)).toEqual(await contentOf(bytesOf(1000, 2)));
    });

    it.each([
      ['soon', 1000],
      ['late', 20 * mebibyte],
    ])('are not there when they broke off %s', async (_, size) => {
      const key = newKey();
      await expect(storeOf().write(key, broken(size))).rejects.toThrow('the client hung up');
      expect(await storeOf().read(key)).toBeNull();
    });

    it('stay as they were when what should take their place breaks off', async () => {
      const key = newKey();
      await storeOf().write(key, bytesOf(10 * mebibyte, 1));
      await expect(storeOf().write(key, broken(12 * mebibyte))).rejects.toThrow('the client hung up');
      expect(await read(key)).toEqual(await contentOf(bytesOf(10 * mebibyte, 1)));
    });

    it('do not mix when several are written at once, be it to one place', async () => {
      const seeds = [1, 2, 3, 4, 5, 6];
      const keys = seeds.map(newKey);
      const shared = newKey();
      const size = 9 * mebibyte;
      await Promise.all(
        seeds.flatMap((seed, at) => [
          storeOf().write(keys[at] ?? shared, bytesOf(size, seed)),
          ...(seed < 3 ? [storeOf().write(shared, bytesOf(size, seed))] : []),
        ]),
      );
      for (const [at, seed] of seeds.entries())
        expect(await read(keys[at] ?? shared)).toEqual(await contentOf(bytesOf(size, seed)));
      const candidates = [await contentOf(bytesOf(size, 1)), await contentOf(bytesOf(size, 2))];
      expect(candidates).toContainEqual(await read(shared));
    });

    it('of 200 MiB need little memory, there and back', { timeout: 120_000 }, async () => {
      const key = newKey();
      let most = 0;
      const before = process.memoryUsage().arrayBuffers;
      async function* watched(bytes: AsyncIterable<Uint8Array>) {
        for await (const chunk of bytes) {
          most = Math.max(most, process.memoryUsage().arrayBuffers - before);
          yield chunk;
        }
      }
      await storeOf().write(key, watched(bytesOf(200 * mebibyte)));
      const found = await storeOf().read(key);
      expect((await contentOf(found === null ? null : watched(found)))?.bytes).toBe(200 * mebibyte);
      expect(most / mebibyte).toBeLessThan(128);
    });
  });
}
