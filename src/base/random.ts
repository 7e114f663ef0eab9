// Seeded randomness: the same numbers for the same seed on every machine.

/** Numbers in [0, 1). */
export type Random = () => number;

/**
 * The mulberry32 generator: a counter that is scrambled. Its 32 bits of state are too few for statistics in earnest but
 * plenty for some thousand draws; it is the one behind the reference figures, so seeds mean the same workloads here.
 */
export function createRandom(seed: number): Random {
  let counter = seed;
  return () => {
    counter = (counter + 0x6d2b79f5) | 0;
    let bits = Math.imul(counter ^ (counter >>> 15), counter | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}
