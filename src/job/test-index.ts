// Which number has the test with this id? A worker asks this for every result of a repository with up to millions of
// tests, so the answer is in memory, in flat arrays: open addressing, 16 bytes a place, at most four places of five
// taken. Of an id 94 bits are compared, all but the fixed ones of one half: two tests that agree in these do not occur.

import type { Digest } from './test-identity.ts';

export type TestIndex = {
  /** The test's number; -1: it is not known. */
  readonly find: (id: Digest) => number;
  /** Of a test that is not known yet. */
  readonly add: (id: Digest, ordinal: number) => void;
  readonly size: () => number;
};

const placesMin = 1_024;
const fullShare = 0.8;
const growth = 1.6;
const wordRange = 2 ** 32;

/** Four bytes from a place on. */
const wordAt = (id: Digest, at: number): number =>
  ((id.charCodeAt(at) << 24) |
    (id.charCodeAt(at + 1) << 16) |
    (id.charCodeAt(at + 2) << 8) |
    id.charCodeAt(at + 3)) >>>
  0;

/** The same without the two bits that are fixed in a UUID and not in a digest. */
const thirdWord = (id: Digest): number => (wordAt(id, 8) & 0x3f_ff_ff_ff) >>> 0;

export function createTestIndex(): TestIndex {
  let places = placesMin;
  let keys = new Uint32Array(places * 3);
  let ordinals = new Int32Array(places).fill(-1);
  let size = 0;

  /** Where the key is, or the free place where it would be. */
  const seek = (a: number, b: number, c: number): number => {
    let place = Math.floor((a / wordRange) * places);
    while (ordinals[place] !== -1) {
      const at = place * 3;
      if (keys[at] === a && keys[at + 1] === b && keys[at + 2] === c) return place;
      if (++place === places) place = 0;
    }
    return place;
  };

  const put = (a: number, b: number, c: number, ordinal: number): void => {
    const place = seek(a, b, c);
    keys[place * 3] = a;
    keys[place * 3 + 1] = b;
    keys[place * 3 + 2] = c;
    ordinals[place] = ordinal;
  };

  const grow = (): void => {
    const before = { places, keys, ordinals };
    places = Math.ceil(places * growth);
    keys = new Uint32Array(places * 3);
    ordinals = new Int32Array(places).fill(-1);
    for (let place = 0; place < before.places; place++) {
      const ordinal = before.ordinals[place]!;
      const at = place * 3;
      if (ordinal !== -1) put(before.keys[at]!, before.keys[at + 1]!, before.keys[at + 2]!, ordinal);
    }
  };

  return {
    find: (id) => ordinals[seek(wordAt(id, 0), thirdWord(id), wordAt(id, 12))]!,
    add: (id, ordinal) => {
      if (size >= places * fullShare) grow();
      put(wordAt(id, 0), thirdWord(id), wordAt(id, 12), ordinal);
      size++;
    },
    size: () => size,
  };
}
