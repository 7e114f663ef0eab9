// `npm run bench:events [-- --queues N] [--seconds N] [--rounds N] [--cost] [--json]`: events a second, from the webhook
// received to the decision made, with all queues active, against pgbench making the same events durable, in alternating
// rounds on fresh copies of one private durable PostgreSQL. `serve`, `work` and the load generator are processes of their
// own.
//
// The rate counts the time until the last decision of a round is committed, so what is only taken in and not worked
// off does not count. Then the lag: at 80 % of that rate, from the answer to the last event of a test run to the commit
// of its decision. The worker has no host, since pushing and sweeping are measured by test/bench/landing.ts. Exits with 1 if
// a goal is missed or any answer was not 2xx.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Cluster } from '../../script/postgres.ts';
import { startDeployment } from './deployment.ts';
import { eventCountOf } from './event.ts';
import { countCost, countingSettings, type EventCost, printCost } from './event-cost.ts';
import type { EventLoadJob, EventLoadResult } from './event-load.ts';
import { runEventPgbench } from './event-pgbench.ts';
import { type EventRound, eventRoundOf, waitForDecisions } from './event-round.ts';
import { type EventWorld, makeEventWorld } from './event-world.ts';
import { goal, type Goal, median } from './figure.ts';
import { type Cleanup, forked, openCluster, temporaryDir, withCleanup } from './fixture.ts';
import { positiveWhole } from './option.ts';
import { runBenchmark } from './run.ts';

type Options = {
  readonly queues: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly json: boolean;
  readonly profile: string | undefined;
  /** Counts what an event costs too (test/bench/event-cost.ts). */
  readonly cost: boolean;
};

/** As in settings of queues that nobody changed. */
const runsPerQueue = 5;
/** Hosts deliver side by side. */
const loadConnections = 100;
const warmUpSeconds = 3;
const loadShare = 0.8;

function parseOptions(): Options {
  const { values } = parseArgs({
    options: {
      queues: { type: 'string', default: '1000' },
      seconds: { type: 'string', default: '10' },
      rounds: { type: 'string', default: '5' },
      profile: { type: 'string' },
      json: { type: 'boolean', default: false },
      cost: { type: 'boolean', default: false },
    },
  });
  return {
    queues: positiveWhole(values, 'queues'),
    seconds: positiveWhole(values, 'seconds'),
    rounds: positiveWhole(values, 'rounds'),
    json: values.json,
    profile: values.profile,
    cost: values.cost,
  };
}

type Bench = {
  readonly cluster: Cluster;
  readonly world: EventWorld;
  readonly dir: string;
  readonly options: Options;
};

type Round = EventRound & { readonly cost: EventCost | null };

/** One round of the real thing; at a rate, or as fast as it goes. */
const runOurs = ({ world, dir, options }: Bench, rate: number | null): Promise<Round> =>
  withCleanup(async (cleanup) => {
    const url = await world.fresh('ours');
    const noSweeps = { SIGNALBOX_SWEEP_SECONDS: '3600' };
    const deployment = await startDeployment(cleanup, {
      url,
      dataDir: join(dir, 'data'),
      serve: noSweeps,
      work: { ...noSweeps, SIGNALBOX_SANDBOX: 'off' },
      profileDir: options.profile,
    });
    const { ask } = forked<EventLoadJob, EventLoadResult>(cleanup, 'event-load.ts');
    const { path, secret } = world.receiver;
    const events = eventCountOf(world.runs);
    await ask({ kind: 'prepare', port: deployment.port, path, secret, queues: options.queues, events });
    const connections = loadConnections;
    const warmUp = await ask({ kind: 'send', connections, seconds: warmUpSeconds, rate });
    await waitForDecisions(url, warmUp.complete.length);
    const costOf = options.cost ? await countCost(url, deployment.pids) : null;
    const result = await ask({ kind: 'send', connections, seconds: options.seconds, rate });
    const decided = await waitForDecisions(url, warmUp.complete.length + result.complete.length);
    const cost = (await costOf?.(result.answered)) ?? null;
    await deployment.stop();
    if (result.failures > 0) throw new Error(`${result.failures} failed, the first: ${result.firstFailure}`);
    return { ...eventRoundOf(result, decided), cost };
  });

type BareRound = { readonly perSecond: number; readonly cost: EventCost | null };

async function runBare({ cluster, world, dir, options }: Bench): Promise<BareRound> {
  const url = await world.fresh('bare');
  const { queues, seconds } = options;
  const common = { binDir: cluster.binDir, url, dir, queues };
  const costOf = options.cost ? await countCost(url) : null;
  const perSecond = await runEventPgbench({ ...common, seconds });
  await sleep(100);
  return { perSecond, cost: (await costOf?.(perSecond * seconds)) ?? null };
}

type Report = {
  readonly ours: readonly Round[];
  readonly bare: readonly BareRound[];
  readonly atShare: Round;
};

async function measure(cleanup: Cleanup, options: Options): Promise<Report> {
  const counting = options.cost ? countingSettings : {};
  const cluster = await openCluster(cleanup, { track_commit_timestamp: 'on', ...counting });
  const dir = temporaryDir(cleanup, 'signalbox-bench-events-');
  const size = { queues: options.queues, runsPerQueue };
  const world = await makeEventWorld(cleanup, cluster, dir, size);
  const bench: Bench = { cluster, world, dir, options };
  const ours: Round[] = [];
  const bare: BareRound[] = [];
  for (let round = 0; round < options.rounds; round++) {
    if (round % 2 === 1) bare.push(await runBare(bench));
    ours.push(await runOurs(bench, null));
    if (round % 2 === 0) bare.push(await runBare(bench));
  }
  const rate = loadShare * median(ours.map(({ perSecond }) => perSecond));
  return { ours, bare, atShare: await runOurs(bench, rate) };
}

function print({ ours, bare, atShare }: Report): void {
  const line = (name: string, round: Round) => {
    const { load } = round;
    console.log(
      `${name.padEnd(12)}${round.perSecond.toFixed().padStart(7)} events/s, ${round.decisions} decisions; lag p50 ` +
        `${round.lagP50Ms.toFixed(1)}, p99 ${round.lagP99Ms.toFixed(1)} ms, at most ${round.backlogMax} undecided; ` +
        `answer p50 ${load.answerP50Ms.toFixed(1)}, p99 ${load.answerP99Ms.toFixed(1)} ms; ` +
        `generator ${(100 * load.generatorCpu).toFixed()} % of a core`,
    );
  };
  ours.forEach((round, index) => {
    line('ours', round);
    if (round.cost !== null) printCost(round.cost);
    const { perSecond, cost } = bare[index]!;
    console.log(`${'pgbench'.padEnd(12)}${perSecond.toFixed().padStart(7)} events/s`);
    if (cost !== null) printCost(cost);
  });
  line(`at ${100 * loadShare} %`, atShare);
}

const goalsOf = ({ ours, bare, atShare }: Report): readonly Goal[] => [
  goal(
    'events to decisions, ratio to pgbench',
    median(ours.map(({ perSecond }, round) => perSecond / bare[round]!.perSecond)),
    '>=',
    0.4,
  ),
  goal('decision lag p99 ms at 80 % of that rate', atShare.lagP99Ms, '<=', 1000),
];

const options = parseOptions();
await runBenchmark({
  json: options.json,
  measure: (cleanup) => measure(cleanup, options),
  goalsOf,
  print,
});
