// `npm run bench:web`: the dashboard in Debian's Chromium under load, against a real server, a real worker and a durable
// PostgreSQL.
//
//   live    200 pages, first spread over ten queues and then all on one; 10 of them in Chromium (`--drawn`), the others
//           clients that ask and are answered as pages are (test/bench/web-client.ts). Pull requests are submitted, cancelled, tested
//           and merged; measured is from the commit in PostgreSQL, by its own commit timestamps, until the DOM of each
//           page that shows the queue has it. Then the server is restarted while the worker goes on.
//   smooth  a line of 1,000 with several changes a second: the longest task of the page, at rest and while scrolling;
//           and a graph of 300.
//
// Browser, server, worker and database share this machine, so the figures are those of the machine as much as ours: what
// each took of it is printed. `--pages`, `--seconds` and `--entries` make it smaller.

import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { type Figure, isMissed, lineOf, noneOf } from '../soak/report.ts';
import { type Cleanup, createCleanup } from './fixture.ts';
import { positiveWhole } from './option.ts';
import { timeWords } from './processor.ts';
import { closePages, createQueues, type Live, measureLive, measureRestart, openPages } from './web-live.ts';
import { openBrowser } from './web-page.ts';
import { createLongQueue, measureReading, measureSmooth, type Smooth } from './web-smooth.ts';
import { openWebWorld, type WebWorld } from './web-world.ts';

type Part = 'live' | 'smooth';

type Options = {
  readonly pages: number;
  readonly drawn: number;
  readonly queues: number;
  readonly seconds: number;
  readonly entries: number;
  readonly nodes: number;
  readonly parts: readonly Part[];
  readonly json: boolean;
};

function parseOptions(): Options {
  const { values } = parseArgs({
    options: {
      pages: { type: 'string', default: '200' },
      drawn: { type: 'string', default: '10' },
      queues: { type: 'string', default: '10' },
      seconds: { type: 'string', default: '30' },
      entries: { type: 'string', default: '1000' },
      nodes: { type: 'string', default: '300' },
      only: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  if (values.only !== undefined && values.only !== 'live' && values.only !== 'smooth')
    throw new Error('--only is live or smooth.');
  return {
    pages: positiveWhole(values, 'pages'),
    drawn: positiveWhole(values, 'drawn'),
    queues: positiveWhole(values, 'queues'),
    seconds: positiveWhole(values, 'seconds'),
    entries: positiveWhole(values, 'entries'),
    nodes: positiveWhole(values, 'nodes'),
    parts: values.only === undefined ? ['live', 'smooth'] : [values.only],
    json: values.json,
  };
}

const say = (text: string): void => console.error(text);

const atMost = (name: string, value: number, most: number): Figure => ({
  name,
  value,
  goal: `<= ${most}`,
  isMet: value <= most,
});

const liveFigures = (where: string, live: Live): readonly Figure[] => [
  { name: `${where}: commit to page p50 ms`, value: live.p50Ms },
  atMost(`${where}: commit to page p99 ms`, live.p99Ms, 1_000),
  { name: `${where}: commit to page max ms`, value: live.maxMs },
  atMost(`${where}: commit to page p99 ms, in Chromium`, live.drawnP99Ms, 1_000),
  noneOf(`${where}: changes missed`, live.missed),
];

const livesWords = ({ changes, samples, seconds, processor }: Live): string =>
  `${changes} changes, ${samples} times on a page; in ${seconds.toFixed(0)} s: ${timeWords(processor)}`;

async function runLive(world: WebWorld, browser: Browser, options: Options): Promise<readonly Figure[]> {
  const { seconds } = options;
  const opened = { count: options.pages, drawn: Math.min(options.drawn, options.pages) };
  const names = Array.from({ length: options.queues }, (_, index) => `line-${index}`);
  const targets = await createQueues(world, names);
  say(`Opening ${options.pages} pages on ${options.queues} queues`);
  const spread = await openPages(browser, world, targets, opened);
  const apart = await measureLive(world, spread, { targets, rate: 1, seconds, first: 1 });
  say(livesWords(apart));
  const recovery = await measureRestart(world, spread, targets, 10_000);
  say(`${recovery.changes} changes while the server was away`);
  await closePages(spread);
  say(`Opening ${options.pages} pages on one queue`);
  const one = targets.slice(0, 1);
  const pages = await openPages(browser, world, one, opened);
  const together = await measureLive(world, pages, { targets: one, rate: 0.25, seconds, first: 20_000 });
  say(livesWords(together));
  await closePages(pages);
  return [
    ...liveFigures(`${options.pages} pages on ${options.queues} queues`, apart),
    ...liveFigures(`${options.pages} pages on one queue`, together),
    noneOf('server restarted: changes missed', recovery.missed),
    atMost('server restarted: all pages right within ms', recovery.withinMs, 10_000),
  ];
}

const smoothFigures = (where: string, { longestMs, longTasks }: Smooth): readonly Figure[] => [
  atMost(`${where}: longest task ms`, longestMs, 200),
  { name: `${where}: tasks over 50 ms`, value: longTasks },
];

async function runSmooth(world: WebWorld, browser: Browser, options: Options): Promise<readonly Figure[]> {
  const { entries, seconds } = options;
  say(`Submitting ${entries} pull requests to one queue`);
  const target = await createLongQueue(world, { name: 'long', count: entries });
  const reading = await measureReading(world, target);
  const still = await measureSmooth(browser, world, target, { seconds, scrolls: false, first: 100_000 });
  const scrolled = await measureSmooth(browser, world, target, { seconds, scrolls: true, first: 200_000 });
  say(`${still.changes} and ${scrolled.changes} changes; ${scrolled.rows} rows in the page`);
  return [
    { name: `line of ${entries}: getQueue ms`, value: reading.ms },
    { name: `line of ${entries}: getQueue KB`, value: reading.bytes / 1_000 },
    ...smoothFigures(`line of ${entries}, at rest`, still),
    ...smoothFigures(`line of ${entries}, scrolled`, scrolled),
    ...(await runGraph(world, browser, options)),
  ];
}

async function runGraph(world: WebWorld, browser: Browser, { nodes, seconds }: Options) {
  say(`Submitting ${nodes} pull requests to a queue of lanes`);
  const target = await createLongQueue(world, { name: 'lanes', count: nodes, parts: 30 });
  const search = { view: 'graph' };
  const drawn = await measureSmooth(browser, world, target, {
    seconds,
    scrolls: false,
    first: 300_000,
    search,
  });
  say(`${drawn.changes} changes; ${drawn.rows} boxes in view`);
  return smoothFigures(`graph of ${nodes}`, drawn);
}

async function run(cleanup: Cleanup, options: Options): Promise<readonly Figure[]> {
  const world = await openWebWorld(cleanup);
  const browser = await openBrowser(cleanup);
  const before = loadavg()[0]!;
  const figures: Figure[] = [];
  if (options.parts.includes('smooth')) figures.push(...(await runSmooth(world, browser, options)));
  if (options.parts.includes('live')) figures.push(...(await runLive(world, browser, options)));
  return [{ name: `load before, on ${availableParallelism()} cores`, value: before }, ...figures];
}

const options = parseOptions();
const cleanup = createCleanup();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cleanup.run().then(() => process.exit(1)));
try {
  const figures = await run(cleanup, options);
  if (options.json) console.log(JSON.stringify({ figures }, null, 2));
  else for (const figure of figures) console.log(lineOf(figure));
  process.exitCode = figures.some(isMissed) ? 1 : 0;
} finally {
  await cleanup.run();
}
