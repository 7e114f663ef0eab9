// Changes that come back: an author whose change was removed repairs it and submits it again.

import { createRandom, drawExponential } from './random.ts';
import type { Workload, WorkloadChange } from './workload.ts';

export type ResubmissionOptions = {
  /** Probability that a removed change comes back, each time. Below 1. */
  readonly probability: number;
  /** Mean time from its removal to its next submission; exponential. */
  readonly delayMin: number;
  /** Probability that the repaired change passes CI alone. */
  readonly passProbability: number;
};

/**
 * The same workload, in which removed changes come back under a new number. The next submission of a change arrives only
 * if the previous one was removed, for a fault or by chance, so the list holds more changes than will arrive. A repaired
 * change conflicts with none: its author has seen what it broke with.
 */
export function resubmitRemoved(workload: Workload, options: ResubmissionOptions): Workload {
  const random = createRandom(workload.seed, 'resubmission');
  const changes: WorkloadChange[] = [...workload.changes];
  let number = Math.max(...changes.map((change) => change.number));
  // The list grows while it is walked: a submission that was repaired in vain is followed by another.
  for (let at = 0; at < changes.length; at++) {
    if (random() >= options.probability) continue;
    const previous = changes[at]!;
    changes.push({
      number: ++number,
      // It cannot come before the first submission; when it does, `follows` says.
      arrivesAtMin: previous.arrivesAtMin,
      durationMin: previous.durationMin,
      isGood: random() < options.passProbability,
      conflictsWith: [],
      shares: [],
      predictedPass: options.passProbability,
      follows: { number: previous.number, afterMin: drawExponential(random, options.delayMin) },
    });
  }
  return { ...workload, changes };
}
