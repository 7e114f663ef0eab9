// `npm run abuse`: strangers and one hostile tenant against the running service, beside a tenant who behaves well.
//
//   1. Each input of input.ts at one, two and four times its size, a few times each: what the service computes for it grows
//      with its size and not with its square, and no turn of the event loop is long.
//   2. Bodies and tokens of strangers: the memory that they cost.
//   3. Everything at once, in rounds of quiet and of abuse: what the neighbour notices.
//
// Figures are those of the service itself (probe.ts), and ratios within one run; the best of the repeats counts, since other
// programs may run on the machine. `--json` prints one object, `--minutes` runs longer, `--only` names some inputs.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Goal, goal, median, percentile, printGoals } from '../bench/figure.ts';
import { positive } from '../bench/option.ts';
import { createCaller, readFor } from './caller.ts';
import { callHosts, type Input, inputsOf, prepare } from './input.ts';
import type { NeighbourAnswer } from './neighbour.ts';
import { floodStrangers, tenantFlood } from './stranger.ts';
import { openWorld, type World } from './world.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    json: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
  },
});
const minutes = positive(values, 'minutes');
const say = (text: string): void => void (values.json || console.log(text));

type Measured = {
  readonly name: string;
  /** What the service computed at one, two and four times the size, in milliseconds. */
  readonly cpuMs: readonly number[];
  readonly stopMs: number;
  /** The larger of the two growths. */
  readonly growth: number;
};

/** Below this an input costs nothing that could grow: other things in the same time weigh more. */
const floorMs = 40;
const sizes = [1, 2, 4] as const;

async function measure(world: World, input: Input, repeats: number): Promise<Measured> {
  const best: number[] = [];
  const stops: number[] = [];
  await send(world, input, 1);
  for (const times of sizes) {
    let least = Infinity;
    let stopMs = Infinity;
    for (let round = 0; round < repeats; round += 1) {
      const before = await readBoth(world);
      await send(world, input, times);
      const after = await readBoth(world);
      least = Math.min(least, after.cpuMs - before.cpuMs);
      stopMs = Math.min(stopMs, after.stopMs);
    }
    best.push(least);
    stops.push(stopMs);
  }
  const grown = (at: number) => best[at]! / Math.max(best[at - 1]!, floorMs);
  return { name: input.name, cpuMs: best, stopMs: Math.max(...stops), growth: Math.max(grown(1), grown(2)) };
}

/** If it fails because a process of the service ended, the error is the log of that process. */
async function send(world: World, input: Input, times: number): Promise<void> {
  try {
    await input.send(times);
  } catch (error) {
    await readBoth(world);
    throw error;
  }
}

async function readBoth({ api, worker }: World) {
  const [one, other] = await Promise.all([api.read(), worker.read()]);
  return {
    cpuMs: one.cpuMs + other.cpuMs,
    stopMs: Math.max(one.stopMs, other.stopMs),
    rss: one.rss,
  };
}

const stopGoalMs = 100;
const growthGoal = 2.5;
const isGood = ({ stopMs, growth }: Measured) => stopMs <= stopGoalMs && growth <= growthGoal;

async function measureInputs(world: World): Promise<readonly Measured[]> {
  const all: Measured[] = [];
  for (const input of inputsOf(world)) {
    if (!input.name.includes(values.only)) continue;
    let measured = await measure(world, input, minutes > 3 ? 5 : 2);
    // What grows too fast does so each time; what another program on the machine did does not.
    for (let again = 0; again < 3 && !isGood(measured); again += 1) {
      const next = await measure(world, input, 3);
      measured = {
        ...next,
        stopMs: Math.min(measured.stopMs, next.stopMs),
        growth: Math.min(measured.growth, next.growth),
      };
    }
    const spent = measured.cpuMs.map((ms) => ms.toFixed(0)).join(', ');
    say(`  ${input.name}: computed ${spent} ms, longest turn ${measured.stopMs.toFixed(0)} ms`);
    all.push(measured);
  }
  return all;
}

/**
 * MiB that the API has more of while strangers send than while it serves an ordinary tenant, at most. Both are busy times:
 * Node.js gives memory back when it is idle and takes it again for any request, which says nothing of the request.
 */
