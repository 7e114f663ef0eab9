// The pages of the dashboard: their URLs, a text of each, accessibility checks and screenshots.

import { join } from 'node:path';
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { until } from '../bench/deployment.ts';
import { long } from './web-world-long-queue.ts';
import { empty, failingTest, numbers, quick, widgets, type World } from './web-world.ts';
import { lanes, bisected, stopped } from './web-world-graph.ts';
import { changesRules, ruled } from './web-world-rule.ts';

type Main = typeof widgets;

const pathOf = ({ repo: { host, owner, name } }: Main): string => `${host}/${owner}/${name}`;

export const inQueue = (main: Main) =>
  new URLSearchParams({ repo: pathOf(main), branch: main.targetBranch }).toString();

export const queuePath = (main: Main): string => `/app/queue?${inQueue(main)}`;
export const healthPath = (main: Main, search: Readonly<Record<string, string>>): string =>
  `/app/health?${inQueue(main)}&${new URLSearchParams(search).toString()}`;
export const pullRequestPath = (main: Main, number: number): string =>
  `/app/pull-request?${inQueue(main)}&number=${number}`;
export const testsPath = (tab: string): string =>
  `/app/tests?${new URLSearchParams({ repo: pathOf(widgets), tab }).toString()}`;
export const testPath = (id: string): string =>
  `/app/tests/${id}?${new URLSearchParams({ repo: pathOf(widgets) }).toString()}`;
export const uploadsPath = `/app/uploads?${new URLSearchParams({ repo: pathOf(widgets) }).toString()}`;
export const testSettingsPath = `/app/tests/settings?${new URLSearchParams({ repo: pathOf(widgets) }).toString()}`;
export const settingsPath = (main: Main): string => `/app/settings?${inQueue(main)}`;
export const auditPath = '/app/audit';

export type PageOfDashboard = {
  readonly name: string;
  readonly path: string;
  /** A text that the loaded page shows. */
  readonly shows: string;
  /** Opens a dialog on the page. */
  readonly open?: (page: Page) => Promise<void>;
};

const opens =
  (...names: readonly string[]) =>
  async (page: Page) => {
    for (const name of names)
      await page
        .getByRole(name.endsWith('…') ? 'menuitem' : 'button', { name })
        .first()
        .click();
    await page.getByRole('dialog').waitFor();
    // A menu that is still fading out would be half transparent in the picture.
    await page.getByRole('menu').first().waitFor({ state: 'hidden' });
  };

/** Asks for contradictions on 20 commits, which no test has, and tries that. */
export async function trySources(page: Page): Promise<void> {
  const group = page.getByRole('region', { name: 'Flaky: passes and fails on the same commit' });
  await group.getByLabel('Minimum number of sources').fill('20');
  await page.getByRole('button', { name: 'Try on the last 14 days' }).click();
  await page.getByText(/fewer tests? would have been flaky/).waitFor();
  // A list of more than ten tests is closed.
  await page.evaluate("document.querySelector('main details').open = true");
}

