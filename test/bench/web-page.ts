// Pages of the dashboard in Debian's Chromium, each in a browser context of its own as if it were somebody else's browser:
// what one host may have of connections is counted per context. A script in each notes when the page shows what.

import type { Browser, Page } from 'playwright-core';
import { launchChromium } from '../../script/browser.ts';
import type { Cleanup } from './fixture.ts';
import { nameOf, type Target, type WebWorld } from './web-world.ts';

export async function openBrowser(cleanup: Cleanup): Promise<Browser> {
  const browser = await launchChromium();
  cleanup.add(() => browser.close());
  return browser;
}

/** What a page showed of a pull request from an instant on. */
export type Seen = { readonly at: number; readonly number: number; readonly label: string };
export type LongTask = { readonly at: number; readonly ms: number };

// Stamped when the page's DOM has it, by the clock that PostgreSQL has too.
const watcher = `
  const words = new Map();
  window.bench = { seen: [], longTasks: [] };
  const look = () => {
    const at = performance.timeOrigin + performance.now();
    const now = new Map();
    for (const element of document.querySelectorAll('[data-number]'))
      now.set(element.dataset.number, element.querySelector('.pill')?.textContent ?? '');
    for (const [number, word] of now) {
      if (words.get(number) === word) continue;
      words.set(number, word);
      window.bench.seen.push({ at, number: Number(number), word });
    }
  };
  new MutationObserver(look).observe(document, { subtree: true, childList: true, characterData: true });
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      window.bench.longTasks.push({ at: performance.timeOrigin + startTime, ms: duration });
  }).observe({ type: 'longtask' });
`;

/** Whoever shows a queue and notes what it shows. */
export type Watcher = {
  readonly queue: string;
  readonly takeSeen: () => Promise<readonly Seen[]>;
  readonly close: () => Promise<void>;
};

export type WatchedPage = Watcher & {
  readonly page: Page;
  readonly takeLongTasks: () => Promise<readonly LongTask[]>;
};

export const queuePath = ({ repo, targetBranch }: Target, further: Readonly<Record<string, string>> = {}) => {
  const path = `${repo.host}/${repo.owner}/${repo.name}`;
  return `/app/queue?${new URLSearchParams({ repo: path, branch: targetBranch, ...further }).toString()}`;
};

export async function openQueuePage(
  browser: Browser,
  { url, cookie }: WebWorld,
  target: Target,
  further: Readonly<Record<string, string>> = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(60_000);
  await context.addCookies([
    {
      name: cookie[0],
      value: cookie[1],
      domain: '127.0.0.1',
      path: '/app',
      httpOnly: true,
      sameSite: 'Strict',
    },
  ]);
  const page = await context.newPage();
  await page.addInitScript(watcher);
  await page.goto(`${url}${queuePath(target, further)}`, { waitUntil: 'commit' });
  await page.getByText('Live', { exact: true }).waitFor();
  return {
    queue: nameOf(target),
    page,
    close: () => context.close(),
    takeSeen: () => page.evaluate<readonly Seen[]>('window.bench.seen.splice(0)'),
    takeLongTasks: () => page.evaluate<readonly LongTask[]>('window.bench.longTasks.splice(0)'),
  };
}
