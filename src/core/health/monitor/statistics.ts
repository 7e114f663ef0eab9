// The few formulas that classification needs, written here: core has no packages.

/** The Wilson interval of a share, at 95 %: 2 of 20 is 10 %, at least 2.8 % and at most 30 %. */
export function wilsonInterval(
  hits: number,
  trials: number,
): { readonly low: number; readonly high: number } {
  if (trials === 0) return { low: 0, high: 1 };
  const z = 1.96;
  const share = hits / trials;
  const spread = z * Math.sqrt((share * (1 - share) + (z * z) / (4 * trials)) / trials);
  const middle = share + (z * z) / (2 * trials);
  const scale = 1 + (z * z) / trials;
  return { low: Math.max(0, (middle - spread) / scale), high: Math.min(1, (middle + spread) / scale) };
}

/** Its lower end. */
export const wilsonLower = (hits: number, trials: number): number => wilsonInterval(hits, trials).low;

/** The chance of at least `count` events where `mean` are expected. Summed upwards, so that small ones stay exact. */
export function poissonTail(mean: number, count: number): number {
  if (count <= 0) return 1;
  if (mean <= 0) return 0;
  let term = Math.exp(-mean);
  for (let k = 1; k <= count; k++) term *= mean / k;
  let sum = 0;
  for (let k = count; term > sum * 1e-12; k++) {
    sum += term;
    term *= mean / (k + 1);
  }
  return Math.min(1, sum);
}

/** The logarithm of the gamma function above 0, by Stirling's series, to eleven digits: small arguments are moved up. */
export function lnGamma(x: number): number {
  let shift = 0;
  let z = x;
  for (; z < 12; z++) shift += Math.log(z);
  const inverse = 1 / z;
  const square = inverse * inverse;
  const series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)));
  return (z - 0.5) * Math.log(z) - z + 0.5 * Math.log(2 * Math.PI) + series - shift;
}

/**
 * How many passes in a row show, at 95 %, that something that failed at this rate no longer does. Waiting for
 * them after each of `looks` failures finds them by luck that much more often, so the threshold is that much
 * stricter.
 */
export function passesToTrust(rate: number, looks = 1): number {
  if (rate <= 0) return Infinity;
  return rate >= 1 ? 1 : Math.ceil(Math.log(0.05 / Math.max(1, looks)) / Math.log(1 - rate));
}
