// The history of a queue as charts: what is asked for, what is drawn, and how each is told in words.

import type { ResponseOf } from '#contract/endpoint.ts';
import { countOf, spanOf } from './format.ts';

export type History = ResponseOf<'getQueueHistory'>;
export type Bucket = History['buckets'][number];
export type Figures = History['totals'];
export type Conclusion = Figures['outcomes'][number]['conclusion'];
export type Reason = NonNullable<Figures['outcomes'][number]['reason']>;

const dayMs = 86_400_000;

const rangeDays = { '24h': 1, '7d': 7, '30d': 30, '90d': 90 } as const;
export type Range = keyof typeof rangeDays;
export const ranges = Object.keys(rangeDays) as readonly Range[];
export const rangeWords: Readonly<Record<Range, string>> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
};

export type TimeWindow = { readonly since: Date; readonly until: Date };

/** Ranges end with the running five minutes, so that within them the same is asked for. */
const stepMs = 300_000;
const longestMs = 400 * dayMs;

/** What an address asks for: its own bounds where they are any, else a range up to now. */
export function windowOf(
  asked: { readonly range?: Range; readonly since?: string; readonly until?: string },
  nowMs: number,
): TimeWindow {
  const [since, until] = [Date.parse(asked.since ?? ''), Date.parse(asked.until ?? '')];
  if (until > since && until - since <= longestMs) return { since: new Date(since), until: new Date(until) };
  const end = Math.ceil(nowMs / stepMs) * stepMs;
  return { since: new Date(end - rangeDays[asked.range ?? '7d'] * dayMs), until: new Date(end) };
}

/** As long, and just before. */
export const previousOf = ({ since, until }: TimeWindow): TimeWindow => ({
  since: new Date(2 * since.getTime() - until.getTime()),
  until: since,
});

/** How a figure compares to the one before. */
export function changeOf(now: number | null, before: number | null): string {
  if (now === null || before === null) return before === null ? 'nothing to compare with' : 'none now';
  if (now === before) return 'as before';
  if (before === 0) return 'none before';
  const percent = Math.round((Math.abs(now - before) / before) * 100);
  if (percent === 0) return 'about as before';
  return `${percent} % ${now > before ? 'more' : 'less'} than before`;
}

const grouped = new Intl.NumberFormat('en-GB');

type Unit = 'count' | 'seconds' | 'minutes';

export const tellValue = (value: number | null | undefined, unit: Unit): string => {
  if (value === null || value === undefined) return 'none';
  if (unit === 'seconds') return spanOf(value);
  if (unit === 'minutes') return `${value < 10 ? value.toFixed(1) : grouped.format(Math.round(value))} min`;
  return grouped.format(value);
};

export type Series = {
  readonly label: string;
  /** The name of a colour of style.css. */
  readonly tone: 'good' | 'bad' | 'busy' | 'warn' | 'calm';
  readonly values: readonly (number | null)[];
  /** Only the pull requests that ended so are behind it. */
  readonly conclusion?: Conclusion;
};

export type ChartSpec = {
  readonly id: string;
  readonly title: string;
  /** What the figures are of. */
  readonly note: string;
  readonly unit: Unit;
  readonly isStacked: boolean;
  readonly series: readonly Series[];
};

const of = (
  buckets: readonly Bucket[],
  label: string,
  tone: Series['tone'],
  value: (bucket: Bucket) => number | null | undefined,
): Series => ({ label, tone, values: buckets.map((bucket) => value(bucket) ?? null) });

const outcome = (
  buckets: readonly Bucket[],
  label: string,
  tone: Series['tone'],
  conclusion: Conclusion,
): Series => ({ ...of(buckets, label, tone, (bucket) => bucket[conclusion]), conclusion });

const countOfReason = ({ outcomes }: Bucket, reason: Reason): number =>
  outcomes.filter((each) => each.reason === reason).reduce((sum, { count }) => sum + count, 0);

export type ReasonChoice = { readonly reason: Reason; readonly words: string };

