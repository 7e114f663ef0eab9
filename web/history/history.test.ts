import { describe, expect, it } from 'vitest';
import {
  axisTimes,
  type Bucket,
  describeChange,
  buildCharts,
  type QueueHistoryData,
  getPreviousWindow,
  stacked,
  summarizeChart,
  formatValue,
  chooseAxisUnit,
  resolveTimeWindow,
} from './history.ts';

const now = Date.parse('2026-03-10T12:03:00.000Z');
const windowBounds = ({ since, until }: { since: Date; until: Date }) => [
  since.toISOString(),
  until.toISOString(),
];

describe('the time window of a URL', () => {
  it('ends with the current five minutes', () => {
    expect(windowBounds(resolveTimeWindow({ range: '24h' }, now))).toEqual([
      '2026-03-09T12:05:00.000Z',
      '2026-03-10T12:05:00.000Z',
    ]);
    expect(resolveTimeWindow({ range: '90d' }, now)).toEqual(
      resolveTimeWindow({ range: '90d' }, now + 60_000),
    );
    expect(resolveTimeWindow({}, now)).toEqual(resolveTimeWindow({ range: '7d' }, now));
  });

  it('is the one that the URL names, if it is valid', () => {
    const own = { since: '2026-01-01T00:00:00.000Z', until: '2026-01-03T00:00:00.000Z' };
    expect(windowBounds(resolveTimeWindow({ ...own, range: '7d' }, now))).toEqual([own.since, own.until]);
    for (const wrong of [{ since: 'x' }, { until: own.since }, { since: '2020-01-01T00:00:00Z' }])
      expect(resolveTimeWindow({ ...own, ...wrong }, now)).toEqual(resolveTimeWindow({}, now));
    expect(windowBounds(getPreviousWindow(resolveTimeWindow(own, now)))).toEqual([
      '2025-12-30T00:00:00.000Z',
      own.since,
    ]);
  });
});

it.each([
  [12, 10, '20 % more than before'],
  [5, 10, '50 % less than before'],
  [10, 10, 'unchanged'],
  [1_000, 1_001, 'almost unchanged'],
  [3, 0, 'previously 0'],
  [null, 3, 'no data now'],
  [3, null, 'no earlier data'],
])('describes %s after %s as "%s"', (after, before, expectedText) => {
  expect(describeChange(after, before)).toBe(expectedText);
});

it.each([
  [null, 'count', 'no data'],
  [7, 'count', '7'],
  [754, 'seconds', '12 min'],
  [4.25, 'minutes', '4.3 min'],
  [42.4, 'minutes', '42 min'],
  [14_993.2, 'minutes', '14,993 min'],
] as const)('formats the value %s of unit %s as "%s"', (value, unit, expectedText) => {
  expect(formatValue(value, unit)).toBe(expectedText);
});

it('chooses an axis unit that gives short numbers', () => {
  expect([90, 600, 90_000].map((seconds) => chooseAxisUnit(seconds).name)).toEqual(['s', 'min', 'h']);
});

const bucket = (change: Partial<Bucket>): Bucket => ({
  from: '',
  to: '',
  merged: 0,
  failed: 0,
  cancelled: 0,
  outcomes: [],
  restarts: 0,
  timeInQueueSeconds: null,
  waitSeconds: null,
  testSeconds: null,
  ciMinutes: 0,
  ciMinutesSaved: 0,
  ciMinutesPerMerged: null,
  ...change,
});

const history: QueueHistoryData = {
  bucket: 'day',
  timeZone: 'UTC',
  since: '',
  until: '',
  totals: bucket({}),
  buckets: [
    bucket({
      merged: 3,
      failed: 2,
      timeInQueueSeconds: { p50: 60, p95: 600, p99: 700 },
      outcomes: [
        { conclusion: 'merged', reason: 'MERGE_GRAPH_MERGE', count: 3 },
        { conclusion: 'failed', reason: 'TEST_RUN_TIMEOUT', count: 2 },
      ],
    }),
    bucket({ cancelled: 1 }),
  ],
};

it('draws outcomes by conclusion, or for one reason', () => {
  const [outcomes] = buildCharts(history, null);
  expect(outcomes!.series.map(({ label, values }) => [label, ...values])).toEqual([
    ['Merged', 3, 0],
    ['Failed', 2, 0],
    ['Cancelled', 0, 1],
  ]);
  expect(stacked(outcomes!.series)).toEqual([
    [3, 0],
    [5, 0],
    [5, 1],
  ]);
  const [one] = buildCharts(history, { reason: 'TEST_RUN_TIMEOUT', text: 'its tests took too long' });
  expect(one!.series.map(({ values }) => values)).toEqual([[2, 0]]);
});

it('draws CI minutes, except for a single target', () => {
  const ids = (ciMinutes: number | null) =>
    buildCharts({ ...history, totals: bucket({ ciMinutes }) }, null).map(({ id }) => id);
  expect(ids(12)).toContain('ci-minutes');
  expect(ids(null)).not.toContain('ci-minutes');
});

it('describes a chart for people who do not see it', () => {
  const [outcomes, time] = buildCharts(history, null);
  expect(summarizeChart(outcomes!, history)).toBe(
    'Outcomes, 2 days. Merged: 0 to 3, last 0. Failed: 0 to 2, last 0. Cancelled: 0 to 1, last 1.',
  );
  expect(summarizeChart(time!, history)).toBe(
    'Time in queue, 2 days. P50: 1 min to 1 min, last 1 min. P95: 10 min to 10 min, last 10 min. P99: 11 min to 11 min, last 11 min.',
  );
});

it('draws a truncated first bucket at the usual distance from the next', () => {
  const at = (...times: readonly string[]) =>
    axisTimes(times.map((time) => bucket({ from: `2026-03-${time}Z` }))).map((seconds) =>
      new Date(seconds * 1_000).toISOString().slice(8, 16),
    );
  expect(at('01T15:00:00', '02T00:00:00', '03T00:00:00')).toEqual(['01T00:00', '02T00:00', '03T00:00']);
  expect(at('01T15:00:00', '02T00:00:00')).toEqual(['01T15:00', '02T00:00']);
});
