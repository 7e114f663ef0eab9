// `npm run sim -- goals|risk|submitqueue|trains|trace FILE`: compares merge queue policies on simulated workloads. Exits with 1
// if a goal is missed and with 2 if the command line makes no sense.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row, Scenario, Verdict } from './experiment.ts';
import { verdictsOf } from './experiment.ts';
import { createExperiment, type Experiment, slugOf } from './experiments.ts';
import { hasGoalRows, type Options, parseOptions, usage } from './options.ts';
import { plotCosts, plotTurnarounds } from './plot.ts';
import { playScenarios } from './pool.ts';
import { formatGoalRows, formatScenario, formatVerdict } from './report.ts';

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
  if (hasGoalRows(options)) write(formatGoalRows(`Default settings, mean of ${seeds}`, rows));
  else
    for (const { name, slots } of scenarios) {
      const own = rows.filter((row) => row.scenario === name);
      write(formatScenario(`${name}, ${slots} slots, mean of ${seeds}`, own));
    }
  for (const verdict of verdicts) write(formatVerdict(verdict));
}

async function main(): Promise<number> {
  let options: Options;
  let experiment: Experiment;
  try {
    options = parseOptions(process.argv.slice(2));
    experiment = createExperiment(options);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}\n`);
    return 2;
  }
  const { scenarios, goals, isChecked } = experiment;
  const rows = await playScenarios(options, scenarios);
  const verdicts = verdictsOf(rows, goals, isChecked);
  const names = scenarios.map(({ name }) => name);
  if (options.plotsDir !== undefined) writePlots(options.plotsDir, options.experiment, names, rows);
  print(options, scenarios, rows, verdicts);
  return verdicts.some(({ isMet }) => isMet === false) ? 1 : 0;
}

process.exitCode = await main();
