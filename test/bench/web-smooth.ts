// A long line, and how long the page is busy at a time while it changes and is scrolled.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser } from 'playwright-core';
import { until } from './deployment.ts';
import { median, percentile } from './figure.ts';
import { openQueuePage, type WatchedPage } from './web-page.ts';
import { type Target, targetOf, type WebWorld } from './web-world.ts';

export type Smooth = {
  readonly longestMs: number;
  readonly p99Ms: number;
  /** Tasks of more than 50 ms. */
  readonly longTasks: number;
  /** Calls that changed the line meanwhile. */
  readonly changes: number;
  /** Rows in the page, of those in the line. */
  readonly rows: number;
};

/** Under test at the same time. */
const concurrency = 25;
const submittedAtOnce = 8;

type LongQueue = {
  readonly name: string;
  readonly count: number;
  /** With as many lanes as parts of the repository; one line without. */
  readonly parts?: number;
};

/** A queue whose CI says only what it is told to: everything in it stays until it is cancelled. */
export async function createLongQueue(
  { call }: WebWorld,
  { name, count, parts }: LongQueue,
): Promise<Target> {
  const target = targetOf(name);
  await call('sandboxConfigureRepository', { repo: target.repo, ci: { mode: 'manual' } });
  await call('createQueue', {
    ...target,
    requiredStatuses: ['ci/test'],
    strategy: 'manual',
    concurrency,
    ...(parts !== undefined && { mode: 'parallel' }),
  });
  let next = 1;
  const submit = async () => {
    while (next <= count) {
      const pr = { number: next++ };
      if (parts !== undefined)
        await call('setImpactedTargets', { ...target, pr, impactedTargets: [`//part-${pr.number % parts}`] });
      await call('submitPullRequest', { ...target, pr });
    }
  };
  await Promise.all(Array.from({ length: submittedAtOnce }, submit));
  await until(
    `${count} in line`,
    async () => {
      const { enqueuedPullRequests } = await call('getQueue', target);
      const tested = enqueuedPullRequests.filter(({ state }) => state === 'testing').length;
      const ready = enqueuedPullRequests.filter(({ state }) => state !== 'not_ready').length;
      return ready === count && tested >= Math.min(concurrency, count) ? true : null;
    },
    { everyMs: 1_000, withinMs: 300_000 },
  );
  return target;
}

/** What is under test, once it is all pushed. */
const testedCommits = (call: WebWorld['call'], target: Target): Promise<readonly string[]> =>
  until('A commit for everything under test', async () => {
    const answer = await call('getMergeQueueTestingDetails', target);
    const runs = 'testRuns' in answer ? answer.testRuns : [answer];
    const commits = runs.flatMap(({ testBranchSha }) => (testBranchSha ? [testBranchSha] : []));
    return commits.length > 0 && commits.length === runs.length ? commits : null;
  });

/** Changes of all kinds, one after the other at a steady rate; answers with how many. */
async function changeSteadily(
  { call }: WebWorld,
  target: Target,
  { first, seconds, everyMs }: { readonly first: number; readonly seconds: number; readonly everyMs: number },
): Promise<number> {
  const { enqueuedPullRequests } = await call('getQueue', target);
  const waiting = enqueuedPullRequests.filter(({ state }) => state === 'pending');
  const commits = await testedCommits(call, target);
  const beganAt = performance.now();
  let changes = 0;
  while (performance.now() - beganAt < seconds * 1_000) {
    const pick = <Each>(list: readonly Each[]) => list[(changes * 7) % list.length]!;
    const number = first + changes;
    const steps = [
      async () => {
        await call('setImpactedTargets', { ...target, pr: { number }, impactedTargets: ['//part-1'] });
        await call('submitPullRequest', { ...target, pr: { number } });
      },
      () =>
        call('submitPullRequest', { ...target, pr: { number: pick(waiting).prNumber }, priority: 'high' }),
      () =>
        call('sandboxSetCheck', {
          repo: target.repo,
          sha: pick(commits),
          name: `ci/part-${changes % 3}`,
          state: 'success',
        }),
      () => call('cancelPullRequest', { ...target, pr: { number: number - 3 } }),
    ];
    await steps[changes % steps.length]!();
    changes += 1;
    await sleep(Math.max(0, beganAt + changes * everyMs - performance.now()));
  }
  return changes;
}

/** Down the line and up again, as with a wheel. */
async function scrollUntil({ page }: WatchedPage, done: Promise<unknown>): Promise<void> {
  const state = { isDone: false };
  void done.finally(() => (state.isDone = true));
  await page.mouse.move(640, 450);
  for (let step = 0; !state.isDone; step++) {
    await page.mouse.wheel(0, step % 40 < 20 ? 700 : -700);
    await sleep(120);
  }
}

export async function measureSmooth(
  browser: Browser,
  world: WebWorld,
  target: Target,
  options: {
    readonly seconds: number;
    readonly scrolls: boolean;
    readonly first: number;
    readonly search?: Record<string, string>;
  },
): Promise<Smooth> {
  const watched = await openQueuePage(browser, world, target, options.search);
  await sleep(2_000);
  await watched.takeLongTasks();
  const changing = changeSteadily(world, target, { ...options, everyMs: 200 });
  if (options.scrolls) await scrollUntil(watched, changing);
  const changes = await changing;
  await sleep(1_000);
  const tasks = (await watched.takeLongTasks()).map(({ ms }) => ms);
  const rows = await watched.page.evaluate<number>('document.querySelectorAll("[data-number]").length');
  await watched.close();
  return {
    longestMs: Math.max(0, ...tasks),
    p99Ms: tasks.length === 0 ? 0 : percentile(tasks, 0.99),
    longTasks: tasks.length,
    changes,
    rows,
  };
}

export type Reading = { readonly bytes: number; readonly ms: number };

/** What the whole line costs to read. */
export async function measureReading({ url, cookie }: WebWorld, target: Target): Promise<Reading> {
  const times: number[] = [];
  let bytes = 0;
  for (let time = 0; time < 15; time++) {
    const beganAt = performance.now();
    const answer = await fetch(`${url}/app/api/call/getQueue`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-signalbox-app': '1',
        'sec-fetch-site': 'same-origin',
        cookie: cookie.join('='),
      },
      body: JSON.stringify(target),
    });
    if (!answer.ok) throw new Error(`getQueue: ${answer.status}`);
    bytes = (await answer.arrayBuffer()).byteLength;
    times.push(performance.now() - beganAt);
  }
  return { bytes, ms: median(times) };
}
