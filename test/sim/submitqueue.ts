// `npm run sim -- submitqueue`: the SubmitQueue evaluation (EuroSys 2019, section 8) on generated workloads.

import type { Goal, Scenario } from './experiment.ts';
import { graphOracle, graphPolicies, single } from './policy-graph.ts';
import type { Policy } from '#tool/simulate/kernel/policy.ts';
import { createGraphWorkload, submitQueueOptions } from '#tool/simulate/kernel/workload.ts';

const slots = 500;

/** Changes of one workload, unless the command line says how many. The sanity check has its own, as in the reference. */
const countDefault = 800;
const sanityCountDefault = 500;

function createScenario(sharingProbability: number, count: number, policies: readonly Policy[]): Scenario {
  return {
    name: `c=${sharingProbability}`,
    slots,
    policies: [graphOracle, ...policies],
    oracleFor: () => graphOracle,
    createWorkload: (seed) => createGraphWorkload({ ...submitQueueOptions, seed, count, sharingProbability }),
  };
}

export function submitQueueScenarios(count: number | undefined, extra: readonly Policy[]): Scenario[] {
  const policies = [...graphPolicies, ...extra];
  return [
    ...[0.005, 0.01, 0.02].map((sharing) => createScenario(sharing, count ?? countDefault, policies)),
    // No conflict analysis at all: the only figures that the paper itself publishes for a serial queue.
    createScenario(1, count ?? sanityCountDefault, [single]),
  ];
}

function goalsOf(scenario: string, policy: string, p50: number, p95: number, p99: number): Goal[] {
  const figures = [
    { figure: 'p50OverOracle', label: 'P50 over oracle', value: p50 },
    { figure: 'p95OverOracle', label: 'P95 over oracle', value: p95 },
    { figure: 'p99OverOracle', label: 'P99 over oracle', value: p99 },
  ] as const;
  return figures.map(({ value, ...rest }) => ({
    scenario,
    policy,
    ...rest,
    bound: { kind: 'about', value },
  }));
}

/** The re-run of the evaluation, with the model figures that are to be reproduced. */
export const submitQueueGoals: readonly Goal[] = [
  ...goalsOf('c=0.01', 'single', 3.44, 4.66, 4.86),
  ...goalsOf('c=0.01', 'optimistic', 1.52, 2.28, 2.22),
  ...goalsOf('c=0.01', 'best-first', 1.08, 1.12, 1.13),
  ...goalsOf('c=1', 'single', 86, 136, 139),
];
