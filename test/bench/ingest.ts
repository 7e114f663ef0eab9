// `npm run bench:ingest [-- --minutes N] [--only ingest|file|lookup] [--json]`: uploads through the real API to the real
// worker on a durable PostgreSQL of their own, all on the cores of this machine, and bare COPY of as many rows beside it.
//
//   ingest   20 jobs of 5,000 tests each, through the bundle protocol: first as fast as they are read, then at four
//            fifths of that, where the time from an upload to its verdict is taken
//   file     one report of a million tests that were never seen, and the same again
//   lookup   with these million tests: the quarantine of 1,000 failed ones, and pages of 100,000 unhealthy ones

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Client } from 'pg';
import { type Figure, isMissed, lineOf } from '../soak/report.ts';
import { type Call, callerOf, type Deployment, migrate, startDeployment } from './deployment.ts';
import { goal, percentile } from './figure.ts';
import { type Cleanup, createCleanup, openCluster, temporaryDir, withClient } from './fixture.ts';
import { bundleOf, reportFrame, type Suite } from './ingest-bundle.ts';
import {
  countWaiting,
  memoryOf,
  nthBundle,
  org,
  type Place,
  processorSecondsOf,
  shaOf,
  uploadBundle,
  waitUntilRead,
} from './ingest-client.ts';
import { copyRows } from './ingest-copy.ts';
import { measureLookups } from './ingest-lookup.ts';

const jobs = 20;
const testsPerJob = 5_000;
const takes = 4;
/** Uploads that may wait to be read while it goes as fast as it can. */
const waitingMax = 24;
/** Of the fastest: what it carries for long. */
const steadyShare = 0.8;

type World = {
  readonly url: string;
  readonly deployment: Deployment;
  readonly call: Call;
  readonly client: Client;
};

const repo: Place = { host: 'sandbox.example', owner: 'bench', name: 'widgets' };
const largeRepo: Place = { host: 'sandbox.example', owner: 'bench', name: 'large' };

type Sustained = { readonly figures: readonly Figure[]; readonly perSecond: number };

/** What was read in a span of time, and how long each waited. */
async function readBetween(client: Client, from: Date, to: Date) {
  const { rows } = await client.query<{ tests: number; waited: number }>(
    `select tests, extract(epoch from ingested_at - uploaded_at)::float8 as waited from upload
     where state = 'ingested' and ingested_at > $1 and ingested_at <= $2`,
    [from, to],
  );
  return rows;
}

type Drive = {
  readonly seconds: number;
  /** Uploads per second; null: as fast as they are read. */
  readonly rate: number | null;
};

/** Uploads for a while; answers with the number of the next. */
async function drive(world: World, frames: Frames, first: number, { seconds, rate }: Drive): Promise<number> {
  const { client, call } = world;
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1_000;
  let next = first;
  // One asks for all how many wait.
  let asked: Promise<number> | null = null;
  const waitingNow = () => (asked ??= countWaiting(client, ['stored']).finally(() => (asked = null)));
  const uploader = async () => {
    while (performance.now() < endsAt) {
      const n = next++;
      if (rate !== null) {
        const dueAt = startedAt + ((n - first) / rate) * 1_000;
        if (dueAt > performance.now()) await sleep(dueAt - performance.now());
      } else while ((await waitingNow()) > waitingMax && performance.now() < endsAt) await sleep(50);
      await uploadBundle(call, repo, nthBundle(repo, frames, n).bundle);
    }
  };
  await Promise.all(Array.from({ length: 6 }, uploader));
  return next;
}

type Frames = ReadonlyMap<string, readonly Buffer[]>;

function makeFrames(): Frames {
  const suites = Array.from({ length: jobs }, (_, index): Suite => ({
    job: `suite-${index}`,
    tests: testsPerJob,
    failingPerMille: 3,
    unstablePerMille: 10,
  }));
  return new Map(
    suites.map((suite) => [suite.job, Array.from({ length: takes }, (_, take) => reportFrame(suite, take))]),
  );
}

async function measureIngest(world: World, seconds: number): Promise<Sustained> {
  const { client, deployment } = world;
  const { work, serve } = deployment.pids;
  const frames = makeFrames();
  // Every test is known and every shape stored before the clock runs.
  let next = await drive(world, frames, 0, { seconds: 8, rate: null });
  await waitUntilRead(client);
  const from = new Date();
  const usedBefore = { work: processorSecondsOf(work), serve: processorSecondsOf(serve) };
  const memory: number[] = [];
  const sampler = setInterval(() => memory.push(memoryOf(work).now), 1_000);
  next = await drive(world, frames, next, { seconds, rate: null });
  const to = new Date();
  clearInterval(sampler);
  const used = {
    work: processorSecondsOf(work) - usedBefore.work,
    serve: processorSecondsOf(serve) - usedBefore.serve,
  };
  const fast = await readBetween(client, from, to);
  const results = fast.reduce((sum, { tests }) => sum + tests, 0);
  const perSecond = results / ((to.getTime() - from.getTime()) / 1_000);
  await waitUntilRead(client);
  const third = Math.floor(memory.length / 3);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const growth = mean(memory.slice(-third)) - mean(memory.slice(third, 2 * third));
  const steady = await measureSteady(world, frames, next, perSecond, seconds);
  return {
    perSecond,
    figures: [
      goal('results per second, end to end', Math.round(perSecond), '>=', 100_000),
      { name: 'uploads read', value: fast.length },
      { name: 'seconds of processor per million results, worker', value: (used.work / results) * 1e6 },
      { name: 'seconds of processor per million results, API', value: (used.serve / results) * 1e6 },
      goal('growth of the worker’s memory over its last two thirds, MiB', growth, '<=', 32),
      { name: 'memory of the worker, MiB', value: mean(memory.slice(-third)) },
      ...steady,
      ...(await sizesOf(client)),
    ],
  };
}

