// What the benchmarks share: medians, percentiles, and figures with a goal.

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
};

/** The smallest value that the given share of all does not exceed. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

export type Goal = {
  readonly name: string;
  readonly value: number;
  readonly goal: string;
  readonly isMet: boolean;
};

export function goal(name: string, value: number, sign: '>=' | '<=', bound: number): Goal {
  return {
    name,
    value,
    goal: `${sign} ${sign === '>=' ? bound.toFixed(2) : bound}`,
    isMet: sign === '>=' ? value >= bound : value <= bound,
  };
}

export function printGoals(goals: readonly Goal[]): void {
  for (const { name, value, goal: bound } of goals)
    console.log(`${name}: ${value.toFixed(2)} (goal ${bound})`);
}
