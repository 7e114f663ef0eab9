// What a queue gave: the same figures for what really was and for what a simulation says, by the same rule as the API's.

import type { History } from './history.ts';
import type { Played } from './play.ts';
import { mean, quantile, sum } from './statistics.ts';

export type Figures = {
  readonly merged: number;
  readonly failed: number;
  /** Minutes in the queue of what merged, from when it was ready. */
  readonly p50Min: number;
  readonly p95Min: number;
  readonly p99Min: number;
  readonly ciMinutesPerMerged: number;
  readonly mergedPerHour: number;
  readonly restartsPerMerged: number;
  /** Evicted though nothing was wrong with them, in percent of all that came. NaN where nobody knows. */
  readonly falseEvictionPercent: number;
};

const minuteMs = 60_000;

export function figuresOfHistory({ trips, runs }: History): Figures {
  const merged = trips.filter(({ outcome }) => outcome === 'merged');
  const ciMs = runs.map(({ pushedAt, concludedAt }) => Math.max(0, concludedAt - pushedAt));
  const fromMs = Math.min(...trips.map(({ queuedAt }) => queuedAt));
  const toMs = Math.max(...trips.map(({ concludedAt }) => concludedAt));
  return figuresOf({
    mergedMin: merged.map(({ queuedAt, concludedAt }) => (concludedAt - queuedAt) / minuteMs),
    failed: trips.filter(({ outcome }) => outcome === 'failed').length,
    ciMinutes: sum(ciMs) / minuteMs,
    hours: (toMs - fromMs) / (60 * minuteMs),
    restarts: sum(trips.map(({ restarts }) => restarts)),
    falseEvictionPercent: NaN,
  });
}

export function figuresOfPlay({ trips, ciMinutes, restarts }: Played): Figures {
  const merged = trips.filter(({ outcome }) => outcome === 'merged');
  const fromMin = Math.min(...trips.map((trip) => trip.fromMin));
  return figuresOf({
    mergedMin: merged.map((trip) => trip.toMin - trip.fromMin),
    failed: trips.filter(({ outcome }) => outcome === 'failed').length,
    ciMinutes,
    hours: (Math.max(...trips.map((trip) => trip.toMin)) - fromMin) / 60,
    restarts,
    falseEvictionPercent: (100 * trips.filter(({ isFalse }) => isFalse).length) / trips.length,
  });
}

type Counted = {
  readonly mergedMin: readonly number[];
  readonly failed: number;
  readonly ciMinutes: number;
  readonly hours: number;
  readonly restarts: number;
  readonly falseEvictionPercent: number;
};

function figuresOf(counted: Counted): Figures {
  const { mergedMin, failed, ciMinutes, hours, restarts, falseEvictionPercent } = counted;
  const merged = mergedMin.length;
  return {
    merged,
    failed,
    p50Min: quantile(mergedMin, 0.5),
    p95Min: quantile(mergedMin, 0.95),
    p99Min: quantile(mergedMin, 0.99),
    ciMinutesPerMerged: ciMinutes / merged,
    mergedPerHour: merged / hours,
    restartsPerMerged: restarts / merged,
    falseEvictionPercent,
  };
}

/** Over several seeds: the means, and from where to where most of them lie. */
export type Prediction = {
  readonly mean: Figures;
  readonly low: Figures;
  readonly high: Figures;
};

/** Eight of ten seeds lie between. */
const tail = 0.1;

export function predictionOf(list: readonly Figures[]): Prediction {
  const each = (of: (values: readonly number[]) => number): Figures => {
    const names = Object.keys(list[0]!) as (keyof Figures)[];
    return Object.fromEntries(
      names.map((name) => [name, of(list.map((figures) => figures[name]))]),
    ) as Figures;
  };
  return {
    mean: each(mean),
    low: each((values) => quantile(values, tail)),
    high: each((values) => quantile(values, 1 - tail)),
  };
}