async function measureSteady(
  world: World,
  frames: Frames,
  first: number,
  perSecond: number,
  seconds: number,
): Promise<readonly Figure[]> {
  const { client } = world;
  const rate = (perSecond * steadyShare) / testsPerJob;
  const from = new Date();
  await drive(world, frames, first, { seconds: Math.max(10, seconds / 2), rate });
  const to = new Date();
  await waitUntilRead(client);
  const read = await readBetween(client, from, new Date());
  const results = read.reduce((sum, { tests }) => sum + tests, 0);
  return [
    {
      name: 'results per second while verdicts are timed',
      value: Math.round(results / ((to.getTime() - from.getTime()) / 1_000)),
    },
    {
      name: 'upload to verdict, p50, s',
      value: percentile(
        read.map(({ waited }) => waited),
        0.5,
      ),
    },
    goal(
      'upload to verdict, p99, s',
      percentile(
        read.map(({ waited }) => waited),
        0.99,
      ),
      '<=',
      5,
    ),
  ];
}

/** What a passing result takes: everything that is written per upload, and nothing that is written per test. */
async function sizesOf(client: Client): Promise<readonly Figure[]> {
  const { rows } = await client.query<{ results: number; passing: number; kept: number; per_test: number }>(`
    select (select sum(passed)::float8 from upload) as passing, (select sum(tests)::float8 from upload) as results,
      (select sum(pg_total_relation_size(c.oid))::float8 from pg_class c where c.relkind = 'r'
        and c.relname ~ '^(upload_\\d|test_segment_|test_shape)') as kept,
      (select sum(pg_total_relation_size(c.oid))::float8 from pg_class c where c.relkind = 'r'
        and c.relname ~ '^(test_case|test_history|test_rollup|test_failure|failure_text)') as per_test`);
  const [row] = rows;
  return [
    goal('bytes at rest per passing result', row!.kept / row!.passing, '<=', 1),
    { name: 'bytes of tests, histories and failures, MB', value: row!.per_test / 1e6 },
  ];
}

async function measureFile(world: World, tests: number): Promise<readonly Figure[]> {
  const { client, call, deployment } = world;
  const suite = { job: 'everything', tests, failingPerMille: 1, unstablePerMille: 10 };
  const frame = reportFrame(suite, 0);
  const about = { repo: largeRepo, org, job: suite.job, branch: 'main', pr: null };
  const seconds: number[] = [];
  const before = memoryOf(deployment.pids.work).now;
  let peak = before;
  const sampler = setInterval(() => (peak = Math.max(peak, memoryOf(deployment.pids.work).now)), 100);
  for (const number of [1, 2]) {
    const bundle = bundleOf({ ...about, sha: shaOf(number), runId: String(number) }, frame);
    const id = await uploadBundle(call, largeRepo, bundle);
    await waitUntilRead(client);
    const { rows } = await client.query<{ tests: number; waited: number; begun: number }>(
      `select tests, extract(epoch from ingested_at - uploaded_at)::float8 as waited from upload where id = $1`,
      [id],
    );
    if (rows[0]?.tests !== tests) throw new Error(`${rows[0]?.tests} of ${tests} tests were read.`);
    seconds.push(rows[0].waited);
  }
  clearInterval(sampler);
  return [
    goal(`a file of ${tests} new tests, s`, seconds[0]!, '<=', 15),
    goal('the same tests again, s', seconds[1]!, '<=', 15),
    goal('growth of the worker’s memory by it, MiB', peak - before, '<=', 256),
  ];
}

async function measure(cleanup: Cleanup, parts: ReadonlySet<string>, seconds: number, tests: number) {
  const cluster = await openCluster(cleanup);
  const copied = parts.has('ingest') ? await copyRows(cleanup, cluster, 1_000_000) : null;
  await withClient(cluster.url('postgres'), (client) => client.query('create database ours'));
  const url = cluster.url('ours');
  migrate(url);
  const deployment = await startDeployment(cleanup, {
    url,
    dataDir: temporaryDir(cleanup, 'signalbox-ingest-'),
    profileDir: process.env['BENCH_PROFILE'],
  });
  return withClient(url, async (client) => {
    const call = callerOf(deployment);
    const world: World = { url, deployment, call, client };
    const figures: Figure[] = [];
    if (copied !== null) {
      const sustained = await measureIngest(world, seconds);
      figures.push(
        ...sustained.figures,
        { name: 'rows per second of bare COPY', value: Math.round(copied.perSecond) },
        { name: 'bytes per row of bare COPY', value: copied.bytesPerRow },
        { name: 'results per second to rows of bare COPY', value: sustained.perSecond / copied.perSecond },
      );
    }
    if (parts.has('file') || parts.has('lookup')) {
      const file = await measureFile(world, tests);
      if (parts.has('file')) figures.push(...file);
    }
    if (parts.has('lookup')) figures.push(...(await measureLookups(client, call, largeRepo)));
    await deployment.stop();
    return figures;
  });
}

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    only: { type: 'string', multiple: true, default: ['ingest', 'file', 'lookup'] },
    tests: { type: 'string', default: '1000000' },
    json: { type: 'boolean', default: false },
  },
});
const cleanup = createCleanup();
process.once('SIGINT', () => void cleanup.run().then(() => process.exit(130)));
try {
  const figures = await measure(
    cleanup,
    new Set(values.only),
    Number(values.minutes) * 60,
    Number(values.tests),
  );
  if (values.json) console.log(JSON.stringify({ figures }, null, 2));
  else for (const figure of figures) console.log(lineOf(figure));
  process.exitCode = figures.some(isMissed) ? 1 : 0;
} finally {
  await cleanup.run();
}
