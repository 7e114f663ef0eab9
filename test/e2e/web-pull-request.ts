// The page of a pull request: where it stands, the trace of its time, what failed, facts and actions.

import type { Locator } from 'playwright-core';
import type { Story } from './web-checklist.ts';
import { fitsPhone, pullRequestPath } from './web-page.ts';
import { bisected } from './web-world-graph.ts';
import { numbers, widgets } from './web-world.ts';

const dayMs = 86_400_000;

/** The trace of the latest attempt. */
const traceOf = ({ page }: Pick<Story, 'page'>): Locator =>
  page.getByRole('region', { name: 'Where the time went' }).locator('.trace').first();

export async function checkPullRequestPage(story: Story): Promise<void> {
  await checkRunning(story);
  await checkPast(story);
  await checkFailed(story);
}

async function checkRunning({ page, world, check }: Story): Promise<void> {
  const number = numbers.firstQueued + 3;
  await page.goto(`${world.url}${pullRequestPath(widgets, number)}`);
  const trace = traceOf({ page });
  const run = trace.locator('li[data-run]').last();
  await check('one sentence says where a pull request stands and when it merges', async () => {
    const lead = page.getByRole('region', { name: 'Status' }).locator('.status-lead');
    await lead.getByText(/^Its tests .* It merges in about .+, at /).waitFor();
  });
  await check('the trace names who is tested together, each a link', async () => {
    await run.getByText('Tested with').waitFor();
    await run.getByRole('link', { name: `#${number + 1}` }).waitFor();
  });
  await check('a run that is not over reaches to now, and says so', async () => {
    await run.getByText('running').waitFor();
    const [bar, track] = await Promise.all([
      run.locator('.trace-track > b').last().boundingBox(),
      run.locator('.trace-track').boundingBox(),
    ]);
    const missing = track!.x + track!.width - (bar!.x + bar!.width);
    return Math.abs(missing) <= 2 || `${missing} pixels are missing`;
  });
  await check('each row of the trace has its times as text', async () => {
    const texts = await trace.locator('li .visually-hidden').allTextContents();
    const isTold = (text: string) => /^\d+ \w+ \d+, [\d:]+ to (now|\d+ \w+ \d+, [\d:]+)/.test(text);
    return (texts.length > 1 && texts.every(isTold) && texts.at(-1)!.endsWith('now')) || texts.join('; ');
  });
  await check('facts name the required checks and where they come from', async () => {
    const facts = page.getByRole('complementary', { name: 'Facts and actions' });
    await facts.getByText(/ci\/build, ci\/test/).waitFor();
    await facts.getByText('Required by the settings of the queue.').waitFor();
  });
  await check('an action is a button that asks first', async () => {
    await page.getByRole('button', { name: 'Cancel …' }).click();
    await page.getByRole('dialog', { name: `Cancel #${number}?` }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });
}

/** Of the queue with a past: a pull request whose tests restarted, and one that was submitted twice. */
async function checkPast({ page, world, check }: Story): Promise<void> {
  const until = new Date();
  const since = new Date(until.getTime() - 30 * dayMs);
  const { trips: attempts } = await world.call('listTrips', {
    ...widgets,
    since: since.toISOString(),
    until: until.toISOString(),
    take: 100,
  });
  const again = attempts.find(({ trip }) => trip === 2)!;
  const isLatest = ({ prNumber, trip }: (typeof attempts)[number]) =>
    !attempts.some((other) => other.prNumber === prNumber && other.trip > trip);
  const restarted = attempts.find((attempt) => attempt.restarts > 0 && isLatest(attempt))!;
  await page.goto(`${world.url}${pullRequestPath(widgets, restarted.prNumber)}`);
  const trace = traceOf({ page });
  await check('bars are drawn to scale', async () => {
    await trace.locator('li[data-run]').nth(1).waitFor();
    const { timeSpent = [] } = await world.call('getSubmittedPullRequest', {
      ...widgets,
      pr: { number: restarted.prNumber },
      includeTimeSpent: true,
    });
    const { segments, totalMs } = timeSpent[0]!;
    const tested = segments.filter(({ kind }) => kind === 'testing').map(({ ms }) => ms / totalMs);
    const boxes = await Promise.all(
      (await trace.locator('li[data-run] .trace-track').all()).map(async (track) => {
        const [bar, whole] = await Promise.all([track.locator('b').boundingBox(), track.boundingBox()]);
        return bar!.width / whole!.width;
      }),
    );
    const isClose = boxes.every((share, index) => Math.abs(share - tested[index]!) < 0.01);
    return (boxes.length === tested.length && isClose) || `${boxes.join()} for ${tested.join()}`;
  });
  await check('a restart names its cause', async () =>
    trace
      .getByText(/because .*ahead of it failed/)
      .first()
      .waitFor(),
  );
  await check('an earlier attempt has its own trace once it is opened', async () => {
    await page.goto(`${world.url}${pullRequestPath(widgets, again.prNumber)}`);
    const earlier = page.locator('.earlier-attempt');
    await earlier.getByText(/^Attempt 1, /).click();
    await earlier.getByRole('list', { name: 'Attempt 1' }).locator('li[data-run]').first().waitFor();
  });
}

async function checkFailed({ page, world, check }: Story): Promise<void> {
  await check('a failed pull request shows why it was removed, and what to do next', async () => {
    await page.goto(`${world.url}${pullRequestPath(widgets, numbers.failing)}`);
    const status = page.getByRole('region', { name: 'Status' });
    await status.getByText(/^It was removed from the queue .* ago: a required check failed\.$/).waitFor();
    await page.getByRole('button', { name: 'Submit again …' }).click();
    const given = await page.getByRole('dialog').getByLabel('Number').inputValue();
    await page.keyboard.press('Escape');
    return given === String(numbers.failing) || given;
  });
  await check('what failed lists the check with a link to CI', async () => {
    const failed = page.getByRole('region', { name: 'What failed' });
    const href = await failed.getByRole('link', { name: 'ci/test' }).getAttribute('href');
    return /^https:\/\/ci\.example\/.*ci\/test$/.test(href ?? '') || href;
  });
  await check('a bisection is named in the trace', async () => {
    await page.goto(`${world.url}${pullRequestPath(bisected, 302)}`);
    await traceOf({ page }).getByText('Bisection, with').waitFor();
  });
  await check('the page of a pull request is as wide as a phone', () => fitsPhone(page));
}
