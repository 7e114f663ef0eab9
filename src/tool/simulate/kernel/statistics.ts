/** The value below which the given share (0 to 1) of the values lies; NaN if there are none. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) return NaN;
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}

export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/** Half of the 95 % interval of the mean, by the normal distribution; 0 if there is one value. */
export function meanInterval(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const middle = mean(values);
  const variance = sum(values.map((value) => (value - middle) ** 2)) / (values.length - 1);
  return 1.96 * Math.sqrt(variance / values.length);
}

export function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** As `percentile`, between the two nearest values: what the API and PostgreSQL's percentile_cont say. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return NaN;
  const sorted = Float64Array.from(values).sort();
  const at = share * (sorted.length - 1);
  const low = Math.floor(at);
  return sorted[low]! + (at - low) * ((sorted[low + 1] ?? sorted[low]!) - sorted[low]!);
}

/**
 * Values as likely as the observed ones, given that only a lower bound is known of others. Long runs are
 * stopped early more often, so the observed values are too short on the whole. Each bound gives its weight to
 * all longer values (Kaplan-Meier estimator); the result has `count` values of equal weight, in order.
 */
export function uncensored(
  seen: readonly number[],
  bounds: readonly number[],
  count = 400,
): readonly number[] {
  if (bounds.length === 0 || seen.length === 0) return seen;
  const all = [
    ...seen.map((value) => ({ value, isSeen: true })),
    ...bounds.map((value) => ({ value, isSeen: false })),
  ].toSorted((a, b) => a.value - b.value || Number(b.isSeen) - Number(a.isSeen));
  const values: number[] = [];
  let weight = 1;
  let total = 0;
  let last = 0;
  for (const [at, { value, isSeen }] of all.entries()) {
    if (isSeen) {
      total += weight;
      last = value;
      while (values.length + 0.5 < (total / all.length) * count) values.push(value);
    } else if (at + 1 < all.length) weight += weight / (all.length - at - 1);
  }
  // Bounds above every observed value: how far above is unknown.
  while (values.length < count) values.push(last);
  return values;
}
