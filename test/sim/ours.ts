// The product's own planner as policies, beside the reference ones.

import type { QueueSettings } from '#core/queue/settings.ts';
import { playPlanner } from '#tool/simulate/kernel/play.ts';
import type { Policy } from '#tool/simulate/kernel/policy.ts';

/** Settings that the slots of an experiment are given to. */
type Settings = (slots: number) => Partial<QueueSettings>;

function policyOf(name: string, family: Policy['family'], settings: Settings): Policy {
  return {
    name,
    family,
    simulate: (workload, slots) => playPlanner(workload, settings(slots)),
  };
}

const batching = { batch: true, batchingMaxWaitTimeMinutes: 5, canOptimisticallyMerge: true };

/** Ten sixteenths of the slots for the line, the rest for searches, as the offline model has it. */
const split = (slots: number) => {
  const concurrency = Math.max(1, Math.round((slots * 10) / 16));
  return { concurrency, bisectionConcurrency: Math.max(1, slots - concurrency) };
};

/** Half of the slots each: a shorter line has less to begin anew when a batch fails. Found by trying, on other seeds too. */
const halves = (slots: number) => ({
  concurrency: Math.max(1, Math.floor(slots / 2)),
  bisectionConcurrency: Math.max(1, Math.ceil(slots / 2)),
});

/** The settings that did best on a busy line. */
export const bestLinePolicy = 'Signalbox, best settings';

/** The product's own planner, compared with the reference policies of its family. */
export const ourPolicies: readonly Policy[] = [
  policyOf('Signalbox, lanes', 'graph', (slots) => ({
    mode: 'parallel',
    concurrency: Math.min(1000, slots),
  })),
  policyOf('Signalbox, manual', 'graph', (slots) => ({
    mode: 'parallel',
    strategy: 'manual',
    concurrency: Math.min(1000, slots),
  })),
  policyOf('Signalbox, default settings', 'line', (slots) => ({ concurrency: slots })),
  policyOf('Signalbox, as the offline model', 'line', (slots) => ({
    ...batching,
    pendingFailureDepth: 1,
    batchingMinSize: 4,
    ...split(slots),
  })),
  policyOf(bestLinePolicy, 'line', (slots) => ({ ...batching, batchingMinSize: 6, ...halves(slots) })),
];