async function measureMemory(world: World, rounds: number): Promise<number> {
  const differences: number[] = [];
  // What the process keeps from its first busy moment on is not counted.
  await floodStrangers(world, 2_000);
  for (let round = 0; round < rounds; round += 1) {
    await world.api.read();
    await serveTenant(world, 3_000);
    const before = await world.api.read();
    await floodStrangers(world, 4_000);
    const after = await world.api.read();
    differences.push((after.rss - before.rss) / 1_048_576);
  }
  say(`  MiB, by round: ${differences.map((mib) => mib.toFixed(1)).join(', ')}`);
  return Math.max(0, Math.min(...differences));
}

/** An ordinary tenant, with as many requests at once as strangers have beside their large bodies. */
async function serveTenant({ url, tokens }: World, forMs: number): Promise<void> {
  const until = performance.now() + forMs;
  const caller = createCaller(url, tokens.neighbour);
  const calls = Array.from({ length: 4 }, async () => {
    while (performance.now() < until) await caller.call('/v1/getOrganization', {});
  });
  await Promise.all(calls);
}

function startNeighbour({ url, tokens }: World): ChildProcess {
  return fork(new URL('neighbour.ts', import.meta.url), [url, tokens.neighbour]);
}

async function watch(neighbour: ChildProcess, forMs: number): Promise<NeighbourAnswer> {
  neighbour.send('go');
  await sleep(forMs);
  const answered = once(neighbour, 'message');
  neighbour.send('stop');
  return ((await answered) as [NeighbourAnswer])[0];
}

/** The neighbour's slowest requests, quiet and beside abuse, and what it was refused. */
async function measureNeighbour(world: World, forMs: number) {
  const neighbour = startNeighbour(world);
  try {
    await once(neighbour, 'message');
    await watch(neighbour, 2_000);
    const quiet: number[] = [];
    const beside: number[] = [];
    let failures = 0;
    const roundMs = Math.max(4_000, forMs / 6);
    for (let round = 0; round < 3; round += 1) {
      const alone = await watch(neighbour, roundMs);
      const flood = tenantFlood(world);
      await sleep(500);
      const attacked = await watch(neighbour, roundMs);
      await flood.stop();
      failures += alone.failures.length + attacked.failures.length;
      quiet.push(percentile(alone.times, 0.99));
      beside.push(percentile(attacked.times, 0.99));
      say(
        `  round ${round + 1}: p50 ${median(alone.times).toFixed(1)} and ${median(attacked.times).toFixed(1)} ms, p99 ${quiet.at(-1)!.toFixed(1)} and ${beside.at(-1)!.toFixed(1)} ms`,
      );
    }
    const pairs = quiet.map((ms, at) => beside[at]! / ms);
    return { ratio: Math.min(...pairs), failures };
  } finally {
    neighbour.kill();
  }
}

async function run(world: World): Promise<readonly Goal[]> {
  readFor(world.tokens.upload, world.tokens.hostile);
  await prepare(world);
  say('Each input at one, two and four times its size:');
  const inputs = await measureInputs(world);
  const letters = 'never-asked-for';
  await callHosts(world, letters);
  say('Bodies and tokens of strangers:');
  const memory = await measureMemory(world, 4);
  say('A neighbour, quiet and beside abuse:');
  const { ratio, failures } = await measureNeighbour(world, Math.max(24_000, (minutes - 1) * 60_000));
  const worst = (pick: (one: Measured) => number) => Math.max(...inputs.map(pick));
  return [
    goal(
      'longest stop of the event loop, ms',
      worst(({ stopMs }) => stopMs),
      '<=',
      stopGoalMs,
    ),
    goal(
      'growth of time for twice the size',
      worst(({ growth }) => growth),
      '<=',
      growthGoal,
    ),
    goal('memory while strangers send, MiB', memory, '<=', 64),
    goal('neighbour p99, times quiet', ratio, '<=', 2),
    goal('neighbour answered with 5xx', failures, '<=', 0),
    goal('host calls caused by an upload-only token', world.hostCalls(letters), '<=', 0),
  ];
}

const world = await openWorld();
let goals: readonly Goal[];
try {
  goals = await run(world);
} finally {
  await world.close();
}
if (values.json) console.log(JSON.stringify({ goals }, null, 2));
else printGoals(goals);
process.exit(goals.every(({ isMet }) => isMet) ? 0 : 1);
