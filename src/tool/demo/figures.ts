// The results of a demo as numbers: for people, and as JSON for comparisons.

import type { Course } from './world.ts';

export type QueueFigures = {
  readonly queue: string;
  readonly pullRequests: number;
  readonly merged: number;
  readonly failed: number;
  readonly cancelled: number;
  /** Of merged pull requests, from first submission to merge, as measured; null if none merged. */
  readonly timeInQueueP50Seconds: number | null;
  readonly timeInQueueP95Seconds: number | null;
  readonly testRuns: number;
  readonly ciMinutes: number;
  /** Test runs that were aborted before they ended. */
  readonly restarts: number;
  /** Submissions after a failure that was not the pull request's fault. */
  readonly resubmitted: number;
};

const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));

/** The smallest value that at least this share of them does not exceed. */
function quantile(sorted: readonly number[], share: number): number | null {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}

export function computeQueueMetrics({ repository, ends, live, ...course }: Course): QueueFigures {
  const all = [...ends.values()];
  const count = (state: string) => all.filter((end) => end.state === state).length;
  const times = all
    .filter(({ state }) => state === 'merged')
    .map(({ inQueueMs }) => inQueueMs / 1_000)
    .toSorted((a, b) => a - b);
  const secondsAt = (share: number) => {
    const value = quantile(times, share);
    return value === null ? null : rounded(value, 1);
  };
  return {
    queue: `${repository.repo.owner}/${repository.repo.name} ${repository.targetBranch}`,
    pullRequests: all.length + live.size,
    merged: count('merged'),
    failed: count('failed'),
    cancelled: count('cancelled'),
    timeInQueueP50Seconds: secondsAt(0.5),
    timeInQueueP95Seconds: secondsAt(0.95),
    testRuns: course.runs,
    ciMinutes: rounded(course.ciMs / 60_000, 2),
    restarts: course.restarts,
    resubmitted: course.resubmitted,
  };
}

const seconds = (value: number | null): string => (value === null ? '–' : `${value} s`);

export const formatQueueMetrics = (figures: QueueFigures): string =>
  [
    `${figures.queue}: ${figures.pullRequests} pull requests`,
    `${figures.merged} merged`,
    `${figures.failed} failed`,
    `${figures.cancelled} cancelled`,
    `time in queue P50 ${seconds(figures.timeInQueueP50Seconds)}, P95 ${seconds(figures.timeInQueueP95Seconds)}`,
    `${figures.testRuns} test runs (${figures.restarts} aborted), ${figures.ciMinutes} CI minutes`,
  ].join(', ');
