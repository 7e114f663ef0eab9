// How long a change takes to the pages that watch it: `npm run bench:stream`.
//
// The API runs as in production, on a durable cluster of its own. 200 pages hold a stream of one queue each; pull
// requests are submitted to it, one after the other at a steady rate. Measured is from the request that makes the change
// to the event on each of the streams, so the commit itself is part of it. Every change gives one notice, numbered in
// order: what a stream hears with a number covers all up to it.

import { type ClientRequest, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { until } from './deployment.ts';
import { goal, type Goal, median, percentile } from './figure.ts';
import {
  branch,
  type Cleanup,
  openCluster,
  repository,
  startSignalbox,
  token,
  withClient,
} from './fixture.ts';
import { positive } from './option.ts';
import { runBenchmark } from './run.ts';

type Options = {
  readonly streams: number;
  readonly changes: number;
  readonly rate: number;
  readonly json: boolean;
};

function parseOptions(): Options {
  const { values } = parseArgs({
    options: {
      streams: { type: 'string', default: '200' },
      changes: { type: 'string', default: '300' },
      rate: { type: 'string', default: '10' },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    streams: positive(values, 'streams'),
    changes: positive(values, 'changes'),
    rate: positive(values, 'rate'),
    json: values.json,
  };
}

/** What a stream received: the number, and when. */
type ReceivedEvent = { readonly version: number; readonly at: number };
type Page = { readonly received: ReceivedEvent[]; readonly request: ClientRequest };

function openPage(url: string, cookie: string): Page {
  const received: ReceivedEvent[] = [];
  const queue = encodeURIComponent(`${repository.host}/${repository.owner}/${repository.name}@${branch}`);
  const request = get(
    `${url}/app/api/stream?queue=${queue}`,
    { headers: { cookie }, agent: false },
    (response) => {
      if (response.statusCode !== 200) throw new Error(`A stream was answered with ${response.statusCode}.`);
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        const at = performance.now();
        text += chunk;
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) {
          const version = /"version":(\d+)/.exec(block)?.[1];
          if (version !== undefined) received.push({ version: Number(version), at });
        }
      });
    },
  );
  request.on('error', () => undefined);
  return { received, request };
}

async function post(
  url: string,
  path: string,
  headers: Record<string, string>,
  body: object,
): Promise<Response> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

type Report = {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** From the request to its answer: the part that is no stream's doing. */
  readonly answeredP50Ms: number;
  /** Pairs of a change and a stream that never received of it. */
  readonly missed: number;
  readonly eventsPerStream: number;
};

async function measure(cleanup: Cleanup, { streams, changes, rate }: Options): Promise<Report> {
  const cluster = await openCluster(cleanup);
  await withClient(cluster.url('postgres'), (client) => client.query('create database stream'));
  const database = cluster.url('stream');
  // It migrates; a worker would make changes of its own.
  await (await startSignalbox(cleanup, database, 'start')).stop();
  const { port } = await startSignalbox(cleanup, database, 'serve');
  const url = `http://127.0.0.1:${port}`;
  const target = { repo: repository, targetBranch: branch };
  await post(url, '/v1/createQueue', { 'x-api-token': token }, target);
  const own = { 'x-signalbox-app': '1', 'sec-fetch-site': 'same-origin' };
  const signedIn = await post(url, '/app/api/session', own, { token });
  const cookie = signedIn.headers.get('set-cookie')!.split(';')[0]!;
  const submit = async (number: number) => {
    const body = { ...target, pr: { number } };
    await (await post(url, '/app/api/call/submitPullRequest', { ...own, cookie }, body)).text();
  };
  await submit(1_000_000);

  const pages = Array.from({ length: streams }, () => openPage(url, cookie));
  cleanup.add(() => pages.forEach(({ request }) => request.destroy()));
  await until('A first word on every stream', () =>
    Promise.resolve(pages.every(({ received }) => received.length > 0) ? true : null),
  );
  await sleep(1_000);
  const base = Math.max(...pages.map(({ received }) => received.at(-1)!.version));
  for (const { received } of pages) received.length = 0;

  const sentAt: number[] = [];
  const answered: number[] = [];
  const startedAt = performance.now();
  for (let change = 0; change < changes; change++) {
    await sleep(Math.max(0, startedAt + (change * 1_000) / rate - performance.now()));
    sentAt.push(performance.now());
    await submit(change + 1);
    answered.push(performance.now() - sentAt[change]!);
  }
  await sleep(2_000);
  const delays = pages.flatMap(({ received }) =>
    sentAt.map((at, change) => {
      const first = received.find(({ version }) => version > base + change);
      return first === undefined ? null : first.at - at;
    }),
  );
  const known = delays.filter((delay) => delay !== null);
  return {
    p50Ms: median(known),
    p99Ms: percentile(known, 0.99),
    maxMs: known.reduce((most, delay) => Math.max(most, delay), 0),
    answeredP50Ms: median(answered),
    missed: delays.length - known.length,
    eventsPerStream: median(pages.map(({ received }) => received.length)),
  };
}

const goalsOf = ({ p99Ms, missed }: Report): readonly Goal[] => [
  goal('change to stream p99 ms', p99Ms, '<=', 1000),
  goal('changes missed', missed, '<=', 0),
];

const options = parseOptions();
await runBenchmark({
  json: options.json,
  measure: (cleanup) => measure(cleanup, options),
  goalsOf,
  print: (report) => {
    console.log(`${options.streams} streams, ${options.changes} changes at ${options.rate}/s`);
    console.log(
      `change to stream ms: p50 ${report.p50Ms.toFixed(1)}, p99 ${report.p99Ms.toFixed(1)}, max ${report.maxMs.toFixed(1)}`,
    );
    console.log(`change answered ms: p50 ${report.answeredP50Ms.toFixed(1)}`);
    console.log(`events per stream: ${report.eventsPerStream}`);
  },
});
