// The reference policies for changes that share targets, as the SubmitQueue evaluation compares them.

import { type BestFirstOptions, createBestFirstPlanner } from './best-first.ts';
import { createOptimisticPlanner, createOraclePlanner, createSerialPlanner } from './graph-planner.ts';
import { type GraphRules, simulateGraph } from './graph-simulation.ts';
import type { GraphQueue } from './graph-queue.ts';
import type { Policy } from '#tool/simulate/kernel/policy.ts';
import type { Workload } from '#tool/simulate/kernel/workload.ts';

function createGraphPolicy(
  name: string,
  createPlanner: GraphRules['createPlanner'],
  rules: Partial<GraphRules> = {},
): Policy {
  const all = { createPlanner, isSticky: false, canFlake: true, ...rules };
  return { name, family: 'graph', simulate: (workload, slots) => simulateGraph(workload, slots, all) };
}

/**
 * The bound: knows all outcomes. It serves in order of arrival, so it is a bound only where slots suffice for one build
 * of each change; where they are scarce, a policy that puts quick or certain builds first may have a lower median.
 */
export const graphOracle = createGraphPolicy('oracle', createOraclePlanner, { canFlake: false });

/** Serial within each set of changes that share. */
export const single = createGraphPolicy('single', createSerialPlanner);

export const optimistic = createGraphPolicy('optimistic', createOptimisticPlanner);

/** All paths, as if a change were as likely to land as not. */
export const speculateAll = createGraphPolicy('speculate-all', (queue) =>
  createBestFirstPlanner(queue, { landingProbability: () => 0.5, threshold: 0 }),
);

export const bestFirst = createBestFirst('best-first', { threshold: 0, isSticky: false });

/** Builds keep their slot while they may still be needed, and unlikely ones are never started. */
const bestFirstSticky = createBestFirst('best-first-sticky', { threshold: 0.02, isSticky: true });

export const graphPolicies: readonly Policy[] = [
  single,
  optimistic,
  speculateAll,
  bestFirst,
  bestFirstSticky,
];

export function createBestFirst(name: string, options: { threshold: number; isSticky: boolean }): Policy {
  const { threshold, isSticky } = options;
  return createGraphPolicy(
    name,
    (queue, workload) => createBestFirstPlanner(queue, { ...predictionOf(queue, workload), threshold }),
    { isSticky },
  );
}

/** Passes alone, and conflicts with none of those that landed while it waited or still may. */
function predictionOf(queue: GraphQueue, workload: Workload): Pick<BestFirstOptions, 'landingProbability'> {
  const peace = 1 - workload.conflictProbability;
  return {
    landingProbability: (place) => queue.changes[place]!.predictedPass * peace ** queue.exposure[place]!,
  };
}
