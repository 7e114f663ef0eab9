// `npm run abuse`: strangers and one hostile tenant against the running service, beside a tenant who behaves well.
//
//   1. Each input of input.ts at one, two and four times its size, a few times each: what the service computes for it grows
//      with its size and not with its square, and no turn of the event loop is long.
//   2. Bodies and tokens of strangers: the memory that they cost.
//   3. Everything at once, in rounds of quiet and of abuse: what the neighbour notices.
//
// Figures are those of the service itself (probe.ts), and ratios within one run. Of the repeats of an input the best counts,
// since other programs may run on the machine; of the rounds of memory and of the neighbour, the one in the middle. `--json` prints one object, `--minutes` runs longer, `--only` names some inputs.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
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
 * MiB that the API holds more while strangers send than while it serves an ordinary tenant. Garbage is collected all the
 * time meanwhile: when Node.js would collect it depends on what it did before, and says nothing of the requests.
 */
async function measureMemory(world: World, rounds: number): Promise<number> {
  const differences: number[] = [];
  // What the process keeps from its first busy moment on is not counted.
  await floodStrangers(world, 2_000);
  for (let round = 0; round < rounds; round += 1) {
    await world.api.read(true);
    await serveTenant(world, 3_000);
    const before = await world.api.read(true);
    await floodStrangers(world, 4_000);
    const after = await world.api.read();
    differences.push((after.rss - before.rss) / 1_048_576);
  }
  say(`  MiB, by round: ${differences.map((mib) => mib.toFixed(1)).join(', ')}`);
  return Math.max(0, median(differences));
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

async function startNeighbour({ url, tokens }: World): Promise<ChildProcess> {
  const neighbour = fork(new URL('neighbour.ts', import.meta.url), [url, tokens.neighbour]);
  await once(neighbour, 'message');
  return neighbour;
}

async function watch(neighbour: ChildProcess, forMs: number): Promise<NeighbourAnswer> {
  neighbour.send('go');
  await sleep(forMs);
  const answered = once(neighbour, 'message');
  neighbour.send('stop');
  return ((await answered) as [NeighbourAnswer])[0];
}

/** Waits until the service has nothing left to do of what it was sent. */
async function untilQuiet(world: World): Promise<void> {
  for (let seconds = 0; seconds < 20; seconds += 1) {
    const before = await readBoth(world);
    await sleep(1_000);
    const { cpuMs } = await readBoth(world);
    if (cpuMs - before.cpuMs < 150) return;
  }
}

/** The neighbour's slowest requests, quiet and beside abuse, and what it was refused. */
async function measureNeighbour(world: World, forMs: number) {
  const neighbour = await startNeighbour(world);
  // The attackers are on other machines: here they take what the service and the neighbour leave.
  setPriority(constants.priority.PRIORITY_LOW);
  try {
    const ratios: number[] = [];
    let failures = 0;
    const roundMs = Math.max(4_000, forMs / 6);
    // The first round shows the code to the compiler.
    for (let round = 0; round < 4; round += 1) {
      await untilQuiet(world);
      const alone = await watch(neighbour, roundMs);
      const flood = tenantFlood(world);
      await sleep(500);
      const attacked = await watch(neighbour, roundMs);
      await flood.stop();
      failures += alone.failures.length + attacked.failures.length;
      if (round === 0) continue;
      const [quiet, beside] = [percentile(alone.times, 0.99), percentile(attacked.times, 0.99)];
      ratios.push(beside / quiet);
      say(
        `  round ${round}: p50 ${median(alone.times).toFixed(1)} and ${median(attacked.times).toFixed(1)} ms, p99 ${quiet.toFixed(1)} and ${beside.toFixed(1)} ms`,
      );
    }
    return { ratio: median(ratios), failures };
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
  const memory = await measureMemory(world, 3);
  say('A neighbour, quiet and beside abuse:');
  const { ratio, failures } = await measureNeighbour(world, Math.max(40_000, (minutes - 1) * 60_000));
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
