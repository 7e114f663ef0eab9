// `npm run bench:api [-- --seconds N] [--rounds N] [--profile DIR] [--json]`: the server against a bare node:http server that sends the
// same statements, in one run on one private durable PostgreSQL, in alternating rounds; medians, since machines are
// noisy. Exits with 1 if a goal is missed or any answer was not 2xx.

import { parseArgs } from 'node:util';
import { goal, type Goal, median, printGoals } from './figure.ts';
import {
  branch,
  type Cleanup,
  connections,
  createCleanup,
  liveCount,
  type Load,
  makeDatabases,
  openCluster,
  queueIdOf,
  repository,
  startBare,
  startLoad,
  startSignalbox,
  temporaryDir,
  token,
} from './fixture.ts';
import { positiveWhole } from './option.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { type PgbenchResult, runPgbench } from './pgbench.ts';

type Options = {
  readonly seconds: number;
  readonly rounds: number;
  readonly json: boolean;
  /** A folder for a profile of the server's processor time. */
  readonly profile: string | undefined;
};
type Kind = 'read' | 'write';
type Side = 'ours' | 'bare';

/** Connections of the load generator, a request in flight on each. */
const loadConnections = 32;
const warmUpSeconds = 3;

const paths = { read: '/v1/getSubmittedPullRequest', write: '/v1/submitPullRequest' };

function parseOptions(): Options {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '2' },
      rounds: { type: 'string', default: '10' },
      profile: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    seconds: positiveWhole(values, 'seconds'),
    rounds: positiveWhole(values, 'rounds'),
    json: values.json,
    profile: values.profile,
  };
}

type Figures = { readonly perSecond: number; readonly p50Ms: number; readonly p99Ms: number };
type Measured = Figures & { readonly rounds: readonly LoadResult[] };

