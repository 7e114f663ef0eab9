// Many pages, and how soon they show what was committed.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { until } from './deployment.ts';
import { median, percentile } from './figure.ts';
import { type ProcessorTime, processorTime, timeBetween } from './processor.ts';
import { latencyOf } from './web-latency.ts';
import { openClient } from './web-client.ts';
import { openQueuePage, type Seen, type Watcher } from './web-page.ts';
import { type Moved, nameOf, type Target, targetOf, type WebWorld } from './web-world.ts';

export type Live = {
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** Of the pages in Chromium alone. */
  readonly drawnP99Ms: number;
  readonly missed: number;
  /** Of pull requests, committed while it was measured. */
  readonly changes: number;
  readonly samples: number;
  readonly seconds: number;
  readonly processor: ProcessorTime;
};

/** Queues whose tests take a second and pass; what is submitted to them is merged by the worker. */
export async function createQueues({ call }: WebWorld, names: readonly string[]): Promise<readonly Target[]> {
  const targets = names.map(targetOf);
  for (const target of targets) {
    await call('sandboxConfigureRepository', {
      repo: target.repo,
      ci: { mode: 'auto', contexts: ['ci/test'], durationMs: 1_000 },
    });
    await call('createQueue', { ...target, requiredStatuses: ['ci/test'], concurrency: 3 });
  }
  return targets;
}

/** Some at once: each loads the whole dashboard. */
const openedAtOnce = 4;

/** The first `drawn` of them in Chromium. */
export type Pages = { readonly all: readonly Watcher[]; readonly drawn: number };

export async function openPages(
  browser: Browser,
  world: WebWorld,
  targets: readonly Target[],
  { count, drawn }: { readonly count: number; readonly drawn: number },
): Promise<Pages> {
  const all: Watcher[] = Array.from({ length: count });
  let next = 0;
  const open = async () => {
    while (next < count) {
      const index = next++;
      const target = targets[index % targets.length]!;
      all[index] =
        index < drawn ? await openQueuePage(browser, world, target) : await openClient(world, target);
    }
  };
  await Promise.all(Array.from({ length: openedAtOnce }, open));
  return { all, drawn };
}

export const closePages = async ({ all }: Pages): Promise<void> => {
  for (const { close } of all) await close();
};

type Load = {
  readonly targets: readonly Target[];
  /** Pull requests submitted a second, one queue after the other. */
  readonly rate: number;
  readonly seconds: number;
  /** Its numbers go up from here. */
  readonly first: number;
};

/** Every fifth is cancelled a moment later; the others are merged. */
async function submitSteadily({ call }: WebWorld, { targets, rate, seconds, first }: Load): Promise<void> {
  const beganAt = performance.now();
  const cancelled: Promise<unknown>[] = [];
  for (let index = 0; index < rate * seconds; index++) {
    await sleep(Math.max(0, beganAt + (index * 1_000) / rate - performance.now()));
    const which = { ...targets[index % targets.length]!, pr: { number: first + index } };
    await call('submitPullRequest', which);
    if (index % 5 === 4) cancelled.push(sleep(700).then(() => call('cancelPullRequest', which)));
  }
  await Promise.all(cancelled);
}

/** Until nothing is in line any more. */
const settle = ({ call }: WebWorld, targets: readonly Target[]): Promise<true> =>
  until(
    'The end of every pull request',
    async () => {
      for (const target of targets)
        if ((await call('getQueue', target)).enqueuedPullRequests.length > 0) return null;
      return true;
    },
    { everyMs: 1_000 },
  );

/** What is on its way to the pages when the last change is made is waited for so long. */
const lastWordMs = 30_000;

/** `delays` by page. */
type Shown = { readonly delays: readonly (readonly number[])[]; readonly missed: number };

/** Forgets what pages showed so far. */
const forget = ({ all }: Pages) => Promise.all(all.map(({ takeSeen }) => takeSeen()));

/** Once every page shows the last of everything, or has not for long. */
async function compare({ all: pages }: Pages, moves: readonly Moved[], from = 0): Promise<Shown> {
  const movesOf = Map.groupBy(moves, ({ queue }) => queue);
  const seen = pages.map((): Seen[] => []);
  for (const deadline = Date.now() + lastWordMs; ; await sleep(1_000)) {
    const all = await Promise.all(
      pages.map(async ({ queue, takeSeen }, index) => {
        seen[index]!.push(...(await takeSeen()));
        return latencyOf(movesOf.get(queue) ?? [], seen[index]!, from);
      }),
    );
    const missed = all.reduce((sum, each) => sum + each.missed, 0);
    if (missed === 0 || Date.now() > deadline) return { delays: all.map(({ delays }) => delays), missed };
  }
}

export async function measureLive(world: WebWorld, pages: Pages, load: Load): Promise<Live> {
  await forget(pages);
  const since = Date.now();
  const before = processorTime(world.pids);
  await submitSteadily(world, load);
  const seconds = (Date.now() - since) / 1_000;
  const processor = timeBetween(before, processorTime(world.pids));
  await settle(world, load.targets);
  const names = new Set(load.targets.map(nameOf));
  const moves = (await world.movesSince(since)).filter(({ queue }) => names.has(queue));
  const { delays: byPage, missed } = await compare(pages, moves);
  const delays = byPage.flat();
  return {
    drawnP99Ms: percentile(byPage.slice(0, pages.drawn).flat(), 0.99),
    p50Ms: median(delays),
    p99Ms: percentile(delays, 0.99),
    maxMs: delays.reduce((most, delay) => Math.max(most, delay), 0),
    missed,
    changes: moves.length,
    samples: delays.length,
    seconds,
    processor,
  };
}

export type Recovery = {
  /** From when the server answers again until the last page shows the last of what happened meanwhile. */
  readonly withinMs: number;
  readonly missed: number;
  readonly changes: number;
};

/** The server is away for some seconds, while the worker goes on. */
export async function measureRestart(
  world: WebWorld,
  pages: Pages,
  targets: readonly Target[],
  first: number,
): Promise<Recovery> {
  await forget(pages);
  const since = Date.now();
  for (const [index, target] of targets.entries())
    await world.call('submitPullRequest', { ...target, pr: { number: first + index } });
  const awayMs = 4_000;
  await world.restartServer(() => sleep(awayMs));
  const backAt = Date.now();
  await settle(world, targets);
  const moves = await world.movesSince(since);
  const meanwhile = moves.filter(({ at }) => at < backAt);
  const { delays, missed } = await compare(pages, meanwhile, backAt);
  return {
    withinMs: delays.flat().reduce((most, delay) => Math.max(most, delay), 0),
    missed,
    changes: meanwhile.length,
  };
}
