// What people do with the dashboard, step by step, each step checked on the page.

import type { Browser } from 'playwright-core';
import type { Checklist, Told } from './web-checklist.ts';
import { pullRequestPath, queuePath, testsPath } from './web-page.ts';
import {
  conclude,
  failingTest,
  markup,
  numbers,
  quick,
  reached,
  submit,
  told,
  type World,
} from './web-world.ts';
import { tellRules } from './web-rule.ts';
import { tellGraph } from './web-graph.ts';
import { tellSingleSignOn } from './web-oidc.ts';
import { tellLine } from './web-line.ts';
import { tellTestPages } from './web-tests.ts';
import { tellHealth } from './web-health.ts';
import { tellSettings } from './web-settings.ts';
import { tellEnd, tellSignIn, tellViewer } from './web-sign-in.ts';
import { tellTokens } from './web-token.ts';
import { tellWebhooks } from './web-webhooks.ts';

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
  const told = { page, world, check };
  await tellSignIn(told);
  const liveMs = await tellLive(told);
  await tellRestart(told);
  await tellControl(told);
  await tellActions(told);
  await tellLine(told);
  await tellPullRequests(told);
  await tellRules(told);
  await tellHealth(told);
  await tellTests(told);
  await tellGraph(told);
  await tellTestPages(told);
  await tellSettings(told);
  await check(
    'no script failed and nothing was against the policy',
    async () => errors.length === 0 || errors.join('\n'),
  );
  await tellEnd(told);
  await context.close();
  await tellViewer(browser, world, check);
  await tellSingleSignOn(browser, world, check);
  await tellTokens(browser, world, check);
  await tellWebhooks(browser, world, check);
  return { liveMs };
}

async function tellLive({ page, world, check }: Told): Promise<number> {
  let liveMs = Number.POSITIVE_INFINITY;
  await page.goto(`${world.url}${queuePath(quick)}`);
  await check('an empty queue says so', async () => page.getByText('The queue is empty').waitFor());
  await check('the page says that it is live', async () => page.getByText('Live', { exact: true }).waitFor());
  await page.evaluate('window.notReloaded = true');
  await check('a pull request is submitted in the dialog', async () => {
    await page.getByRole('button', { name: 'Submit pull request' }).click();
    await page.getByRole('dialog').getByLabel('Number').fill('7');
    await page.getByRole('dialog').getByRole('button', { name: 'Submit' }).click();
    await page.getByRole('status').getByText('#7 is submitted.').waitFor();
  });
  await check('it is in the line', async () => page.locator('.entry[data-number="7"]').waitFor());
  await check('it is seen under test, with its check and what it is on top of', async () => {
    const entry = page.locator('.entry[data-number="7"]');
    await entry.getByText('Testing', { exact: true }).waitFor();
    await entry.getByText('ci/test').first().waitFor();
    await entry.getByText(/Tested on top of the branch as it is/).waitFor();
  });
  await check('it is seen merged, without reloading', async () => {
    await page.locator('.recent-entry[data-number="7"]').getByText('Merged').waitFor();
    return page.evaluate('window.notReloaded === true');
  });
  await check('what somebody else submits appears by itself', async () => {
    await submit(world, quick, 8, { title: 'Told by another' });
    const beganAt = Date.now();
    await page.locator('[data-number="8"]').first().waitFor();
    liveMs = Date.now() - beganAt;
  });
  await check('it goes all the way by itself', async () => {
    await page.locator('.recent-entry[data-number="8"]').getByText('Merged').waitFor();
    return page.evaluate('window.notReloaded === true');
  });
  await check('a number that the host does not have in order is refused in words', async () => {
    await page.getByRole('button', { name: 'Submit pull request' }).click();
    await page.getByRole('dialog').getByLabel('Number').fill('7');
    await page.getByRole('dialog').getByRole('button', { name: 'Submit' }).click();
    await page
      .getByRole('dialog')
      .getByRole('alert')
      .getByText(/merged/i)
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Leave it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });
  return liveMs;
}

