// The pictures that the demo gives: an animation of a batch that fails and is bisected, the graph of a queue after a
// minute, and the page of a pull request that merged.

import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { createApi } from '#cli/client/api.ts';
import { type Cleanup, root } from '../bench/fixture.ts';
import { until } from '../bench/deployment.ts';
import { dashboardAddress, endGroup, signIn } from '../support/demo-program.ts';
import { makeFilm, type Shot } from './film.ts';
import { photographContent, type Picture } from './picture.ts';

type Demo = {
  readonly origin: string;
  readonly page: Page;
  readonly api: ReturnType<typeof createApi>;
  readonly stop: () => Promise<void>;
};

async function openDemo(
  cleanup: Cleanup,
  browser: Browser,
  view: { readonly width: number; readonly height: number; readonly scale: number },
  ...options: readonly string[]
): Promise<Demo> {
  const args = ['src/signalbox.ts', 'demo', ...options];
  const program = spawn(process.execPath, args, { cwd: root, detached: true });
  const stop = () => endGroup(program);
  cleanup.add(stop);
  const address = await dashboardAddress(program);
  const { origin, hash } = new URL(address);
  const page = await browser.newPage({
    viewport: { width: view.width, height: view.height },
    deviceScaleFactor: view.scale,
    // Pictures add a style to the page.
    bypassCSP: true,
    colorScheme: 'light',
    reducedMotion: 'reduce',
  });
  await signIn(page, address);
  return { origin, page, api: createApi(origin, hash.slice('#token='.length)), stop };
}

const queueNamed = (name: string) => ({
  repo: { host: 'sandbox.example', owner: 'acme', name },
  targetBranch: 'main',
});

const search = (name: string, more: Readonly<Record<string, string>> = {}): string =>
  new URLSearchParams({ repo: `sandbox.example/acme/${name}`, branch: 'main', ...more }).toString();

/**
 * With this seed the third pull request breaks alone, all have the same priority, and nothing else fails. By `arrivalMs`
 * all pull requests have been submitted.
 */
const filmed = { seed: 1628, pullRequests: 8, demoSpeed: 0.7, arrivalMs: 40_000, everyMs: 300 };

/** The demo runs slower than usual, so that the screenshots miss nothing, and the animation shows them faster. */
export async function filmDemo(cleanup: Cleanup, browser: Browser): Promise<readonly Picture[]> {
  const { origin, page, api, stop } = await openDemo(
    cleanup,
    browser,
    { width: 1300, height: 800, scale: 0.75 },
    `--seed=${filmed.seed}`,
    '--queues=1',
    '--flakes=0',
    `--speed=${filmed.demoSpeed}`,
    // Batches of a fixed size, so that everybody can count: the first four are one, however slowly they arrive.
    '--set=batch=true',
    '--set=batchingMaxWaitTimeMinutes=1',
    '--set=canOptimisticallyMerge=true',
    `--pull-requests=${filmed.pullRequests}`,
  );
  await page.goto(`${origin}/app/queue?${search('shop', { view: 'graph' })}`);
  await page.locator('.react-flow__node').first().waitFor();
  // A page that is never shorter than the picture: all screenshots must have one size.
  await page.addStyleTag({ content: 'body { min-height: 1400px; }' });
  const heading = await page.getByRole('heading', { level: 1 }).boundingBox();
  const clip = { x: heading!.x - 16, y: heading!.y - 8, width: 1100, height: 1040 };
  const takeShot = () => page.screenshot({ clip, fullPage: true });
  const shots: Shot[] = [];
  const begunAt = Date.now();
  for (let isOver = false; !isOver;) {
    shots.push({ atMs: Date.now() - begunAt, png: await takeShot() });
    await sleep(filmed.everyMs);
    const { enqueuedPullRequests } = await api.call('getQueue', queueNamed('shop'));
    isOver = enqueuedPullRequests.length === 0 && Date.now() - begunAt > filmed.arrivalMs;
  }
  await sleep(2_000);
  shots.push({ atMs: Date.now() - begunAt, png: await takeShot() });
  await page.close();
  const speed = (Date.now() - begunAt) / 16_000;
  const film = await makeFilm(browser, origin, shots, { speed, stillMaxMs: 1_500, endMs: 3_000 });
  await stop();
  return [{ name: 'demo.webp', content: film }];
}

/** One of the first batch of the demo, which fails because of another. */
const merged = 4;

export async function photographDemo(cleanup: Cleanup, browser: Browser): Promise<readonly Picture[]> {
  const view = { width: 1300, height: 1000, scale: 0.9 };
  // Slower than usual: on a busy machine CI of the demo would otherwise be faster than the queue.
  const { origin, page, api, stop } = await openDemo(cleanup, browser, view, '--speed=0.6');
  await sleep(60_000);
  await page.goto(`${origin}/app/queue?${search('platform', { view: 'graph' })}`);
  await page.locator('.react-flow__node').first().waitFor();
  await sleep(2_000);
  const graph = await photographContent(page, 840);
  await until(`#${merged} as merged`, async () => {
    const pr = { number: merged };
    // On a busy machine the pull request may not be submitted yet.
    const entry = await api.call('getSubmittedPullRequest', { ...queueNamed('shop'), pr }).catch(() => null);
    return entry?.state === 'merged' ? entry.state : null;
  });
  await page.setViewportSize({ width: view.width, height: 1300 });
  await page.goto(`${origin}/app/pull-request?${search('shop', { number: String(merged) })}`);
  await sleep(1_000);
  const pullRequest = await photographContent(page);
  await page.close();
  await stop();
  return [
    { name: 'demo.png', content: graph },
    { name: 'dashboard-pull-request.png', content: pullRequest },
  ];
}
