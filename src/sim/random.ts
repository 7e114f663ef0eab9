// Seeded randomness: the same numbers for the same seed on every machine.

/** Numbers in [0, 1). */
export type Random = () => number;

/** FNV-1a: spreads a text over 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/**
 * The mulberry32 generator: a counter that is scrambled. Its 32 bits of state are too few for statistics in earnest but
 * plenty for some thousand draws; it is the one behind the reference figures, so seeds mean the same workloads here.
 * A named stream draws apart from the others of its seed.
 */
export function createRandom(seed: number, stream?: string): Random {
  let counter = stream === undefined ? seed : hashOf(`${stream}/${seed}`);
  return () => {
    counter = (counter + 0x6d2b79f5) | 0;
    let bits = Math.imul(counter ^ (counter >>> 15), counter | 1);
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The time to the next event of a Poisson process. */
export function drawExponential(random: Random, mean: number): number {
  return -Math.log(1 - random()) * mean;
}

/** Standard normal, by Box and Muller; the second of the pair is thrown away to keep the stream simple. */
function drawNormal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return radius * Math.cos(2 * Math.PI * random());
}

export function drawLognormal(random: Random, median: number, sigma: number): number {
  return median * Math.exp(sigma * drawNormal(random));
}
