// `npm run bench:cells [-- --queues N] [--seconds N] [--rounds N] [--json]`: one installation with one cell and with two,
// each on a durable PostgreSQL of its own, under the webhook events of test/bench/events.ts. Two cells on the same cores are not
// twice as fast, so that is not what is measured:
//
//   what one cell carries, and which process is its limit
//   the cost of an event, in time of the processors, with two cells beside one, each under the same load
//   what one cell notices of another that is flooded, if each has processes and a core of its own
//   what one cell notices of another whose PostgreSQL is killed, though both are served by the same processes
//
// Rounds alternate, and ratios are of rounds that follow each other. Exits with 1 if a goal is missed.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  type BenchCell,
  type CellLoad,
  deployOn,
  type FreshCell,
  freshCell,
  loadOn,
  makeBenchCell,
  pin,
  postmasterOf,
} from './cell-world.ts';
import type { EventRound } from './event-round.ts';
import { goal, type Goal, median } from './figure.ts';
import { type Cleanup, withCleanup } from './fixture.ts';
import { positiveWhole } from './option.ts';
import { type ProcessorTime, processorTime, timeBetween } from './processor.ts';
import { runBenchmark } from './run.ts';

type Options = {
  readonly queues: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly json: boolean;
};

const runsPerQueue = 5;
/** As fast as it goes: the first runs begin in the middle, so decisions come after some thousand events only. */
const warmUpSeconds = 3;
/** Of what one cell carries on the whole machine: two of them leave room, and one fits on a core. */
const loadShare = 0.2;

function parseOptions(): Options {
  const { values } = parseArgs({
    options: {
      queues: { type: 'string', default: '400' },
      seconds: { type: 'string', default: '8' },
      rounds: { type: 'string', default: '3' },
      json: { type: 'boolean', default: false },
    },
  });
  return {
    queues: positiveWhole(values, 'queues'),
    seconds: positiveWhole(values, 'seconds'),
    rounds: positiveWhole(values, 'rounds'),
    json: values.json,
  };
}

type Cells = { readonly main: BenchCell; readonly east: BenchCell };

const refuseFailures = (rounds: readonly EventRound[]): void => {
  for (const { load } of rounds)
    if (load.failures > 0) throw new Error(`${load.failures} failed, the first: ${load.firstFailure}`);
};

type Loaded = {
  readonly rounds: readonly EventRound[];
  readonly time: ProcessorTime;
  /** Of all processes together, in milliseconds for each event. */
  readonly costMs: number;
};

/** All cells at once, each at the rate; null: as fast as it goes. */
const load = (cells: readonly BenchCell[], seconds: number, rate: number | null): Promise<Loaded> =>
  withCleanup(async (cleanup) => {
    const fresh: FreshCell[] = [];
    for (const cell of cells) fresh.push(await freshCell(cell));
    const deployment = await deployOn(cleanup, fresh);
    const loads = await Promise.all(fresh.map((cell) => loadOn(cleanup, cell, deployment.port)));
    const send = (duration: number, most: number | null) =>
      Promise.all(loads.map(async (each) => each.decided(await each.send(duration, most))));
    refuseFailures(await send(warmUpSeconds, null));
    const before = processorTime(deployment.pids);
    const rounds = await send(seconds, rate);
    const time = timeBetween(before, processorTime(deployment.pids));
    refuseFailures(rounds);
    const events = rounds.reduce((sum, round) => sum + round.load.answered, 0);
    await deployment.stop();
    return { rounds, time, costMs: (1000 * (time.serve + time.work + time.database)) / events };
  });

type Cost = { readonly one: readonly Loaded[]; readonly two: readonly Loaded[] };

async function measureCost({ main, east }: Cells, options: Options, rate: number): Promise<Cost> {
  const one: Loaded[] = [];
  const two: Loaded[] = [];
  for (let round = 0; round < options.rounds; round++) {
    if (round % 2 === 1) two.push(await load([main, east], options.seconds, rate));
    one.push(await load([main], options.seconds, rate));
    if (round % 2 === 0) two.push(await load([main, east], options.seconds, rate));
  }
  return { one, two };
}

type Stopped = {
  readonly main: EventRound;
  /** Refused answers of the cell that was away: it really was. */
  readonly eastFailures: number;
  /** From the start of its PostgreSQL until it took an event again. */
  readonly backSeconds: number;
};

async function untilTaken(east: CellLoad, rate: number): Promise<number> {
  const begunAt = performance.now();
  for (;;) {
    const { answered, failures } = await east.send(0.2, rate);
    const seconds = (performance.now() - begunAt) / 1000;
    if (answered > 0 && failures === 0) return seconds;
    if (seconds > 60) throw new Error('The cell that was stopped did not come back.');
  }
}

/** The same processes serve both; the PostgreSQL of one is killed in the middle. */
const measureStopped = (cells: Cells, { seconds }: Options, rate: number): Promise<Stopped> =>
  withCleanup(async (cleanup) => {
    const fresh = { main: await freshCell(cells.main), east: await freshCell(cells.east) };
    const deployment = await deployOn(cleanup, [fresh.main, fresh.east]);
    const main = await loadOn(cleanup, fresh.main, deployment.port);
    const east = await loadOn(cleanup, fresh.east, deployment.port);
    await Promise.all([main.send(warmUpSeconds, null), east.send(warmUpSeconds, null)]);
    const sent = Promise.all([main.send(seconds, rate), east.send(seconds, rate)]);
    await sleep((1000 * seconds) / 4);
    await fresh.east.cluster.crash();
    const [ofMain, ofEast] = await sent;
    const round = await main.decided(ofMain);
    await fresh.east.cluster.restart();
    const backSeconds = await untilTaken(east, rate);
    await deployment.stop();
    return { main: round, eastFailures: ofEast.failures, backSeconds };
  });

