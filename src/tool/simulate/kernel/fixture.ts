// Tiny workloads for the tests, small enough to follow by hand.

import type { PolicyRun } from './policy.ts';
import type { WorkloadChange, Disturbance, Workload } from './workload.ts';

type Sketch = Partial<WorkloadChange> & Pick<WorkloadChange, 'arrivesAtMin'>;

/** Changes numbered from 1; by default each is good, takes ten minutes of CI and shares no target. */
export function sketchWorkload(
  changes: readonly Sketch[],
  rest: { readonly flakeProbability?: number; readonly disturbances?: readonly Disturbance[] } = {},
): Workload {
  const plain = { durationMin: 10, isGood: true, conflictsWith: [], shares: [], predictedPass: 0.95 };
  return {
    name: 'sketch',
    seed: 1,
    flakeProbability: 0,
    conflictProbability: 0,
    disturbances: [],
    ...rest,
    changes: changes.map((change, at) => ({ number: at + 1, ...plain, ...change })),
  };
}

/**
 * What a run did in one line for each change: `2 merged at 11`.
 *
 * @internal
 */
export function describeDecisions({ decisions }: PolicyRun): string[] {
  return decisions.map(({ number, outcome, atMin }) => `${number} ${outcome} at ${Number(atMin.toFixed(3))}`);
}