export const pages = (testId: string): readonly PageOfDashboard[] => [
  { name: 'home', path: '/app/', shows: 'acme/widgets' },
  { name: 'queue', path: queuePath(widgets), shows: 'Waiting for tests' },
  { name: 'queue-long', path: queuePath(long), shows: 'Waiting for tests' },
  { name: 'queue-found', path: `${queuePath(long)}&find=7`, shows: 'pull requests of 80' },
  { name: 'queue-empty', path: queuePath(empty), shows: 'The queue is empty' },
  { name: 'queue-graph', path: `${queuePath(lanes)}&view=graph`, shows: 'Update the compiler' },
  {
    name: 'queue-graph-empty',
    path: `${queuePath(empty)}&view=graph`,
    shows: 'No pull request is queued',
  },
  { name: 'queue-bisection', path: `${queuePath(bisected)}&view=graph`, shows: 'Bisecting 4 pull requests' },
  { name: 'queue-stopped', path: queuePath(stopped), shows: 'The queue stopped automatically' },
  { name: 'queue-quick', path: queuePath(quick), shows: 'acme/gadgets' },
  {
    name: 'queue-unknown',
    path: '/app/queue?repo=git.example/acme/none&branch=main',
    shows: 'This queue does not exist',
  },
  {
    name: 'submit',
    path: queuePath(widgets),
    shows: 'Waiting for tests',
    open: opens('Submit pull request'),
  },
  {
    name: 'menu',
    path: queuePath(widgets),
    shows: 'Waiting for tests',
    open: async (page) => {
      await page.getByRole('button', { name: `Actions for #${numbers.firstQueued + 9}` }).click();
      await page.getByRole('menuitem').first().waitFor();
    },
  },
  {
    name: 'priority',
    path: queuePath(widgets),
    shows: 'Waiting for tests',
    open: opens(`Actions for #${numbers.firstQueued + 9}`, 'Change priority …'),
  },
  {
    name: 'pull-request-merged',
    path: pullRequestPath(widgets, numbers.landed),
    shows: 'Tested tree = landed tree',
  },
  {
    name: 'pull-request-rules',
    path: pullRequestPath(ruled, changesRules),
    shows: 'Required checks, all passed',
  },
  { name: 'pull-request-failed', path: pullRequestPath(widgets, numbers.failing), shows: failingTest },
  { name: 'pull-request-testing', path: pullRequestPath(widgets, numbers.firstQueued), shows: 'Tested with' },
  { name: 'pull-request-bisected', path: pullRequestPath(bisected, 302), shows: 'Bisection, with' },
  {
    name: 'health',
    path: healthPath(widgets, { range: '30d' }),
    shows: 'CI minutes per merged pull request',
  },
  { name: 'health-empty', path: healthPath(empty, {}), shows: 'No pull request left the queue' },
  { name: 'tests-flaky', path: testsPath('flaky'), shows: 'page 1 of 3' },
  { name: 'tests-broken', path: testsPath('broken'), shows: 'Fails on main since two hours.' },
  { name: 'tests-quarantined', path: testsPath('quarantined'), shows: 'Always, set manually' },
  { name: 'tests-search', path: `${testsPath('search')}&q=saves`, shows: 'Healthy' },
  { name: 'tests-none', path: `${testsPath('flaky')}&q=nothing-at-all`, shows: 'No flaky test matches' },
  { name: 'test', path: testPath(testId), shows: 'Most common failures' },
  {
    name: 'test-flaky',
    path: `${testsPath('flaky')}&q=suite-`,
    shows: 'page 1',
    open: async (page) => {
      await page.locator('.row .entry-title').first().click();
      await page.locator('.strip').first().waitFor();
    },
  },
  { name: 'uploads', path: uploadsPath, shows: 'passed,' },
  {
    name: 'upload',
    path: `${uploadsPath}&problems=true`,
    shows: 'passed,',
    open: async (page) => {
      await page.locator('.row .entry-title').first().click();
      await page.getByRole('heading', { name: 'Failed tests' }).waitFor();
    },
  },
  { name: 'tokens', path: '/app/tokens', shows: 'does not expire' },
  { name: 'tokens-create', path: '/app/tokens', shows: 'does not expire', open: opens('Create token') },
  { name: 'tokens-trust', path: '/app/tokens', shows: 'does not expire', open: opens('Trust a CI system') },
  { name: 'tokens-revoke', path: '/app/tokens', shows: 'does not expire', open: opens('Revoke') },
  { name: 'git-hosts', path: '/app/git-hosts', shows: 'No Git host is connected yet' },
  {
    name: 'git-hosts-connect',
    path: '/app/git-hosts',
    shows: 'No Git host is connected yet',
    open: opens('Connect a Git host'),
  },
  { name: 'webhooks', path: '/app/webhooks', shows: 'Signalbox sends events about pull requests' },
  {
    name: 'webhooks-add',
    path: '/app/webhooks',
    shows: 'Signalbox sends events about pull requests',
    open: opens('Add endpoint'),
  },
  { name: 'settings', path: settingsPath(widgets), shows: 'Concurrent test runs' },
  {
    name: 'doctor',
    path: settingsPath(widgets).replace('settings', 'doctor'),
    shows: 'Signalbox asks the Git host',
    open: async (page) => {
      await page.getByRole('button', { name: /Check (now|again)/ }).click();
      await page.getByText('Signalbox may administer the repository.').scrollIntoViewIfNeeded();
    },
  },
  { name: 'audit', path: auditPath, shows: 'Queue created' },
  {
    name: 'test-settings',
    path: testSettingsPath,
    shows: 'Resolve after quiet days',
  },
  {
    name: 'test-settings-trial',
    path: testSettingsPath,
    shows: 'Resolve after quiet days',
    open: trySources,
  },
  { name: 'accuracy', path: testSettingsPath.replace('settings', 'accuracy'), shows: 'Flaky tests' },
  { name: 'create-queue', path: '/app/', shows: 'acme/widgets', open: opens('Create a queue') },
  {
    name: 'palette',
    path: queuePath(widgets),
    shows: 'Waiting for tests',
    open: async (page) => {
      await page.keyboard.press('/');
      await page.getByRole('dialog').getByLabel('Search').fill(String(numbers.landed));
      await page.getByRole('dialog').getByText(`#${numbers.landed} `).first().waitFor();
    },
  },
  { name: 'not-found', path: '/app/no/such/page', shows: 'This page does not exist' },
];

