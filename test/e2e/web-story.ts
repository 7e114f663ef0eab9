// What people do with the dashboard, step by step. Each step is checked on the page.

import type { Browser } from 'playwright-core';
import type { Checklist, Story } from './web-checklist.ts';
import { pullRequestPath, queuePath, testsPath } from './web-page.ts';
import {
  conclude,
  failingTest,
  markup,
  numbers,
  quick,
  reached,
  submit,
  widgets,
  type World,
} from './web-world.ts';
import { checkLinks } from './web-link.ts';
import { checkPullRequestPage } from './web-pull-request.ts';
import { checkRules } from './web-rule.ts';
import { checkDoctor } from './web-doctor.ts';
import { checkGitHosts } from './web-git-hosts.ts';
import { checkGraph } from './web-graph.ts';
import { checkSingleSignOn } from './web-oidc.ts';
import { checkLongQueue } from './web-long-queue.ts';
import { checkTestPages } from './web-tests.ts';
import { checkHome } from './web-home.ts';
import { checkHealth } from './web-health.ts';
import { checkSettings } from './web-settings.ts';
import { checkSignOut, checkSignIn, checkViewer } from './web-sign-in.ts';
import { checkTokens } from './web-token.ts';
import { checkWebhooks } from './web-webhooks.ts';

export async function runStory(
  browser: Browser,
  world: World,
  { check }: Checklist,
): Promise<{ readonly liveMs: number }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content.Security.Policy/i.test(message.text()))
      errors.push(message.text());
  });
  const story = { page, world, check };
  await checkSignIn(story);
  await checkHome(story);
  const liveMs = await checkLive(story);
  await checkRestart(story);
  await checkControl(story);
  await checkActions(story);
  await checkLongQueue(story);
  await checkPullRequests(story);
  await checkPullRequestPage(story);
  await checkLinks(story);
  await checkRules(story);
  await checkHealth(story);
  await checkTests(story);
  await checkGraph(story);
  await checkTestPages(story);
  await checkSettings(story);
  await checkDoctor(story);
  await check(
    'no script failed and nothing violated the content security policy',
    async () => errors.length === 0 || errors.join('\n'),
  );
  await checkSignOut(story);
  await context.close();
  await checkViewer(browser, world, check);
  await checkSingleSignOn(browser, world, check);
  await checkTokens(browser, world, check);
  await checkWebhooks(browser, world, check);
  await checkGitHosts(browser, world, check);
  return { liveMs };
}

