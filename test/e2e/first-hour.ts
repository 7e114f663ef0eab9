// `npm run e2e:first-hour [-- --host github|gitea] [--screenshots FOLDER] [--json]`: from an empty database to the first
// merge, in Chromium alone: a person signs in to the dashboard, connects a Git host, creates a queue and submits a pull
// request. On the GitHub-compatible server of the tests, whose App is registered on the way, and on a real Gitea with its
// own CI.

import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { startCluster } from '../../script/postgres.ts';
import { launchChromium } from '../../script/browser.ts';
import { callerOf, migrate, startDeployment, until } from '../bench/deployment.ts';
import { type Cleanup, createCleanup, temporaryDir, token } from '../bench/fixture.ts';
import { git } from '../fixture/sandbox.ts';
import { type Figure, isMissed, lineOf } from '../soak/report.ts';
import { openGitea } from './gitea-host.ts';
import { openGithub } from './github-host.ts';
import type { E2eHost, E2ePlace } from './host.ts';
import { commitFiles } from './story.ts';
import { signIn } from './web-page.ts';

const clicksMax = 8;
const minutesMax = 5;
const files = { 'ci.sh': '#!/bin/sh\ntest ! -e broken.txt\n', 'part.txt': 'the first part\n' };

const { values } = parseArgs({
  options: {
    host: { type: 'string' },
    screenshots: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

/** A person at the dashboard: what they click is counted, and what they see before is photographed. */
type Visitor = {
  readonly page: Page;
  readonly click: (what: Locator) => Promise<void>;
  readonly clicks: () => number;
  readonly photograph: () => Promise<void>;
};

function visit(page: Page, host: string): Visitor {
  let clicks = 0;
  let pictures = 0;
  const photograph = async () => {
    pictures += 1;
    if (values.screenshots === undefined) return;
    const name = `first-hour-${host}-${String(pictures).padStart(2, '0')}.png`;
    await page.screenshot({ path: join(values.screenshots, name) });
  };
  return {
    page,
    photograph,
    clicks: () => clicks,
    click: async (what) => {
      await what.waitFor();
      await photograph();
      await what.click();
      clicks += 1;
    },
  };
}

/** How a person connects the host. */
type Way = {
  readonly open: () => Promise<{
    readonly host: E2eHost;
    readonly connect: (visitor: Visitor) => Promise<void>;
  }>;
  /** Values that are copied from the Git host. */
  readonly copied: number;
};

const ways: Readonly<Record<string, Way>> = {
  github: {
    copied: 0,
    open: async () => {
      const host = await openGithub({ isAppRegistered: false, testsHeads: true });
      return {
        host,
        connect: async ({ page, click }) => {
          await click(page.getByText('GitHub', { exact: true }));
          await page.getByLabel(`Organization at ${host.hostName}`).fill('acme');
          await click(page.getByRole('button', { name: `Continue at ${host.hostName}` }));
          await click(page.getByRole('button', { name: 'Create GitHub App for acme' }));
          await click(page.getByRole('button', { name: 'Install' }));
        },
      };
    },
  },
  gitea: {
    copied: 1,
    open: async () => {
      const host = await openGitea();
      return {
        host,
        connect: async ({ page, click }) => {
          await page.getByLabel('Token').fill(host.token);
          await click(page.getByRole('button', { name: 'Connect', exact: true }));
        },
      };
    },
  },
};

/** A pull request that a colleague has opened, and whatever CI has said of the repository so far. */
async function openPullRequest(cleanup: Cleanup, host: E2eHost): Promise<[E2ePlace, number]> {
  const place = await host.createRepository(files);
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-e2e-clone-'));
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }));
  await git(folder, 'clone', '--quiet', place.cloneUrl, 'work');
  const work = join(folder, 'work');
  const base = await git(work, 'rev-parse', 'HEAD');
  await git(work, 'checkout', '--quiet', '-B', 'change');
  await commitFiles(work, { 'part.txt': 'the second part\n' }, 'Change the part');
  await git(work, 'push', '--quiet', 'origin', 'change');
  const head = await git(work, 'rev-parse', 'HEAD');
  const number = await place.openPullRequest({ branch: 'change', title: 'Change the part', body: '' });
  await until('The first report of CI', async () => {
    const reported = await Promise.all([base, head].map((sha) => place.listStatuses(sha)));
    return reported.flat().length > 0 ? true : null;
  });
  return [place, number];
}

