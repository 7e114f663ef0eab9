// `npm run sim -- trains`: one line of changes at loads that a plain train cannot carry.

import type { Goal, Scenario } from './experiment.ts';
import { bestLinePolicy } from './ours.ts';
import { lineOracle, linePolicies } from './policy-train.ts';
import type { Policy } from '#tool/simulate/kernel/policy.ts';
import { createLineWorkload, type LineOptions } from '#tool/simulate/kernel/workload.ts';

/** In all, for every policy: the train and what runs beside it. */
const slots = 16;

type Load = Omit<LineOptions, 'seed' | 'predictor'>;

const rush: Load = { count: 1500, arrivalsPerHour: 60, passProbability: 0.95, flakeProbability: 0.02 };
/** More bad changes and more flakes, as from agents. */
const rough: Load = { count: 1500, arrivalsPerHour: 60, passProbability: 0.85, flakeProbability: 0.05 };
const busyTeam: Load = { count: 1000, arrivalsPerHour: 20, passProbability: 0.95, flakeProbability: 0.02 };

function nameOf({ arrivalsPerHour, passProbability, flakeProbability }: Load): string {
  return `${arrivalsPerHour}/h pass ${passProbability} flake ${flakeProbability}`;
}

export function trainScenarios(count: number | undefined, extra: readonly Policy[]): Scenario[] {
  return [rush, rough, busyTeam].map((load) => ({
    name: nameOf(load),
    slots,
    policies: [lineOracle, ...linePolicies, ...extra],
    oracleFor: () => lineOracle,
    createWorkload: (seed) =>
      createLineWorkload({ ...load, count: count ?? load.count, seed, predictor: { kind: 'prior' } }),
  }));
}

function goalsOf(load: Load, policy: string, decidedPerHour: number, ciMinutesPerChange?: number): Goal[] {
  const of = (figure: Goal['figure'], label: string, value: number): Goal => ({
    scenario: nameOf(load),
    policy,
    figure,
    label,
    bound: { kind: 'about', value },
  });
  const rate = of('decidedPerHour', 'decided per hour (all PRs)', decidedPerHour);
  if (ciMinutesPerChange === undefined) return [rate];
  return [rate, of('ciMinutesPerChange', 'CI minutes per PR', ciMinutesPerChange)];
}

const ours = (figure: Goal['figure'], label: string, bound: Goal['bound']): Goal => ({
  scenario: nameOf(rush),
  policy: bestLinePolicy,
  figure,
  label,
  bound,
});

/** The model figures that are to be reproduced. Their merges an hour count every change decided, failed ones too. */
export const trainGoals: readonly Goal[] = [
  ...goalsOf(rush, 'serial', 2.0),
  ...goalsOf(rush, 'one-batch', 6.1),
  ...goalsOf(rush, 'all-green', 15.9, 49),
  ...goalsOf(rush, 'inline', 12.0, 69),
  ...goalsOf(rush, 'offline', 29.8, 25),
  ...goalsOf(rough, 'all-green', 8.2, 97),
  ...goalsOf(rough, 'inline', 4.0, 200),
  ...goalsOf(rough, 'offline', 12.7, 61),
  // Ours, at least as good as the offline model, and sound.
  ours('decidedPerHour', 'decided per hour (all PRs)', { kind: 'at-least', value: 29.8 }),
  ours('ciMinutesPerChange', 'CI minutes per PR', { kind: 'at-most', value: 25 }),
  ours('falseRemovalPercent', 'false removals in percent', { kind: 'at-most', value: 0.2 }),
  ours('badMerges', 'bad merges', { kind: 'at-most', value: 0 }),
];
