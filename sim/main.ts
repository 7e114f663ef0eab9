// `npm run sim -- submitqueue|trains|trace FILE`: compares merge queue policies on simulated workloads. Exits with 1 if
// a goal is missed and with 2 if the command line makes no sense.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Goal, type Row, runScenario, type Scenario, type Verdict, verdictsOf } from './experiment.ts';
import { isReferenceRun, type Options, parseOptions, usage } from './options.ts';
import { ourPolicies } from './ours.ts';
import { plotCosts, plotTurnarounds } from './plot.ts';
import { graphOracle, graphPolicies } from './policy-graph.ts';
import { lineOracle, linePolicies } from './policy-train.ts';
import type { Policy } from '#sim/policy.ts';
import { formatScenario, formatVerdict } from './report.ts';
import { submitQueueGoals, submitQueueScenarios } from './submitqueue.ts';
import { readTrace } from './trace.ts';
import { trainGoals, trainScenarios } from './trains.ts';
import { disturb } from '#sim/workload.ts';

/** Pushes and cancellations come this long after arrival, on average. */
const disturbanceDelayMin = 15;

/** THE PLACE where policies beyond the references join the experiments: by family, those of ./ours.ts. */
const extraPolicies = (family: Policy['family']) => ourPolicies.filter((policy) => policy.family === family);

type Experiment = { readonly scenarios: readonly Scenario[]; readonly goals: readonly Goal[] };

function createExperiment({ experiment, count, slots, traceFile }: Options): Experiment {
  switch (experiment) {
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
function slugOf(name: string): string {
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

function showProgress(scenario: string, policy: string, seed: number): void {
  if (process.stderr.isTTY) process.stderr.write(`${scenario}: ${policy}, seed ${seed}\n`);
}

function writePlots(
  dir: string,
  experiment: string,
  scenarios: readonly string[],
  rows: readonly Row[],
): void {
  mkdirSync(dir, { recursive: true });
  for (const scenario of scenarios) {
    const own = rows.filter((row) => row.scenario === scenario);
    const file = (kind: string) => join(dir, `${experiment}-${slugOf(scenario)}-${kind}.svg`);
    writeFileSync(file('turnaround'), plotTurnarounds(`Turnaround over the oracle's, ${scenario}`, own));
    writeFileSync(file('cost'), plotCosts(`Merges per hour and CI minutes, ${scenario}`, own));
  }
}

function print(
  options: Options,
  scenarios: readonly Scenario[],
  rows: readonly Row[],
  verdicts: readonly Verdict[],
) {
  const write = (text: string) => process.stdout.write(`${text}\n`);
  if (options.isJson) {
    write(JSON.stringify({ experiment: options.experiment, seeds: options.seeds, rows, goals: verdicts }));
    return;
  }
  const seeds = `${options.seeds.length} ${options.seeds.length === 1 ? 'seed' : 'seeds'}`;
  for (const { name, slots } of scenarios) {
    const own = rows.filter((row) => row.scenario === name);
    write(formatScenario(`${name}, ${slots} slots, mean of ${seeds}`, own));
  }
  for (const verdict of verdicts) write(formatVerdict(verdict));
}

function main(): number {
  let options: Options;
  let experiment: Experiment;
  try {
    options = parseOptions(process.argv.slice(2));
    experiment = createExperiment(options);
    checkPolicyNames(experiment.scenarios, options);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}\n`);
    return 2;
  }
  const scenarios = experiment.scenarios.map((scenario) => adapt(scenario, options));
  const rows = scenarios.flatMap((scenario) => runScenario(scenario, options.seeds, showProgress));
  const verdicts = verdictsOf(rows, experiment.goals, isReferenceRun(options));
  const names = scenarios.map(({ name }) => name);
  if (options.plotsDir !== undefined) writePlots(options.plotsDir, options.experiment, names, rows);
  print(options, scenarios, rows, verdicts);
  return verdicts.some(({ isMet }) => isMet === false) ? 1 : 0;
}

process.exitCode = main();