/** What is drawn; of the outcomes only one reason where one is chosen. */
export function chartsOf({ buckets, totals }: History, chosen: ReasonChoice | null): readonly ChartSpec[] {
  const charts: readonly ChartSpec[] = [
    {
      id: 'outcomes',
      title: 'Outcomes',
      note:
        chosen === null
          ? 'Pull requests that left the queue'
          : `Pull requests that left because ${chosen.words}`,
      unit: 'count',
      isStacked: true,
      series:
        chosen === null
          ? [
              outcome(buckets, 'Merged', 'good', 'merged'),
              outcome(buckets, 'Failed', 'bad', 'failed'),
              outcome(buckets, 'Cancelled', 'calm', 'cancelled'),
            ]
          : [of(buckets, 'Pull requests', 'busy', (bucket) => countOfReason(bucket, chosen.reason))],
    },
    {
      id: 'time-in-queue',
      title: 'Time in queue',
      note: 'Of what merged, from when it was ready',
      unit: 'seconds',
      isStacked: false,
      series: [
        of(buckets, 'P50', 'busy', ({ timeInQueueSeconds }) => timeInQueueSeconds?.p50),
        of(buckets, 'P95', 'warn', ({ timeInQueueSeconds }) => timeInQueueSeconds?.p95),
        of(buckets, 'P99', 'bad', ({ timeInQueueSeconds }) => timeInQueueSeconds?.p99),
      ],
    },
    {
      id: 'wait-and-test',
      title: 'In line and under test',
      note: 'Of what merged',
      unit: 'seconds',
      isStacked: false,
      series: [
        of(buckets, 'In line P50', 'calm', ({ waitSeconds }) => waitSeconds?.p50),
        of(buckets, 'In line P95', 'warn', ({ waitSeconds }) => waitSeconds?.p95),
        of(buckets, 'Under test P50', 'busy', ({ testSeconds }) => testSeconds?.p50),
        of(buckets, 'Under test P95', 'bad', ({ testSeconds }) => testSeconds?.p95),
      ],
    },
    {
      id: 'restarts',
      title: 'Restarts',
      note: 'How often tests of these pull requests began anew',
      unit: 'count',
      isStacked: true,
      series: [of(buckets, 'Restarts', 'warn', ({ restarts }) => restarts)],
    },
    {
      id: 'ci-minutes',
      title: 'CI minutes per merged pull request',
      note: 'Of test runs begun then',
      unit: 'minutes',
      isStacked: false,
      series: [of(buckets, 'CI minutes', 'busy', ({ ciMinutesPerMerged }) => ciMinutesPerMerged)],
    },
  ];
  // Runs are not of one target: they are not told for it.
  return charts.filter(({ id }) => id !== 'ci-minutes' || totals.ciMinutes !== null);
}

/** What a chart shows, for those who do not see it. */
export function summaryOf({ title, unit, series }: ChartSpec, { bucket, buckets }: History): string {
  const told = series.map(({ label, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return `${label}: none`;
    const [least, most] = [Math.min(...known), Math.max(...known)];
    return `${label}: ${tellValue(least, unit)} to ${tellValue(most, unit)}, last ${tellValue(known.at(-1), unit)}`;
  });
  return `${title}, ${countOf(buckets.length, bucket)}. ${told.join('. ')}.`;
}

/** What the numbers at the side of a chart of spans count. */
export function unitOf(seconds: number): { readonly divisor: number; readonly name: string } {
  if (seconds < 120) return { divisor: 1, name: 's' };
  return seconds < 7_200 ? { divisor: 60, name: 'min' } : { divisor: 3_600, name: 'h' };
}

/** Each with what is below it; drawn from the highest to the lowest, every one covers what it holds. */
export function stacked(series: readonly Series[]): readonly (readonly number[])[] {
  const sums: number[][] = [];
  for (const { values } of series) {
    const below = sums.at(-1);
    sums.push(values.map((value, index) => (value ?? 0) + (below?.[index] ?? 0)));
  }
  return sums;
}

/** Where the parts stand, in seconds. The first may be cut off by the range: it stands as far from the next as others do. */
export function axisTimes(buckets: readonly Bucket[]): readonly number[] {
  const times = buckets.map(({ from }) => Date.parse(from) / 1_000);
  const [first, second, third] = times;
  if (first === undefined || second === undefined || third === undefined) return times;
  return [Math.min(first, 2 * second - third), ...times.slice(1)];
}