async function checkLive({ page, world, check }: Story): Promise<number> {
  let liveMs = Number.POSITIVE_INFINITY;
  await page.goto(`${world.url}${queuePath(quick)}`);
  await check('an empty queue is shown as empty', async () => page.getByText('The queue is empty').waitFor());
  await check('the page shows that it is live', async () =>
    page.getByText('Live', { exact: true }).waitFor(),
  );
  await page.evaluate('window.notReloaded = true');
  await check('a pull request is submitted in the dialog', async () => {
    await page.getByRole('button', { name: 'Submit pull request' }).click();
    await page.getByRole('dialog').getByLabel('Number').fill('7');
    await page.getByRole('dialog').getByRole('button', { name: 'Submit' }).click();
    await page.getByRole('status').getByText('#7 is submitted.').waitFor();
  });
  await check('it is in the queue', async () => page.locator('.entry[data-number="7"]').waitFor());
  await check('it is shown as testing, with its check and what it is tested on top of', async () => {
    const entry = page.locator('.entry[data-number="7"]');
    await entry.getByText('Testing', { exact: true }).waitFor();
    await entry.getByRole('button', { name: 'Details of #7' }).click();
    await entry.getByText('ci/test').first().waitFor();
    await entry.getByText(/Tested on top of the current branch/).waitFor();
  });
  await check('it is shown as merged without a reload', async () => {
    await page.locator('.recent-entry[data-number="7"]').getByText('Merged').waitFor();
    return page.evaluate('window.notReloaded === true');
  });
  await check('a pull request that another user submits appears automatically', async () => {
    await submit(world, quick, 8, { title: 'Submitted by another user' });
    const beganAt = Date.now();
    await page.locator('[data-number="8"]').first().waitFor();
    liveMs = Date.now() - beganAt;
  });
  await check('it merges automatically', async () => {
    await page.locator('.recent-entry[data-number="8"]').getByText('Merged').waitFor();
    return page.evaluate('window.notReloaded === true');
  });
  await check('a pull request that cannot be submitted is refused with an explanation', async () => {
    await page.getByRole('button', { name: 'Submit pull request' }).click();
    await page.getByRole('dialog').getByLabel('Number').fill('7');
    await page.getByRole('dialog').getByRole('button', { name: 'Submit' }).click();
    await page
      .getByRole('dialog')
      .getByRole('alert')
      .getByText(/merged/i)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Go back' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });
  return liveMs;
}

async function checkRestart({ page, world, check }: Story): Promise<void> {
  await check('while the server is unreachable, the page shows that and keeps its content', async () =>
    world.restartServer(async () => {
      await page.getByText('Reconnecting', { exact: true }).waitFor();
      await page.locator('.recent-entry[data-number="8"]').waitFor();
    }),
  );
  await check('when the server responds again, the page is live again automatically', async () => {
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('alert').first().waitFor({ state: 'hidden' });
    return page.evaluate('window.notReloaded === true');
  });
  await check('and shows later changes', async () => {
    await submit(world, quick, 6, { title: 'After the restart' });
    await page.locator('.recent-entry[data-number="6"]').getByText('Merged').waitFor();
  });
}

async function checkControl({ page, world, check }: Story): Promise<void> {
  const change = async (verb: string) => {
    await page.getByRole('button', { name: verb, exact: true }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `${verb} the queue` })
      .click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  };
  const state = async () => (await world.call('getQueue', quick)).state;
  await check('the queue is paused, and the page explains it', async () => {
    await change('Pause');
    await page.getByText(/Runs in progress finish\. No new run starts/).waitFor();
    return (await state()) === 'PAUSED';
  });
  await check('a pull request in a paused queue shows why it waits', async () => {
    await submit(world, quick, 9, { title: 'Waits for the queue' });
    await page.locator('.entry[data-number="9"] .why').first().waitFor();
    await page
      .locator('.entry[data-number="9"]')
      .getByText(/paused/i)
      .first()
      .waitFor();
  });
  await check('the queue is resumed, and the waiting pull request is merged', async () => {
    await change('Resume');
    await page.locator('.recent-entry[data-number="9"]').getByText('Merged').waitFor();
    return (await state()) === 'RUNNING';
  });
  await check('the queue is drained, and the page explains it', async () => {
    await change('Drain');
    await page
      .getByText(/Queued pull requests are tested and merged\. Pull requests that are submitted now/)
      .waitFor();
    return (await state()) === 'DRAINING';
  });
  await check('a change by another user is shown', async () => {
    await world.call('updateQueue', { ...quick, state: 'RUNNING' });
    await page.getByText('Running', { exact: true }).waitFor();
  });
}

async function checkActions({ page, world, check }: Story): Promise<void> {
  await page.goto(`${world.url}${queuePath(widgets)}`);
  const entry = (number: number) => page.locator(`.entry[data-number="${number}"]`);
  const expand = async (number: number) =>
    page.getByRole('button', { name: `Details of #${number}`, exact: true }).click();
  const choose = async (number: number, item: string) => {
    await page.getByRole('button', { name: `Actions for #${number}`, exact: true }).click();
    await page.getByRole('menuitem', { name: item }).click();
    await page.getByRole('dialog').waitFor();
  };
  await check('thirty pull requests are in the queue, in order', async () => {
    await entry(numbers.firstQueued).waitFor();
    return (await page.locator('.entry').count()) === 30;
  });
  await check('at least sixteen of them are seen at once, each on a line of 40 pixels', async () => {
    const boxes = await Promise.all(
      (await page.locator('.entry-line').all()).map((line) => line.boundingBox()),
    );
    const { height } = page.viewportSize()!;
    const seen = boxes.filter((box) => box !== null && box.y + box.height <= height);
    const heights = seen.map((box) => box!.height);
    if (seen.length < 16 || heights.some((each) => each !== 40))
      throw new Error(`${seen.length} lines are seen, with heights of ${heights.join(', ')}`);
    return true;
  });
  await check('a batch is named, with dots for its checks and its progress', async () => {
    const first = entry(numbers.firstQueued);
    await first.getByText('batch of 3', { exact: true }).waitFor();
    await first.getByRole('img', { name: /^Checks: .*ci\/build: passed/ }).waitFor();
    await first.getByRole('img', { name: /^Tested for \d/ }).waitFor();
    await page.locator('.entry-heading').getByText('Waiting for tests').waitFor();
  });
  await check('an entry names the others of its batch', async () => {
    await expand(numbers.firstQueued);
    await entry(numbers.firstQueued)
      .getByText(/In a batch with #4902, #4903/)
      .waitFor();
  });
  await check('an entry of the next batch names what it is tested on top of', async () => {
    await expand(numbers.firstQueued + 3);
    await entry(numbers.firstQueued + 3)
      .locator('.entry-details')
      .getByText(/on top of #4901, #4902, #4903/)
      .waitFor();
  });
  await check('checks show their state as text and link to CI', async () => {
    await entry(numbers.firstQueued).getByText('passed').waitFor();
    const href = await entry(numbers.firstQueued)
      .getByRole('link', { name: 'ci/build' })
      .getAttribute('href');
    return href === 'https://ci.example/build';
  });
  await check('a waiting pull request shows why it waits', async () =>
    entry(numbers.firstQueued + 25)
      .locator('.why')
      .first()
      .waitFor(),
  );
  await check('a pull request that is not ready shows why', async () =>
    entry(numbers.notReady).locator('.why').first().waitFor(),
  );
  await check('markup in a title is text', async () => {
    await entry(numbers.markup).getByText(markup).waitFor();
    return (await page.evaluate('window.stolen === undefined')) === true;
  });
  await check('a new priority shows its effect before it is confirmed', async () => {
    await choose(numbers.firstQueued + 22, 'Change priority');
    await page.getByRole('dialog').getByRole('combobox', { name: 'Priority' }).click();
    await page.getByRole('option', { name: 'urgent' }).click();
    await page
      .getByRole('dialog')
      .getByText(/may restart behind it/)
      .waitFor();
  });
  await check('Escape closes a dialog, changes nothing and restores the focus', async () => {
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    const { priorityName } = await world.call('getSubmittedPullRequest', {
      ...widgets,
      pr: { number: numbers.firstQueued + 22 },
    });
    await page.locator(`:focus[aria-label="Actions for #${numbers.firstQueued + 22}"]`).waitFor();
    return priorityName === 'medium';
  });
  await check('a priority is changed', async () => {
    await choose(numbers.firstQueued + 22, 'Change priority');
    await page.getByRole('dialog').getByRole('combobox', { name: 'Priority' }).click();
    await page.getByRole('option', { name: 'low' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Change priority' }).click();
    await expand(numbers.firstQueued + 22);
    await entry(numbers.firstQueued + 22)
      .getByText(/priority low/)
      .waitFor();
  });
  await check('tests are restarted in place', async () => {
    await choose(numbers.firstQueued + 3, 'Restart tests');
    await page.getByRole('dialog').getByRole('button', { name: 'Restart tests' }).click();
    await page
      .getByRole('status')
      .getByText(/restart/)
      .waitFor();
  });
  await check('a cancellation asks first, and is shown', async () => {
    await choose(numbers.firstQueued + 28, 'Cancel');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Cancel #${numbers.firstQueued + 28}` })
      .click();
    await entry(numbers.firstQueued + 28).waitFor({ state: 'detached' });
    await page
      .locator(`.recent-entry[data-number="${numbers.firstQueued + 28}"]`)
      .getByText('Cancelled')
      .waitFor();
    return (await reached(world, numbers.firstQueued + 28, ['cancelled'])) === 'cancelled';
  });
  await check('a batch that passes is merged, and the queue moves up automatically', async () => {
    await conclude(world, numbers.firstQueued, 'success');
    await entry(numbers.firstQueued).waitFor({ state: 'detached' });
  });
}

async function checkPullRequests({ page, world, check }: Story): Promise<void> {
  await check('a merged pull request shows the attestation of its landing', async () => {
    await page.goto(`${world.url}${pullRequestPath(widgets, numbers.landed)}`);
    await page.getByText('Tested tree = landed tree').waitFor();
    const trees = await page.locator('.rows code').allTextContents();
    return trees.length === 4 && trees[0] === trees[1] && /^[0-9a-f]{40}$/.test(trees[0] ?? '');
  });
  await check('its events go from submitted to merged', async () => {
    const states = await page.locator('.timeline .pill').allTextContents();
    return (states[0] === 'Merged' && states.includes('Testing')) || states.join();
  });
  await check('its run shows the checks', async () =>
    page.getByRole('article').first().getByText('ci/test').waitFor(),
  );
  await check('a failed pull request shows its failing test with a verdict', async () => {
    await page.goto(`${world.url}${pullRequestPath(widgets, numbers.failing)}`);
    await page.getByRole('link', { name: failingTest }).first().waitFor();
    await page
      .getByText(/New test|New failure/)
      .first()
      .waitFor();
  });
  await check('the failing test opens from there', async () => {
    await page.getByRole('link', { name: failingTest }).first().click();
    await page.getByRole('heading', { name: failingTest }).waitFor();
    await page.getByText('Most common failures').waitFor();
  });
  await check(
    'markup in the name of a test and in its failure is text',
    async () => (await page.evaluate('window.stolen === undefined')) === true,
  );
  await check('a pull request that was never submitted is an error with an explanation', async () => {
    await page.goto(`${world.url}${pullRequestPath(widgets, 9_999)}`);
    await page.getByRole('alert').waitFor();
  });
}

async function checkTests({ page, world, check }: Story): Promise<void> {
  await check('flaky tests are listed with the reason, page by page', async () => {
    await page.goto(`${world.url}${testsPath('flaky')}`);
    await page.getByText('page 1 of 3').waitFor();
    await page
      .getByText(/same commit 4 times/)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText('page 2 of 3').waitFor();
    await page.getByRole('button', { name: 'Previous page' }).click();
    await page.getByText('page 1 of 3').waitFor();
  });
  await check('broken tests have their own list', async () => {
    await page.getByRole('tab', { name: 'Broken' }).click();
    await page.getByText('Fails on main since two hours.').first().waitFor();
  });
  await check('a test is quarantined', async () => {
    await page.getByRole('link', { name: /order 2$/ }).click();
    await page.getByRole('heading', { name: /order 2$/ }).waitFor();
    await page.getByRole('radio', { name: 'Always' }).click();
    await page.getByLabel('Reason').fill('Investigated on Monday');
    await page.getByRole('button', { name: 'Save quarantine' }).click();
    await page.getByRole('status').getByText('The test is quarantined.').waitFor();
    await page.locator('.pill', { hasText: 'Quarantined' }).waitFor();
  });
  await check('uploads are listed with their problems', async () => {
    await page.getByRole('link', { name: 'Uploads' }).click();
    await page
      .getByText(/1 passed, 1 failed/)
      .first()
      .waitFor();
    await page.locator('.row .why').first().waitFor();
  });
}
