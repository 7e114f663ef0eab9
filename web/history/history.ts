// The history of a queue as charts: what is requested, what is drawn, and the text for each.

import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { formatCount, formatDuration } from '../format.ts';

export type QueueHistoryData = ResponseOf<'getQueueHistory'>;
export type Bucket = QueueHistoryData['buckets'][number];
export type QueueHistoryTotals = QueueHistoryData['totals'];
export type AttemptConclusion = QueueHistoryTotals['outcomes'][number]['conclusion'];
export type AttemptEndReason = NonNullable<QueueHistoryTotals['outcomes'][number]['reason']>;

const dayMs = 86_400_000;

const rangeDays = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const;
export type HistoryRangeName = keyof typeof rangeDays;
export const ranges = Object.keys(rangeDays) as readonly HistoryRangeName[];
export const rangeLabels: Readonly<Record<HistoryRangeName, string>> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
};

export type TimeWindow = { readonly since: Date; readonly until: Date };

/** Ranges end with the current five minutes, so that requests within them are equal. */
const stepMs = 300_000;
const longestMs = 400 * dayMs;

/** The window that a URL asks for: its own bounds if they are valid, else a range up to now. */
export function resolveTimeWindow(
  asked: { readonly range?: HistoryRangeName; readonly since?: string; readonly until?: string },
  nowMs: number,
): TimeWindow {
  const [since, until] = [Date.parse(asked.since ?? ''), Date.parse(asked.until ?? '')];
  if (until > since && until - since <= longestMs) return { since: new Date(since), until: new Date(until) };
  const end = Math.ceil(nowMs / stepMs) * stepMs;
  return { since: new Date(end - rangeDays[asked.range ?? '7d'] * dayMs), until: new Date(end) };
}

/** The window of the same length just before. */
export const getPreviousWindow = ({ since, until }: TimeWindow): TimeWindow => ({
  since: new Date(2 * since.getTime() - until.getTime()),
  until: since,
});

/** Compares a number with the one before. */
export function describeChange(now: number | null, before: number | null): string {
  if (now === null || before === null) return before === null ? 'no earlier data' : 'no data now';
  if (now === before) return 'unchanged';
  if (before === 0) return 'previously 0';
  const percent = Math.round((Math.abs(now - before) / before) * 100);
  if (percent === 0) return 'almost unchanged';
  return `${percent} % ${now > before ? 'more' : 'less'} than before`;
}

const grouped = new Intl.NumberFormat('en-GB');

type Unit = 'count' | 'seconds' | 'minutes';

export const formatValue = (value: number | null | undefined, unit: Unit): string => {
  if (value === null || value === undefined) return 'no data';
  if (unit === 'seconds') return formatDuration(value);
  if (unit === 'minutes') return `${value < 10 ? value.toFixed(1) : grouped.format(Math.round(value))} min`;
  return grouped.format(value);
};

export type Series = {
  readonly label: string;
  /** The name of a colour of style.css. */
  readonly tone: 'good' | 'bad' | 'busy' | 'warn' | 'calm';
  readonly values: readonly (number | null)[];
  /** Only pull requests with this conclusion are behind it. */
  readonly conclusion?: AttemptConclusion;
};

export type ChartSpec = {
  readonly id: string;
  readonly title: string;
  /** What the numbers measure. */
  readonly note: string;
  readonly unit: Unit;
  readonly isStacked: boolean;
  readonly series: readonly Series[];
};

const createSeries = (
  buckets: readonly Bucket[],
  label: string,
  tone: Series['tone'],
  value: (bucket: Bucket) => number | null | undefined,
): Series => ({ label, tone, values: buckets.map((bucket) => value(bucket) ?? null) });

const createOutcomeSeries = (
  buckets: readonly Bucket[],
  label: string,
  tone: Series['tone'],
  conclusion: AttemptConclusion,
): Series => ({ ...createSeries(buckets, label, tone, (bucket) => bucket[conclusion]), conclusion });

const countReason = ({ outcomes }: Bucket, reason: AttemptEndReason): number =>
  outcomes.filter((each) => each.reason === reason).reduce((sum, { count }) => sum + count, 0);

export type ReasonChoice = { readonly reason: AttemptEndReason; readonly text: string };