async function tellRestart({ page, world, check }: Told): Promise<void> {
  await check('while the server is away the page says so and keeps what it shows', async () =>
    world.restartServer(async () => {
      await page.getByText('Reconnecting', { exact: true }).waitFor();
      await page.locator('.recent-entry[data-number="8"]').waitFor();
    }),
  );
  await check('once the server is back the page is live again by itself', async () => {
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByRole('alert').first().waitFor({ state: 'hidden' });
    return page.evaluate('window.notReloaded === true');
  });
  await check('and shows what happens from then on', async () => {
    await submit(world, quick, 6, { title: 'After the restart' });
    await page.locator('.recent-entry[data-number="6"]').getByText('Merged').waitFor();
  });
}

async function tellControl({ page, world, check }: Told): Promise<void> {
  const change = async (verb: string) => {
    await page.getByRole('button', { name: verb, exact: true }).click();
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `${verb} the queue` })
      .click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  };
  const state = async () => (await world.call('getQueue', quick)).state;
  await check('the queue is paused, and says what that means', async () => {
    await change('Pause');
    await page.getByText(/Tests under way finish; nothing new is tested/).waitFor();
    return (await state()) === 'PAUSED';
  });
  await check('what is submitted to a paused queue says why it waits', async () => {
    await submit(world, quick, 9, { title: 'Waits for the queue' });
    await page.locator('.entry[data-number="9"] .why').first().waitFor();
    await page
      .locator('.entry[data-number="9"]')
      .getByText(/paused/i)
      .first()
      .waitFor();
  });
  await check('the queue is resumed, and what waited is merged', async () => {
    await change('Resume');
    await page.locator('.recent-entry[data-number="9"]').getByText('Merged').waitFor();
    return (await state()) === 'RUNNING';
  });
  await check('the queue is drained, and says so', async () => {
    await change('Drain');
    await page.getByText(/What is in line is tested and merged; what is submitted now/).waitFor();
    return (await state()) === 'DRAINING';
  });
  await check('a change that somebody else makes is seen', async () => {
    await world.call('updateQueue', { ...quick, state: 'RUNNING' });
    await page.getByText('Running', { exact: true }).waitFor();
  });
}

