// Seeded randomness: the same numbers for the same seed on every machine.

import { createRandom as createGenerator, type Random } from '#base/random.ts';

/** FNV-1a: spreads a text over 32 bits. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** A named stream is independent of the others of its seed. */
export const createRandom = (seed: number, stream?: string): Random =>
  createGenerator(stream === undefined ? seed : hashText(`${stream}/${seed}`));

/** The time to the next event of a Poisson process. */
export function drawExponential(random: Random, mean: number): number {
  return -Math.log(1 - random()) * mean;
}

/** Standard normal (Box-Muller); the second of the pair is discarded to keep the stream simple. */
export function drawNormal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return radius * Math.cos(2 * Math.PI * random());
}

export function drawLognormal(random: Random, median: number, sigma: number): number {
  return median * Math.exp(sigma * drawNormal(random));
}