function measured(rounds: readonly LoadResult[]): Measured {
  const of = (name: keyof Figures) => median(rounds.map((round) => round[name]));
  return { perSecond: of('perSecond'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms'), rounds };
}

type Failures = { count: number; first: string | null };

/** Loads both sides in turn; who goes first alternates too. */
async function alternate(
  load: Load,
  ports: Readonly<Record<Side, number>>,
  kind: Kind,
  { seconds, rounds }: Options,
  failures: Failures,
): Promise<Readonly<Record<Side, Measured>>> {
  const results: Record<Side, LoadResult[]> = { ours: [], bare: [] };
  const taken: Record<Side, number> = { ours: 0, bare: 0 };
  const run = async (side: Side, duration: number) => {
    const numbers: LoadJob['numbers'] =
      kind === 'read' ? { kind: 'any-of-first', count: liveCount } : { kind: 'fresh', from: taken[side] };
    const result = await load({
      port: ports[side],
      path: paths[kind],
      token,
      connections: loadConnections,
      seconds: duration,
      body: { repo: repository, targetBranch: branch },
      numbers,
    });
    taken[side] += result.sent;
    failures.count += result.failures;
    failures.first ??= result.firstFailure === null ? null : `${side}, ${kind}: ${result.firstFailure}`;
    return result;
  };
  for (const side of ['ours', 'bare'] as const) await run(side, warmUpSeconds);
  for (let round = 0; round < rounds; round++)
    for (const side of round % 2 === 0 ? (['ours', 'bare'] as const) : (['bare', 'ours'] as const))
      results[side].push(await run(side, seconds));
  return { ours: measured(results.ours), bare: measured(results.bare) };
}

type Report = {
  readonly sides: Readonly<
    Record<Kind, Readonly<Record<Side, Measured>> & { readonly pgbench: PgbenchResult }>
  >;
  readonly failures: Failures;
};

async function measure(cleanup: Cleanup, options: Options): Promise<Report> {
  const cluster = await openCluster(cleanup);
  const databases = await makeDatabases(cleanup, cluster);
  const { profile } = options;
  const nodeOptions = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`];
  const ours = await startSignalbox(cleanup, databases.ours, 'serve', { nodeOptions });
  const bare = await startBare(cleanup, databases.bare);
  const ports = { ours: ours.port, bare: bare.port };
  const load = startLoad(cleanup);
  const failures: Failures = { count: 0, first: null };
  const read = await alternate(load, ports, 'read', options, failures);
  const write = await alternate(load, ports, 'write', options, failures);
  await ours.stop();
  await bare.stop();

  const dir = temporaryDir(cleanup, 'signalbox-pgbench-');
  const common = {
    binDir: cluster.binDir,
    url: databases.pgbench,
    dir,
    ids: await queueIdOf(databases.pgbench),
    seconds: options.seconds,
  };
  const pgbench = {
    read: runPgbench({ ...common, kind: 'read', clients: connections.readers }),
    write: runPgbench({ ...common, kind: 'write', clients: connections.transactions }),
  };
  return {
    sides: { read: { ...read, pgbench: pgbench.read }, write: { ...write, pgbench: pgbench.write } },
    failures,
  };
}

function goalsOf({ sides }: Report): readonly Goal[] {
  // Of each round by itself, since its halves follow each other closely; then the median.
  const ratio = (kind: Kind, figure: keyof Figures) => {
    const { ours, bare } = sides[kind];
    return median(ours.rounds.map((round, index) => round[figure] / bare.rounds[index]![figure]));
  };
  return [
    goal('read ratio to bare', ratio('read', 'perSecond'), '>=', 0.7),
    goal('write ratio to bare', ratio('write', 'perSecond'), '>=', 0.8),
    goal('read p99 ratio to bare', ratio('read', 'p99Ms'), '<=', 3),
    goal('write p99 ratio to bare', ratio('write', 'p99Ms'), '<=', 3),
  ];
}

function printTable({ sides }: Report): void {
  const line = (...cells: readonly string[]) =>
    console.log(cells.map((cell, index) => (index < 2 ? cell.padEnd(10) : cell.padStart(12))).join(''));
  line('', '', 'requests/s', 'p50 ms', 'p99 ms', 'range/s');
  for (const kind of ['read', 'write'] as const)
    for (const side of ['ours', 'bare', 'pgbench'] as const) {
      const figures = sides[kind][side];
      const rates = 'rounds' in figures ? figures.rounds.map((round) => round.perSecond) : [];
      const range =
        rates.length === 0 ? '' : `${Math.min(...rates).toFixed()}–${Math.max(...rates).toFixed()}`;
      line(
        kind,
        side,
        figures.perSecond.toFixed(),
        figures.p50Ms.toFixed(2),
        figures.p99Ms.toFixed(2),
        range,
      );
    }
  const cpu = (kind: Kind, side: Side) =>
    `${(100 * median(sides[kind][side].rounds.map((round) => round.generatorCpu))).toFixed()} %`;
  console.log(
    `The load generator took of one core: read ${cpu('read', 'ours')} (ours), ${cpu('read', 'bare')} (bare); ` +
      `write ${cpu('write', 'ours')} (ours), ${cpu('write', 'bare')} (bare).`,
  );
}

async function measureAndClean(cleanup: Cleanup, options: Options): Promise<Report> {
  try {
    return await measure(cleanup, options);
  } finally {
    await cleanup.run();
  }
}

async function main(): Promise<number> {
  const options = parseOptions();
  const cleanup = createCleanup();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void cleanup.run().then(() => process.exit(1)));
  const report = await measureAndClean(cleanup, options);
  const goals = goalsOf(report);
  const { failures } = report;
  if (options.json) console.log(JSON.stringify({ goals, ...report }));
  else {
    printTable(report);
    if (failures.count > 0) console.log(`${failures.count} requests failed, the first: ${failures.first}`);
    printGoals(goals);
  }
  return failures.count > 0 || goals.some(({ isMet }) => !isMet) ? 1 : 0;
}

process.exit(await main());