async function tellActions({ page, world, check }: Told): Promise<void> {
  await page.goto(`${world.url}${queuePath(told)}`);
  const entry = (number: number) => page.locator(`.entry[data-number="${number}"]`);
  const choose = async (number: number, item: string) => {
    await page.getByRole('button', { name: `Actions for #${number}`, exact: true }).click();
    await page.getByRole('menuitem', { name: item }).click();
    await page.getByRole('dialog').waitFor();
  };
  await check('thirty pull requests are in the line, in order', async () => {
    await entry(numbers.line).waitFor();
    return (await page.locator('.entry').count()) === 30;
  });
  await check('a batch says with whom it is tested', async () =>
    entry(numbers.line)
      .getByText(/In a batch with #4902, #4903/)
      .waitFor(),
  );
  await check('a batch behind it says what it is on top of', async () =>
    entry(numbers.line + 3)
      .getByText(/on top of #4901, #4902, #4903/)
      .first()
      .waitFor(),
  );
  await check('checks say their state in words and lead to CI', async () => {
    await entry(numbers.line).getByText('passed').waitFor();
    const href = await entry(numbers.line).getByRole('link', { name: 'ci/build' }).getAttribute('href');
    return href === 'https://ci.example/build';
  });
  await check('who waits is told why', async () =>
    entry(numbers.line + 25)
      .locator('.why')
      .first()
      .waitFor(),
  );
  await check('who is not ready is told why', async () =>
    entry(numbers.notReady).locator('.why').first().waitFor(),
  );
  await check('markup in a title is text', async () => {
    await entry(numbers.markup).getByText(markup).waitFor();
    return (await page.evaluate('window.stolen === undefined')) === true;
  });
  await check('a priority says what it costs before it is confirmed', async () => {
    await choose(numbers.line + 22, 'Change priority');
    await page.getByRole('dialog').getByRole('combobox', { name: 'Priority' }).click();
    await page.getByRole('option', { name: 'urgent' }).click();
    await page
      .getByRole('dialog')
      .getByText(/under test may have to begin anew behind it/)
      .waitFor();
  });
  await check('a dialog closes with Escape, changes nothing and gives the focus back', async () => {
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    const { priorityName } = await world.call('getSubmittedPullRequest', {
      ...told,
      pr: { number: numbers.line + 22 },
    });
    await page.locator(`:focus[aria-label="Actions for #${numbers.line + 22}"]`).waitFor();
    return priorityName === 'medium';
  });
  await check('a priority is changed', async () => {
    await choose(numbers.line + 22, 'Change priority');
    await page.getByRole('dialog').getByRole('combobox', { name: 'Priority' }).click();
    await page.getByRole('option', { name: 'low' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Change priority' }).click();
    await entry(numbers.line + 22)
      .getByText(/priority low/)
      .waitFor();
  });
  await check('tests are restarted in place', async () => {
    await choose(numbers.line + 3, 'Restart tests');
    await page.getByRole('dialog').getByRole('button', { name: 'Restart tests' }).click();
    await page
      .getByRole('status')
      .getByText(/begin anew/)
      .waitFor();
  });
  await check('a cancellation asks first, and is seen', async () => {
    await choose(numbers.line + 28, 'Cancel');
    await page
      .getByRole('dialog')
      .getByRole('button', { name: `Cancel #${numbers.line + 28}` })
      .click();
    await entry(numbers.line + 28).waitFor({ state: 'detached' });
    await page
      .locator(`.recent-entry[data-number="${numbers.line + 28}"]`)
      .getByText('Cancelled')
      .waitFor();
    return (await reached(world, numbers.line + 28, ['cancelled'])) === 'cancelled';
  });
  await check('a batch that passes lands, and the line moves up by itself', async () => {
    await conclude(world, numbers.line, 'success');
    await entry(numbers.line).waitFor({ state: 'detached' });
  });
}

async function tellPullRequests({ page, world, check }: Told): Promise<void> {
  await check('a merged pull request shows the proof of its landing', async () => {
    await page.goto(`${world.url}${pullRequestPath(told, numbers.landed)}`);
    await page.getByText('Tested tree = landed tree').waitFor();
    const trees = await page.locator('.rows code').allTextContents();
    return trees.length === 4 && trees[0] === trees[1] && /^[0-9a-f]{40}$/.test(trees[0] ?? '');
  });
  await check('its timeline goes from submitted to merged', async () => {
    const states = await page.locator('.timeline .pill').allTextContents();
    return (states[0] === 'Merged' && states.includes('Testing')) || states.join();
  });
  await check('its run shows the checks', async () =>
    page.getByRole('article').first().getByText('ci/test').waitFor(),
  );
  await check('a failed pull request names its failing test and what is known of it', async () => {
    await page.goto(`${world.url}${pullRequestPath(told, numbers.failing)}`);
    await page.getByRole('link', { name: failingTest }).first().waitFor();
    await page
      .getByText(/Never seen before|New failure/)
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
  await check('a pull request that was never submitted is refused in words', async () => {
    await page.goto(`${world.url}${pullRequestPath(told, 9_999)}`);
    await page.getByRole('alert').waitFor();
  });
}

async function tellTests({ page, world, check }: Told): Promise<void> {
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
    await page.getByLabel('Why').fill('Looked at on Monday');
    await page.getByRole('button', { name: 'Set quarantine' }).click();
    await page.getByRole('status').getByText('The test is quarantined.').waitFor();
    await page.locator('.pill', { hasText: 'Quarantined' }).waitFor();
  });
  await check('uploads are listed, with what could not be read', async () => {
    await page.getByRole('link', { name: 'Uploads' }).click();
    await page
      .getByText(/1 passed, 1 failed/)
      .first()
      .waitFor();
    await page.locator('.row .why').first().waitFor();
  });
}
