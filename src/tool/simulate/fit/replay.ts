// Replays one history under other settings, several times: its unknown parts are drawn for each seed.

import type { QueueSettings } from '#core/queue/settings.ts';
import { figuresOfPlay, type Prediction, summarizeReplays } from './figures.ts';
import { type Fit, drawWorkload } from './fit.ts';
import { playPlanner } from '../kernel/play.ts';
import type { Workload } from '../kernel/workload.ts';

export type Replay = {
  /** The result of these settings, over the first `seeds` seeds. */
  readonly predict: (settings: QueueSettings, seeds: number) => Prediction;
};

export function createReplay(fit: Fit): Replay {
  const workloads = new Map<number, Workload>();
  const workloadFor = (seed: number): Workload => {
    const known = workloads.get(seed) ?? drawWorkload(fit, seed);
    workloads.set(seed, known);
    return known;
  };
  return {
    predict: (settings, seeds) =>
      summarizeReplays(
        Array.from({ length: seeds }, (_, at) => figuresOfPlay(playPlanner(workloadFor(at + 1), settings))),
      ),
  };
}