/** The charts to draw; if a reason is chosen, the outcomes show only that reason. */
export function buildCharts(
  { buckets, totals }: QueueHistoryData,
  chosen: ReasonChoice | null,
): readonly ChartSpec[] {
  const charts: readonly ChartSpec[] = [
    {
      id: 'outcomes',
      title: 'Outcomes',
      note:
        chosen === null
          ? 'Pull requests that left the queue'
          : `Pull requests that left because ${chosen.text}`,
      unit: 'count',
      isStacked: true,
      series:
        chosen === null
          ? [
              createOutcomeSeries(buckets, 'Merged', 'good', 'merged'),
              createOutcomeSeries(buckets, 'Failed', 'bad', 'failed'),
              createOutcomeSeries(buckets, 'Cancelled', 'calm', 'cancelled'),
            ]
          : [createSeries(buckets, 'Pull requests', 'busy', (bucket) => countReason(bucket, chosen.reason))],
    },
    {
      id: 'time-in-queue',
      title: 'Time in queue',
      note: 'Merged pull requests, from when they were ready',
      unit: 'seconds',
      isStacked: false,
      series: [
        createSeries(buckets, 'P50', 'busy', ({ timeInQueueSeconds }) => timeInQueueSeconds?.p50),
        createSeries(buckets, 'P95', 'warn', ({ timeInQueueSeconds }) => timeInQueueSeconds?.p95),
        createSeries(buckets, 'P99', 'bad', ({ timeInQueueSeconds }) => timeInQueueSeconds?.p99),
      ],
    },
    {
      id: 'wait-and-test',
      title: 'Waiting and testing',
      note: 'Merged pull requests',
      unit: 'seconds',
      isStacked: false,
      series: [
        createSeries(buckets, 'Waiting P50', 'calm', ({ waitSeconds }) => waitSeconds?.p50),
        createSeries(buckets, 'Waiting P95', 'warn', ({ waitSeconds }) => waitSeconds?.p95),
        createSeries(buckets, 'Testing P50', 'busy', ({ testSeconds }) => testSeconds?.p50),
        createSeries(buckets, 'Testing P95', 'bad', ({ testSeconds }) => testSeconds?.p95),
      ],
    },
    {
      id: 'restarts',
      title: 'Restarts',
      note: 'Restarted runs of these pull requests',
      unit: 'count',
      isStacked: true,
      series: [createSeries(buckets, 'Restarts', 'warn', ({ restarts }) => restarts)],
    },
    {
      id: 'ci-minutes',
      title: 'CI minutes per merged pull request',
      note: 'Test runs that started in this period',
      unit: 'minutes',
      isStacked: false,
      series: [createSeries(buckets, 'CI minutes', 'busy', ({ ciMinutesPerMerged }) => ciMinutesPerMerged)],
    },
  ];
  // Runs do not belong to a single target, so CI minutes are not shown for one.
  return charts.filter(({ id }) => id !== 'ci-minutes' || totals.ciMinutes !== null);
}

/** Describes a chart for people who do not see it. */
export function summarizeChart(
  { title, unit, series }: ChartSpec,
  { bucket, buckets }: QueueHistoryData,
): string {
  const seriesSummaries = series.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return `${label}: no data`;
    const [least, most] = [Math.min(...known), Math.max(...known)];
    return `${label}: ${formatValue(least, unit)} to ${formatValue(most, unit)}, last ${formatValue(known.at(-1), unit)}`;
  });
  return `${title}, ${formatCount(buckets.length, bucket)}. ${seriesSummaries.join('. ')}.`;
}

/** The unit of the axis of a chart of durations. */
export function chooseAxisUnit(seconds: number): { readonly divisor: number; readonly name: string } {
  if (seconds < 120) return { divisor: 1, name: 's' };
  return seconds < 7_200 ? { divisor: 60, name: 'min' } : { divisor: 3_600, name: 'h' };
}

/** Each series plus those below it; drawn from the highest to the lowest, each covers its own part. */
export function stacked(series: readonly Series[]): readonly (readonly number[])[] {
  const sums: number[][] = [];
  for (const { values } of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, index) => (value ?? 0) + (below?.[index] ?? 0)));
  }
  return sums;
}

/**
 * The position of each bucket, in seconds. The range may cut the first: it is drawn at the usual distance.
 */
export function axisTimes(buckets: readonly Bucket[]): readonly number[] {
  const times = buckets.map(({ from }) => Date.parse(from) / 1_000);
  const [first, second, third] = times;
  if (first === undefined || second === undefined || third === undefined) return times;
  return [Math.min(first, 2 * second - third), ...times.slice(1)];
}
