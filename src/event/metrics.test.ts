import { spawnSync } from 'node:child_process';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bucketBounds, type QueueNumbers } from '#db/history/metrics-view.ts';
import { renderMetrics } from './metrics.ts';

const none = { buckets: bucketBounds.map(() => 0).concat(0), sum: 0 };

const numbers = (overrides: Partial<QueueNumbers> = {}): QueueNumbers => ({
  owner: 'acme',
  name: 'widgets',
  branch: 'main',
  depth: 0,
  not_ready: 0,
  testing: 0,
  merged: 0,
  failed: 0,
  cancelled: 0,
  restarts: 0,
  host_away_seconds: 0,
  durations: { wait: none, test: none, in_queue: none },
  ...overrides,
});

const busy = numbers({
  depth: 11,
  not_ready: 2,
  testing: 3,
  merged: 4,
  failed: 5,
  cancelled: 6,
  restarts: 7,
  host_away_seconds: 301.5,
  durations: {
    wait: { buckets: [1, 2, 3, 4, 5, 6, 7, 8, 9], sum: 12_345.678 },
    test: { buckets: [0, 0, 1, 1, 1, 1, 1, 1, 1], sum: 599.5 },
    in_queue: { buckets: [0, 0, 0, 0, 0, 0, 0, 0, 15], sum: 150_000 },
  },
});

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));

/** The value of each series by its name and labels. */
const seriesOf = (...queues: QueueNumbers[]) =>
  new Map(
    linesOf(renderMetrics(queues)).map((line) => {
      const space = line.lastIndexOf(' ');
      return [line.slice(0, space), Number(line.slice(space + 1))] as const;
    }),
  );

const labels = (queueType: 'main' | 'bisection', more = '') =>
  `{repo="acme/widgets",branch="main",queue_type="${queueType}"${more}}`;

const gauges = [
  ['mq_depth_current', '', 11],
  ['mq_awaiting_mergeability', '', 2],
  ['mq_testing_slots_active', '', 3],
  ['mq_pr_conclusions_1h_total', ',conclusion="merged"', 4],
  ['mq_pr_conclusions_1h_total', ',conclusion="failed"', 5],
  ['mq_pr_conclusions_1h_total', ',conclusion="cancelled"', 6],
  ['mq_pr_restarts_1h_total', '', 7],
  ['signalbox_queue_host_away_seconds', '', 301.5],
] as const;

const histograms = [
  ['mq_pr_wait_duration_1h_seconds', [1, 2, 3, 4, 5, 6, 7, 8, 9], 12_345.678],
  ['mq_pr_test_duration_1h_seconds', [0, 0, 1, 1, 1, 1, 1, 1, 1], 599.5],
  ['mq_pr_time_in_queue_1h_seconds', [0, 0, 0, 0, 0, 0, 0, 0, 15], 150_000],
] as const;

const bounds = ['60', '300', '600', '900', '1800', '3600', '5400', '7200', '+Inf'];

