// `npm run e2e:web`: tests the dashboard in Debian's Chromium, against a real server and worker with the sandbox host.
//   --screenshots FOLDER   take a picture of every page, light and dark, at 1440 and 390 pixels
//   --json                 print the results as JSON

import { mkdir, readdir, readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Browser } from 'playwright-core';
import { createCleanup } from '../bench/fixture.ts';
import { launchChromium } from '../../script/browser.ts';
import { type Figure, isMissed, lineOf, noneOf } from '../soak/report.ts';
import { findViolations, openContext, openPage, pages, type Scheme, takeScreenshots } from './web-page.ts';
import { type Checklist, createChecklist } from './web-checklist.ts';
import { runStory } from './web-story.ts';
import { failingTest, openWorld, widgets, type World } from './web-world.ts';

const { values } = parseArgs({
  options: { screenshots: { type: 'string' }, json: { type: 'boolean', default: false } },
});

const cleanup = createCleanup();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cleanup.run().then(() => process.exit(1)));
try {
  const world = await openWorld(cleanup);
  const browser = await launchChromium();
  cleanup.add(() => browser.close());
  const testId = await findTestId(world);
  const list = createChecklist();
  let screenshots = 0;
  if (values.screenshots !== undefined) {
    await mkdir(values.screenshots, { recursive: true });
    screenshots = await takeScreenshots(browser, world, values.screenshots, testId);
  }
  const violations = await checkAccessibility(browser, world, list, testId);
  const { liveMs } = await runStory(browser, world, list);
  const firstLoad = await measureFirstLoad(browser, world);
  const figures: Figure[] = [
    { name: 'checks', value: list.passed.length, goal: '>= 300', isMet: list.passed.length >= 300 },
    noneOf('checks that failed', list.failed.length),
    noneOf('serious or critical violations of axe-core', violations),
    atMost('first load, KB of compressed JavaScript', firstLoad / 1_000, 250),
    // One sample on a busy machine, without a goal: the checks verify that the update arrives.
    { name: 'from the answer of a call to the page of another, ms', value: liveMs },
    { name: 'JavaScript in all, KB compressed', value: (await totalSize()) / 1_000 },
    ...(screenshots > 0 ? [{ name: 'screenshots', value: screenshots }] : []),
  ];
  if (values.json) console.log(JSON.stringify({ figures, failed: list.failed }, null, 2));
  else for (const figure of figures) console.log(lineOf(figure));
  process.exitCode = figures.some(isMissed) ? 1 : 0;
} finally {
  await cleanup.run();
}

function atMost(name: string, value: number, most: number): Figure {
  return { name, value, goal: `<= ${most}`, isMet: value <= most };
}

/** The id of the test that failed in the failed pull request. */
async function findTestId({ call }: World): Promise<string> {
  const { pullRequests } = await call('listPullRequests', { ...widgets, state: 'failed' });
  const found = pullRequests[0]?.failedTests?.first.find(({ name }) => name === failingTest);
  if (found === undefined) throw new Error('The pull request does not name the failing test.');
  return found.testCaseId;
}

/** Runs axe-core on every page in both colour schemes at once, before the stories change anything. */
async function checkAccessibility(
  browser: Browser,
  world: World,
  list: Checklist,
  testId: string,
): Promise<number> {
  let found = 0;
  const checkPages = async (scheme: Scheme) => {
    const context = await openContext(browser, world, { scheme, width: 1440 });
    const page = context.pages()[0]!;
    for (const wanted of pages(testId))
      await list.check(`axe-core finds nothing serious on ${wanted.name} in ${scheme}`, async () => {
        await openPage(page, world, wanted);
        const violations = await findViolations(page);
        found += violations.length;
        return violations.length === 0 || violations.join('\n');
      });
    await context.close();
  };
  await Promise.all([checkPages('light'), checkPages('dark')]);
  return found;
}

/** The size of all JavaScript that the sign-in page and the first page after it load, compressed with gzip. */
async function measureFirstLoad(browser: Browser, world: World): Promise<number> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const sizes: Promise<number>[] = [];
  page.on('response', (response) => {
    if (new URL(response.url()).pathname.endsWith('.js'))
      sizes.push(response.body().then((body) => gzipSync(body).length));
  });
  await page.goto(`${world.url}/app/`);
  await page.getByLabel('API token').fill(world.tokens.admin);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('acme/widgets').first().waitFor();
  const total = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  await context.close();
  return total;
}

async function totalSize(): Promise<number> {
  const folder = new URL('../../web/dist/assets/', import.meta.url);
  const scripts = (await readdir(folder)).filter((name) => name.endsWith('.js'));
  const sizes = await Promise.all(
    scripts.map(async (name) => gzipSync(await readFile(new URL(name, folder))).length),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
