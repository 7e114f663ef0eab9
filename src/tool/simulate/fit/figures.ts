// The metrics of a queue: the same for the real history and for a simulation, by the same rules as the API's.

import { minuteMs } from '#base/duration.ts';
import type { RecordedHistory } from './history.ts';
import type { Played } from '../kernel/play.ts';
import { mean, quantile, sum } from '../kernel/statistics.ts';

export type Figures = {
  readonly merged: number;
  readonly failed: number;
  /** Minutes in the queue of merged attempts, from when they were ready. */
  readonly p50Min: number;
  readonly p95Min: number;
  readonly p99Min: number;
  readonly ciMinutesPerMerged: number;
  readonly mergedPerHour: number;
  readonly restartsPerMerged: number;
  /** Removed though nothing was wrong with them, in percent of all submissions. NaN if it is unknown. */
  readonly falseRemovalPercent: number;
};

export function figuresOfHistory({ attempts, runs }: RecordedHistory): Figures {
  const merged = attempts.filter(({ outcome }) => outcome === 'merged');
  const ciMs = runs.map(({ pushedAt, concludedAt }) => Math.max(0, concludedAt - pushedAt));
  const fromMs = Math.min(...attempts.map(({ queuedAt }) => queuedAt));
  const toMs = Math.max(...attempts.map(({ concludedAt }) => concludedAt));
  return computeMetrics({
    mergedMin: merged.map(({ queuedAt, concludedAt }) => (concludedAt - queuedAt) / minuteMs),
    failed: attempts.filter(({ outcome }) => outcome === 'failed').length,
    ciMinutes: sum(ciMs) / minuteMs,
    hours: (toMs - fromMs) / (60 * minuteMs),
    restarts: sum(attempts.map(({ restarts }) => restarts)),
    falseRemovalPercent: NaN,
  });
}

export function figuresOfPlay({ attempts, ciMinutes, restarts }: Played): Figures {
  const merged = attempts.filter(({ outcome }) => outcome === 'merged');
  const fromMin = Math.min(...attempts.map((attempt) => attempt.fromMin));
  return computeMetrics({
    mergedMin: merged.map((attempt) => attempt.toMin - attempt.fromMin),
    failed: attempts.filter(({ outcome }) => outcome === 'failed').length,
    ciMinutes,
    hours: (Math.max(...attempts.map((attempt) => attempt.toMin)) - fromMin) / 60,
    restarts,
    falseRemovalPercent: (100 * attempts.filter(({ isFalse }) => isFalse).length) / attempts.length,
  });
}

type Counted = {
  readonly mergedMin: readonly number[];
  readonly failed: number;
  readonly ciMinutes: number;
  readonly hours: number;
  readonly restarts: number;
  readonly falseRemovalPercent: number;
};

function computeMetrics(counted: Counted): Figures {
  const { mergedMin, failed, ciMinutes, hours, restarts, falseRemovalPercent } = counted;
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
    falseRemovalPercent,
  };
}

/** Over several seeds: the means, and the range of most of them. */
export type Prediction = {
  readonly mean: Figures;
  readonly low: Figures;
  readonly high: Figures;
};

/** Eight of ten seeds are within the range. */
const tail = 0.1;

export function summarizeReplays(list: readonly Figures[]): Prediction {
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
