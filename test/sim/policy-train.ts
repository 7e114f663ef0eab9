// The reference policies for one line, each a model of what a well-known queue documents.

import { simulateLineOracle } from './line-oracle.ts';
import type { Policy } from '#tool/simulate/kernel/policy.ts';
import type { TrainRules } from './train.ts';
import { simulateTrain } from './train-simulation.ts';

const plainRules: Omit<TrainRules, 'groupsMax'> = {
  groupSize: 1,
  fillWaitMin: 0,
  isOptimistic: false,
  failureDepth: 0,
  bisection: 'inline',
  sideSlots: 0,
};

const batchRules = { ...plainRules, groupSize: 4, fillWaitMin: 5, isOptimistic: true, failureDepth: 1 };

/** Of the slots given, those that an offline bisection takes from the train. */
const offlineSideSlots = 6;

function createLinePolicy(name: string, rulesFor: (slots: number) => TrainRules): Policy {
  return { name, family: 'line', simulate: (workload, slots) => simulateTrain(workload, rulesFor(slots)) };
}

/** The bound: knows all outcomes and has no limit of slots. */
export const lineOracle: Policy = { name: 'line-oracle', family: 'line', simulate: simulateLineOracle };

/** homu: one change at a time. */
export const serial = createLinePolicy('serial', () => ({ ...plainRules, groupsMax: 1 }));

/** bors-ng: one batch of up to eight at a time, halved when it fails. */
export const oneBatch = createLinePolicy('one-batch', () => ({ ...plainRules, groupsMax: 1, groupSize: 8 }));

/** GitHub and GitLab: every change runs on all before it, and merges once it and all before it are green. */
export const allGreen = createLinePolicy('all-green', (slots) => ({ ...plainRules, groupsMax: slots }));

/** Like Mergify and Aviator: batches of four, optimistic, and a failed batch is halved in the train. */
export const inlineBisection = createLinePolicy('inline', (slots) => ({ ...batchRules, groupsMax: slots }));

/** Like Trunk: the same, but a failed batch leaves the train and is halved beside it. */
export const offlineBisection = createLinePolicy('offline', (slots) => {
  const sideSlots = Math.min(offlineSideSlots, Math.max(1, Math.floor(slots / 2)));
  return { ...batchRules, groupsMax: Math.max(1, slots - sideSlots), bisection: 'offline', sideSlots };
});

export const linePolicies: readonly Policy[] = [
  serial,
  oneBatch,
  allGreen,
  inlineBisection,
  offlineBisection,
];
