// Maps the id of a test to its number. A worker looks this up for every result of a repository with up to
// millions of tests, so the index is in memory, in flat arrays: open addressing, 16 bytes per slot, at most
// four of five slots used. 94 bits of an id are compared, all but the fixed ones of three of its four 32-bit parts:
// two tests that agree in these do not occur.

import type { Digest } from './test-identity.ts';

export type TestIndex = {
  /** The test's number; -1: it is not known. */
  readonly find: (id: Digest) => number;
  /** Adds a test that is not known yet. */
  readonly add: (id: Digest, ordinal: number) => void;
  readonly size: () => number;
};

const placesMin = 1_024;
const fullShare = 0.8;
const growth = 1.6;
const uint32Range = 2 ** 32;

/** Four bytes at an index. */
const readUint32 = (id: Digest, at: number): number =>
  ((id.charCodeAt(at) << 24) |
    (id.charCodeAt(at + 1) << 16) |
    (id.charCodeAt(at + 2) << 8) |
    id.charCodeAt(at + 3)) >>>
  0;

/** The third 32-bit part without the two bits that are fixed in a UUID and not in a digest. */
const readThirdUint32 = (id: Digest): number => (readUint32(id, 8) & 0x3f_ff_ff_ff) >>> 0;

export function createTestIndex(): TestIndex {
  let places = placesMin;
  let keys = new Uint32Array(places * 3);
  let ordinals = new Int32Array(places).fill(-1);
  let size = 0;

  /** The slot of the key, or the free slot where it would be. */
  const seek = (a: number, b: number, c: number): number => {
    let place = Math.floor((a / uint32Range) * places);
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
    find: (id) => ordinals[seek(readUint32(id, 0), readThirdUint32(id), readUint32(id, 12))]!,
    add: (id, ordinal) => {
      if (size >= places * fullShare) grow();
      put(readUint32(id, 0), readThirdUint32(id), readUint32(id, 12), ordinal);
      size++;
    },
    size: () => size,
  };
}
