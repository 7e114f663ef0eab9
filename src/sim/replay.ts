// One history under other settings, several times: what is not known of it falls differently for each seed.

import type { QueueSettings } from '#core/queue/settings.ts';
import { figuresOfPlay, type Prediction, predictionOf } from './figures.ts';
import { type Fit, workloadOf } from './fit.ts';
import { playPlanner } from './play.ts';
import type { Workload } from './workload.ts';

export type Replay = {
  /** What these settings would have given, over the first so many seeds. */
  readonly predict: (settings: QueueSettings, seeds: number) => Prediction;
};

export function createReplay(fit: Fit): Replay {
  const workloads = new Map<number, Workload>();
  const workloadFor = (seed: number): Workload => {
    const known = workloads.get(seed) ?? workloadOf(fit, seed);
    workloads.set(seed, known);
    return known;
  };
  return {
    predict: (settings, seeds) =>
      predictionOf(
        Array.from({ length: seeds }, (_, at) => figuresOfPlay(playPlanner(workloadFor(at + 1), settings))),
      ),
  };
}