describe('the metrics of a queue', () => {
  it.each(gauges)('have %s%s', (name, more, value) => {
    expect(seriesOf(busy).get(`${name}${labels('main', more)}`)).toBe(value);
  });

  it.each(gauges)('have %s%s of the bisection too, as zero', (name, more) => {
    expect(seriesOf(busy).get(`${name}${labels('bisection', more)}`)).toBe(0);
  });

  it.each(gauges)('have %s%s as zero when nothing happened', (name, more) => {
    expect(seriesOf(numbers()).get(`${name}${labels('main', more)}`)).toBe(0);
  });

  it.each(histograms)('have the histogram %s in buckets that add up', (name, buckets, sum) => {
    const series = seriesOf(busy);
    const found = bounds.map((le) => series.get(`${name}_bucket${labels('main', `,le="${le}"`)}`));
    expect(found).toEqual(buckets);
    expect(found).toEqual(found.toSorted((a, b) => a! - b!));
    expect(series.get(`${name}_sum${labels('main')}`)).toBe(sum);
    expect(series.get(`${name}_count${labels('main')}`)).toBe(buckets.at(-1));
  });

  it.each(histograms)('have the histogram %s of the bisection too, all zeros', (name) => {
    const series = seriesOf(busy);
    const ofBisection = [...series].filter(([key]) => key.startsWith(name) && key.includes('bisection'));
    expect(ofBisection).toHaveLength(bounds.length + 2);
    expect(ofBisection.filter(([, value]) => value !== 0)).toEqual([]);
  });

  it('are nothing but those', () => {
    const perType = gauges.length + histograms.length * (bounds.length + 2);
    expect(linesOf(renderMetrics([busy]))).toHaveLength(2 * perType);
  });

  it('say what each family is, once, before its series, also for several queues', () => {
    const text = renderMetrics([busy, numbers({ branch: 'next' })]);
    const all = [...new Set([...gauges, ...histograms].map(([name]) => name))];
    const families = all.toSorted(
      (a, b) => Number(a.startsWith('signalbox_')) - Number(b.startsWith('signalbox_')),
    );
    for (const name of families) {
      expect(text.split(`# HELP ${name} `)).toHaveLength(2);
      expect(text.split(`# TYPE ${name} `)).toHaveLength(2);
      expect(text.indexOf(`# TYPE ${name} `)).toBeLessThan(text.search(new RegExp(`^${name}[_{]`, 'm')));
    }
    const order = linesOf(text).map((line) => families.findIndex((name) => line.startsWith(name)));
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });

  it('keep queues apart by repository and branch, with the whole owner of a nested group', () => {
    const nested = numbers({ owner: 'group/sub', depth: 1 });
    const next = numbers({ branch: 'next', depth: 2 });
    const series = seriesOf(nested, next, busy);
    const depthOf = (repo: string, branch: string) =>
      series.get(`mq_depth_current{repo="${repo}",branch="${branch}",queue_type="main"}`);
    expect([
      depthOf('group/sub/widgets', 'main'),
      depthOf('acme/widgets', 'next'),
      depthOf('acme/widgets', 'main'),
    ]).toEqual([1, 2, 11]);
  });

  it('escape backslashes, quotes and line ends in labels, and a backslash first', () => {
    const text = renderMetrics([numbers({ branch: 'a\\n"b"\nc' })]);
    expect(text).toContain('branch="a\\\\n\\"b\\"\\nc"');
  });

  it('end with a line end, as the format demands', () => {
    expect(renderMetrics([busy]).endsWith(' 15\n') || renderMetrics([busy]).endsWith(' 0\n')).toBe(true);
    expect(renderMetrics([]).endsWith('\n')).toBe(true);
  });
});

function promtoolSays(text: string) {
  const { status, stdout, stderr, error } = spawnSync('promtool', ['check', 'metrics'], {
    input: text,
    encoding: 'utf8',
  });
  // Without promtool this fails: the contract promises that it passes.
  if (error) throw error;
  return { status, output: `${stdout}${stderr}`.trim() };
}

describe('promtool', () => {
  const content = { status: 0, output: '' };

  it('finds nothing wrong with several queues', () => {
    expect(promtoolSays(renderMetrics([busy, numbers({ branch: 'next' })]))).toEqual(content);
  });

  it('finds nothing wrong with no queue at all', () => {
    expect(promtoolSays(renderMetrics([]))).toEqual(content);
  });

  it('finds nothing wrong with whatever a branch is called', () => {
    const branches = fc.uniqueArray(fc.string({ unit: 'grapheme' }), { minLength: 50, maxLength: 50 });
    fc.assert(
      fc.property(branches, (names) => {
        const queues = names.map((branch) => numbers({ branch }));
        expect(promtoolSays(renderMetrics(queues))).toEqual(content);
      }),
      { numRuns: 2 },
    );
  });

  it('would be noticed if it were malformed', () => {
    expect(promtoolSays('mq_depth_current{branch="a"b"} 1\n').status).not.toBe(0);
  });
});