export async function openPage(page: Page, { url }: World, wanted: PageOfDashboard): Promise<void> {
  await page.goto(`${url}${wanted.path}`);
  await page.getByText(wanted.shows).first().waitFor();
  await wanted.open?.(page);
}

export async function signIn<Who extends string>(
  page: Page,
  { url, tokens }: { readonly url: string; readonly tokens: Readonly<Record<Who, string>> },
  who: Who,
): Promise<void> {
  await page.goto(`${url}/app/`);
  await page.getByLabel('API token').fill(tokens[who]);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Queues' }).waitFor();
}

/** A page of its own, signed in. */
export async function openSignedIn(
  browser: Browser,
  world: World,
  who: keyof World['tokens'],
): Promise<{ readonly page: Page; readonly close: () => Promise<void> }> {
  const context = await browser.newContext();
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  await signIn(page, world, who);
  return { page, close: () => context.close() };
}

/** Whether the page has no horizontal scroll bar on a phone. */
export async function fitsPhone(page: Page): Promise<true> {
  const size = page.viewportSize()!;
  await page.setViewportSize({ width: 390, height: 844 });
  try {
    // The frame moves to its new width within a moment.
    return await until('a page as wide as a phone', async () =>
      (await page.evaluate<number>('document.documentElement.scrollWidth')) === 390 ? true : null,
    );
  } finally {
    await page.setViewportSize(size);
  }
}

export type Scheme = 'light' | 'dark';

/** A new browser context with a session. */
export async function openContext(
  browser: Browser,
  world: World,
  { scheme, width }: { readonly scheme: Scheme; readonly width: number },
): Promise<BrowserContext> {
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: { width, height: 900 },
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(10_000);
  await signIn(await context.newPage(), world, 'admin');
  return context;
}

/** The violations that axe-core calls serious or critical, as text. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>('axe.run()');
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, help, nodes }) => {
      const { html = '', failureSummary = '' } = nodes[0] ?? {};
      return `${id}: ${help} (${nodes.length}): ${html.slice(0, 200)} ${failureSummary}`;
    });
}

export async function takeScreenshots(
  browser: Browser,
  world: World,
  folder: string,
  testId: string,
): Promise<number> {
  let taken = 0;
  for (const scheme of ['light', 'dark'] as const)
    for (const width of [1440, 390]) {
      const context = await openContext(browser, world, { scheme, width });
      const page = context.pages()[0]!;
      for (const wanted of pages(testId)) {
        await openPage(page, world, wanted);
        const path = join(folder, `${wanted.name}-${scheme}-${width}.png`);
        await page.screenshot({ path, fullPage: wanted.open === undefined });
        taken += 1;
      }
      await context.request.delete(`${world.url}/app/api/session`, {
        headers: { 'x-signalbox-app': '1', origin: world.url },
      });
      await page.goto(`${world.url}/app/`);
      await page.getByLabel('API token').waitFor();
      await page.screenshot({ path: join(folder, `sign-in-${scheme}-${width}.png`) });
      taken += 1;
      await context.close();
    }
  return taken;
}
