// The experiments by name, as the command line asks for them.

import { disturb } from '#tool/simulate/kernel/workload.ts';
import type { Policy } from '#tool/simulate/kernel/policy.ts';
import type { Goal, Scenario } from './experiment.ts';
import { goalScenarios, goalsOf, rowsAskedFor } from './goals.ts';
import { isReferenceRun, type Options } from './options.ts';
import { ourPolicies } from './ours.ts';
import { graphOracle, graphPolicies } from './policy-graph.ts';
import { lineOracle, linePolicies } from './policy-train.ts';
import { riskRows } from './risk.ts';
import { submitQueueGoals, submitQueueScenarios } from './submitqueue.ts';
import { readTrace } from './trace.ts';
import { trainGoals, trainScenarios } from './trains.ts';

/** Pushes and cancellations come this long after arrival, on average. */
const disturbanceDelayMin = 15;

/** THE PLACE where policies beyond the references join the experiments: by family, those of ./ours.ts. */
const extraPolicies = (family: Policy['family']) => ourPolicies.filter((policy) => policy.family === family);

export type Experiment = {
  readonly scenarios: readonly Scenario[];
  readonly goals: readonly Goal[];
  /** Goals are held only against the run they were set for. */
  readonly isChecked: boolean;
};

/** As `options` ask for it; throws if there is no such policy or row. */
export function createExperiment(options: Options): Experiment {
  const { scenarios, goals } = createPlain(options);
  checkPolicyNames(scenarios, options);
  return {
    scenarios: scenarios.map((scenario) => adapt(scenario, options)),
    goals,
    isChecked: isReferenceRun(options),
  };
}

function createPlain(options: Options): Omit<Experiment, 'isChecked'> {
  const { experiment, count, slots, traceFile } = options;
  switch (experiment) {
    case 'goals': {
      const rows = rowsAskedFor(options.only);
      return { scenarios: goalScenarios(rows, options), goals: rows.flatMap(goalsOf) };
    }
    case 'risk': {
      const rows = riskRows(options.only);
      return { scenarios: goalScenarios(rows, options), goals: rows.flatMap(goalsOf) };
    }
    case 'submitqueue':
      return { scenarios: submitQueueScenarios(count, extraPolicies('graph')), goals: submitQueueGoals };
    case 'trains':
      return { scenarios: trainScenarios(count, extraPolicies('line')), goals: trainGoals };
    case 'trace':
      return { scenarios: [traceScenario(traceFile!, slots)], goals: [] };
  }
}

/** Both families play a trace; each is compared with the oracle of its own. */
function traceScenario(file: string, slots: number): Scenario {
  const workload = readTrace(file);
  const ours = [...extraPolicies('graph'), ...extraPolicies('line')];
  return {
    name: workload.name,
    slots,
    policies: [graphOracle, ...graphPolicies, lineOracle, ...linePolicies, ...ours],
    oracleFor: ({ family }) => (family === 'graph' ? graphOracle : lineOracle),
    createWorkload: () => workload,
  };
}

/** How a policy is named on the command line: `Signalbox, lanes` is signalbox-lanes. */
export function slugOf(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9.]+/g, '-');
}

/** The scenario with the policies and disturbances that were asked for. The oracle stays: it is the measure. */
function adapt(scenario: Scenario, { policies, pushedShare, cancelledShare }: Options): Scenario {
  const isOracle = (policy: Policy) => scenario.oracleFor(policy) === policy;
  const shares = { pushedShare, cancelledShare, delayMin: disturbanceDelayMin };
  return {
    ...scenario,
    policies: scenario.policies.filter(
      (policy) => isOracle(policy) || (policies?.includes(slugOf(policy.name)) ?? true),
    ),
    createWorkload: (seed) => {
      const workload = scenario.createWorkload(seed);
      return pushedShare + cancelledShare === 0 ? workload : disturb(workload, shares);
    },
  };
}

function checkPolicyNames(scenarios: readonly Scenario[], { policies }: Options): void {
  const known = new Set(scenarios.flatMap((scenario) => scenario.policies.map(({ name }) => slugOf(name))));
  const unknown = policies?.find((name) => !known.has(name));
  if (unknown !== undefined) throw new Error(`No policy ${unknown}; there are ${[...known].join(', ')}.`);
}
