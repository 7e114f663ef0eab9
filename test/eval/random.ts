// Seeded randomness for millions of draws: sfc32, 128 bits of state, the same numbers on every machine.

export type Random = () => number;

export function createRandom(seed: number, stream: string): Random {
  let hash = 0x811c9dc5;
  const text = `${stream}/${seed}`;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  let a = hash | 0;
  let b = seed | 0;
  let c = 0x9e3779b9 | 0;
  let counter = 1;
  const random = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    c |= 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let round = 0; round < 20; round++) random();
  return random;
}

export const drawWhole = (random: Random, below: number): number => Math.floor(random() * below);

/** Trials up to the first success, itself included. */
export const drawGeometric = (random: Random, chance: number): number =>
  1 + Math.floor(Math.log(1 - random()) / Math.log(1 - chance));

export const drawLogUniform = (random: Random, from: number, to: number): number =>
  from * (to / from) ** random();

/** Each index below `size` with the same chance, ascending, without a draw for each. */
export function drawIndices(random: Random, size: number, chance: number): number[] {
  if (chance >= 1) return Array.from({ length: size }, (_, at) => at);
  const found: number[] = [];
  for (let at = drawGeometric(random, chance) - 1; at < size; at += drawGeometric(random, chance))
    found.push(at);
  return found;
}

export function shuffle<T>(random: Random, items: readonly T[]): T[] {
  const shuffled = [...items];
  for (let at = shuffled.length - 1; at > 0; at--) {
    const other = drawWhole(random, at + 1);
    [shuffled[at], shuffled[other]] = [shuffled[other]!, shuffled[at]!];
  }
  return shuffled;
}
