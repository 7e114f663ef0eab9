// `npm run sim -- risk`: what the prediction of failures buys. The workloads are rows of the goals whose bad changes come from a
// world in which a known share of a failure can be foreseen (risk-world.ts). Each is played without predictions, with those of the
// model, which has learned from 3,000 changes before and continues to learn, and with the best that anything could predict.

import { assert } from '#base/assert.ts';
import { replayAttempts } from '#core/queue/risk/risk.ts';
import { createRandom } from '#tool/simulate/kernel/random.ts';
import type { Workload } from '#tool/simulate/kernel/workload.ts';
import { type GoalRow, rowsAskedFor } from './goals.ts';
import { createRiskWorld } from './risk-world.ts';

type Load = { readonly failureShare: number; readonly buildBreakShare?: number };

/** Rows of the goals, and which changes fail there. */
const loads: Readonly<Record<string, Load>> = {
  L1: { failureShare: 0.05 },
  L2: { failureShare: 0.05 },
  L3: { failureShare: 0.15 },
  L5: { failureShare: 0.05, buildBreakShare: 0.3 },
  G2: { failureShare: 0.1 },
};

const changesBefore = 3_000;

type Predictions = 'none' | 'learned' | 'foreseeable';

const variants: readonly { readonly predictions: Predictions; readonly visibleShare: number }[] = [
  { predictions: 'none', visibleShare: 0.5 },
  { predictions: 'learned', visibleShare: 0.25 },
  { predictions: 'learned', visibleShare: 0.5 },
  { predictions: 'learned', visibleShare: 0.75 },
  { predictions: 'foreseeable', visibleShare: 0.5 },
];

/** The same changes, of which others fail. */
function withRisk(
  workload: Workload,
  { failureShare, buildBreakShare = 0 }: Load,
  { predictions, visibleShare }: (typeof variants)[number],
): Workload {
  const { seed, changes } = workload;
  const lastAtMin = changes.at(-1)!.arrivesAtMin;
  const everyMin = lastAtMin / changes.length;
  const before = Array.from({ length: changesBefore }, (_, at) => (at - changesBefore) * everyMin);
  const submittedAtMin = [...before, ...changes.map(({ arrivesAtMin }) => arrivesAtMin)];
  const attempts = createRiskWorld({ seed, submittedAtMin, failureShare, visibleShare });
  const { outcomes } = replayAttempts(attempts);
  assert(outcomes.length >= changes.length, 'every change is predicted');
  const learned = outcomes.slice(-changes.length);
  const builds = createRandom(seed, 'build');
  return {
    ...workload,
    isPredicted: predictions !== 'none',
    changes: changes.map((change, at) => {
      const { hasFailed, foreseeable } = attempts[changesBefore + at]!;
      const fails = predictions === 'learned' ? learned[at]!.probability : foreseeable;
      const breaksBuild = builds() < buildBreakShare && hasFailed;
      return { ...change, isGood: !hasFailed, breaksBuild, predictedPass: 1 - fails };
    }),
  };
}

export function riskRows(only: readonly string[] | undefined): readonly GoalRow[] {
  const asked = only ?? Object.keys(loads);
  const unknown = asked.find((id) => loads[id] === undefined);
  if (unknown !== undefined)
    throw new Error(`No row ${unknown}; there are ${Object.keys(loads).join(', ')}.`);
  return rowsAskedFor(asked).flatMap((row) =>
    variants.map((variant) => ({
      ...row,
      name: `${row.name}, ${variant.predictions} ${variant.visibleShare}`,
      createWorkload: (seed, count) => withRisk(row.createWorkload(seed, count), loads[row.id]!, variant),
      bounds: { badMerges: 0 },
    })),
  );
}