async function runFirstHour(name: string, { open, copied }: Way): Promise<readonly Figure[]> {
  const cleanup = createCleanup();
  const end = () => void cleanup.run().then(() => process.exit(1));
  process.once('SIGINT', end).once('SIGTERM', end);
  try {
    const { host, connect } = await open();
    cleanup.add(host.close);
    const [place, number] = await openPullRequest(cleanup, host);
    const dataDir = temporaryDir(cleanup, 'signalbox-e2e-pg-');
    const cluster = await startCluster({ dataDir, durable: false });
    cleanup.add(cluster.stop);
    const url = cluster.url('postgres');
    migrate(url);
    const environment = {
      SIGNALBOX_SECRET_KEY: randomBytes(32).toString('base64'),
      SIGNALBOX_SANDBOX: 'off',
      SIGNALBOX_GIT_HOSTS: host.url,
    };
    const deployment = await startDeployment(cleanup, {
      url,
      dataDir: temporaryDir(cleanup, 'signalbox-e2e-data-'),
      serve: environment,
      work: environment,
    });
    const browser = await launchChromium();
    cleanup.add(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(30_000);
    const dashboard = { url: `http://127.0.0.1:${deployment.port}`, tokens: { admin: token } };
    await signIn(page, dashboard, 'admin');

    const begunAt = Date.now();
    const visitor = visit(page, name);
    const { click, photograph } = visitor;
    await click(page.getByRole('link', { name: 'Connect a Git host' }));
    await connect(visitor);
    // The only repository is proposed, with the checks that CI reports there.
    const dialog = page.getByRole('dialog', { name: 'Create a queue' });
    await dialog.getByText(host.requiredCheck, { exact: true }).waitFor();
    await click(dialog.getByRole('button', { name: 'Create the queue' }));
    await page.waitForURL(/\/app\/queue\?/);
    await click(page.getByRole('button', { name: 'Submit pull request' }));
    await page.getByLabel('Number').fill(String(number));
    await click(page.getByRole('button', { name: 'Submit', exact: true }));
    await page.getByText('Change the part').waitFor();
    await photograph();
    const call = callerOf(deployment);
    const main = {
      repo: { host: host.hostName, owner: place.owner, name: place.name },
      targetBranch: 'main',
    };
    const state = await until('The first merge', async () => {
      const found = await call('getSubmittedPullRequest', { ...main, pr: { number } });
      return ['merged', 'failed', 'cancelled'].includes(found.state) ? found.state : null;
    });
    await page.getByText('merged', { exact: false }).first().waitFor();
    await photograph();
    const minutes = (Date.now() - begunAt) / 60_000;
    for (const problem of host.problems()) console.error(problem);
    return [
      {
        name: `${name}, clicks`,
        value: visitor.clicks(),
        goal: `<= ${clicksMax}`,
        isMet: visitor.clicks() <= clicksMax,
      },
      { name: `${name}, values copied from the Git host`, value: copied },
      { name: `${name}, merged`, value: Number(state === 'merged'), goal: '1', isMet: state === 'merged' },
      { name: `${name}, minutes`, value: minutes, goal: `<= ${minutesMax}`, isMet: minutes <= minutesMax },
    ];
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end);
    await cleanup.run();
  }
}

if (values.screenshots !== undefined) mkdirSync(values.screenshots, { recursive: true });
const wanted = Object.entries(ways).filter(([name]) => values.host === undefined || values.host === name);
if (wanted.length === 0) throw new Error(`--host is one of ${Object.keys(ways).join(', ')}.`);
const figures: Figure[] = [];
for (const [name, way] of wanted) figures.push(...(await runFirstHour(name, way)));
if (values.json) console.log(JSON.stringify({ figures }, null, 2));
else for (const figure of figures) console.log(lineOf(figure));
process.exitCode = figures.some(isMissed) ? 1 : 0;