type Beside = { readonly quiet: readonly EventRound[]; readonly flooded: readonly EventRound[] };

/** Each cell has processes and a core of its own; one has its usual load, the other none or all that it takes. */
const measureBeside = (cells: Cells, { seconds, rounds }: Options, rate: number): Promise<Beside> =>
  withCleanup(async (cleanup) => {
    const own = async (cell: BenchCell, core: number): Promise<CellLoad> => {
      const fresh = await freshCell(cell);
      const deployment = await deployOn(cleanup, [fresh]);
      const generator = await loadOn(cleanup, fresh, deployment.port);
      const { serve, work } = deployment.pids;
      pin(core, [serve, work, generator.pid, await postmasterOf(fresh)]);
      return generator;
    };
    const main = await own(cells.main, 0);
    const east = await own(cells.east, 1);
    const round = async () => main.decided(await main.send(seconds, rate));
    await Promise.all([main.send(warmUpSeconds, null), east.send(warmUpSeconds, null)]);
    const quiet: EventRound[] = [];
    const flooded: EventRound[] = [];
    for (let turn = 0; turn < rounds; turn++) {
      quiet.push(await round());
      const [beside] = await Promise.all([round(), east.send(seconds, null)]);
      flooded.push(beside);
    }
    refuseFailures([...quiet, ...flooded]);
    return { quiet, flooded };
  });

type Report = {
  readonly most: Loaded;
  readonly rate: number;
  readonly cost: Cost;
  readonly stopped: Stopped;
  readonly beside: Beside;
};

async function measure(cleanup: Cleanup, options: Options): Promise<Report> {
  const size = { queues: options.queues, runsPerQueue };
  const cells: Cells = {
    main: await makeBenchCell(cleanup, 'main', size),
    east: await makeBenchCell(cleanup, 'east', size),
  };
  const most = await load([cells.main], options.seconds, null);
  const rate = loadShare * most.rounds[0]!.perSecond;
  const cost = await measureCost(cells, options, rate);
  const stopped = await measureStopped(cells, options, rate);
  // Last: what is pinned stays so.
  const beside = await measureBeside(cells, options, rate);
  return { most, rate, cost, stopped, beside };
}

const costWords = ({ rounds, time }: Loaded): string => {
  const events = rounds.reduce((sum, round) => sum + round.load.answered, 0);
  const each = (name: keyof ProcessorTime) => `${((1000 * time[name]) / events).toFixed(2)} ms`;
  return `serve ${each('serve')}, work ${each('work')}, PostgreSQL ${each('database')}`;
};

function print({ most, rate, cost, stopped, beside }: Report): void {
  const [{ perSecond, load: sent }] = most.rounds as readonly [EventRound];
  const idle = (100 * most.time.idle) / (sent.answered / perSecond);
  console.log(
    `one cell carries ${perSecond.toFixed()} events/s; of the processors for an event: ${costWords(most)}; ` +
      `${idle.toFixed()} % of a core were idle`,
  );
  const costs = (loaded: readonly Loaded[]) => loaded.map(({ costMs }) => costMs.toFixed(2)).join(', ');
  console.log(`each cell at ${rate.toFixed()} events/s; ms of the processors for an event in each round:`);
  console.log(`  one cell ${costs(cost.one)}; two cells ${costs(cost.two)}`);
  console.log(`  with two cells: ${costWords(cost.two.at(-1)!)}`);
  const lags = (rounds: readonly EventRound[]) =>
    rounds.map(({ lagP50Ms, lagP99Ms }) => `${lagP50Ms.toFixed(1)} / ${lagP99Ms.toFixed(1)}`).join(', ');
  console.log(`lag p50 / p99 ms beside a cell that is quiet: ${lags(beside.quiet)}`);
  // No goal: it moves with whatever else the disk and the cores do.
  const ratio = median(beside.flooded.map(({ lagP50Ms }, at) => lagP50Ms / beside.quiet[at]!.lagP50Ms));
  console.log(`  beside one that is flooded: ${lags(beside.flooded)}; ratio of p50 ${ratio.toFixed(2)}`);
  console.log(
    `a cell was stopped: ${stopped.eastFailures} of its events were refused; the other took ${stopped.main.load.answered}`,
  );
}

const goalsOf = ({ cost, stopped, beside }: Report): readonly Goal[] => [
  goal(
    'cost of an event with two cells, ratio to one',
    median(cost.two.map(({ costMs }, round) => costMs / cost.one[round]!.costMs)),
    '<=',
    1.15,
  ),
  goal(
    'decision lag p99 ms beside a flooded cell',
    median(beside.flooded.map(({ lagP99Ms }) => lagP99Ms)),
    '<=',
    1000,
  ),
  goal('events refused by a cell while the other is stopped', stopped.main.load.failures, '<=', 0),
  goal('decision lag p99 ms while the other is stopped', stopped.main.lagP99Ms, '<=', 1000),
  goal('events refused by the stopped cell', stopped.eastFailures, '>=', 1),
  goal('seconds until a stopped cell takes events again', stopped.backSeconds, '<=', 10),
];

const options = parseOptions();
await runBenchmark({
  json: options.json,
  measure: (cleanup) => measure(cleanup, options),
  goalsOf,
  print,
});
