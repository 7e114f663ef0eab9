// The history of a queue with the pull requests behind each metric, and the time that one pull request spent.

import type { Page } from 'playwright-core';
import type { Story } from './web-checklist.ts';
import { healthPath, pullRequestPath } from './web-page.ts';
import { numbers, widgets } from './web-world.ts';

const hourMs = 3_600_000;

export async function checkHealth({ page, world, check }: Story): Promise<void> {
  const until = new Date(Math.ceil(Date.now() / hourMs) * hourMs);
  const since = new Date(until.getTime() - 30 * 24 * hourMs);
  const request = { ...widgets, since: since.toISOString(), until: until.toISOString(), timeZone: 'UTC' };
  const bounds = { since: request.since, until: request.until, utc: '1' };
  await page.goto(`${world.url}${healthPath(widgets, bounds)}`);
  const history = await world.call('getQueueHistory', request);
  await check('the metrics of a range are those of the API', async () => {
    const metric = page.locator('.metrics > div', { hasText: 'Merged' }).first();
    await metric.getByText(String(history.totals.merged), { exact: true }).waitFor();
  });
  await check('every chart has a text description', async () => {
    await page.getByRole('img', { name: /^Outcomes, \d+ days\. Merged: / }).waitFor();
    return (await page.locator('.chart[role="img"]').count()) === 5;
  });
  const busiest = history.buckets.toSorted((a, b) => b.failed - a.failed)[0]!;
  await check('a number in the table links to the pull requests that it counts', async () => {
    await page.getByRole('button', { name: 'Show as table: Outcomes' }).click();
    const row = page.getByRole('row').nth(1 + history.buckets.indexOf(busiest));
    await row.getByRole('link', { name: `${busiest.failed} failed` }).click();
    await page.getByRole('heading', { name: /^Left the queue from .* failed$/ }).waitFor();
    await page.locator('.attempts .recent-entry').first().waitFor();
    const shown = await page.locator('.attempts .recent-entry').count();
    return shown === busiest.failed || `${shown} are listed, ${busiest.failed} are counted`;
  });
  await check('the list has its own URL', async () => {
    await page.reload();
    await page
      .locator('.attempts .recent-entry')
      .nth(busiest.failed - 1)
      .waitFor();
  });
  await check('a click on a point of a chart opens the list', () => pickPoint(page));
  await check('a range without pull requests suggests what to do', async () => {
    const past = { since: '2020-01-01T00:00:00.000Z', until: '2020-01-08T00:00:00.000Z' };
    await page.goto(`${world.url}${healthPath(widgets, past)}`);
    await page.getByText('Choose a longer range, or another queue.').waitFor();
  });
  await check('the choice of UTC is remembered', async () => {
    await page.goto(`${world.url}${healthPath(widgets, { range: '24h' })}`);
    const utc = page.getByRole('switch', { name: 'Times in UTC' });
    const wasUtc = await utc.isChecked();
    await utc.click();
    await page.goto(`${world.url}${healthPath(widgets, { range: '30d' })}`);
    await page.getByText(/by day, in /).waitFor();
    const isUtc = await utc.isChecked();
    return isUtc !== wasUtc || 'the switch did not change';
  });
  await checkTimeSpent({ page, world, check });
}

async function pickPoint(page: Page): Promise<boolean | string> {
  const chart = page.getByRole('img', { name: /^Time in queue, / });
  await chart.scrollIntoViewIfNeeded();
  const over = chart.locator('.u-over');
  const box = await over.boundingBox();
  await over.click({ position: { x: (box?.width ?? 100) / 2, y: 40 } });
  await page.getByRole('heading', { name: /^Left the queue from / }).waitFor();
  const address = new URL(page.url()).searchParams;
  return (address.has('from') && !address.has('conclusion')) || page.url();
}

async function checkTimeSpent({ page, world, check }: Story): Promise<void> {
  await page.goto(`${world.url}${pullRequestPath(widgets, numbers.landed)}`);
  await check('the time spent by a pull request is shown in rows that add up', async () => {
    const card = page.getByRole('region', { name: 'Where the time went' });
    await card.waitFor();
    const secondsOf = (text: string) =>
      [...text.matchAll(/(\d+) (d|h|min|s)\b/g)].reduce(
        (sum, [, count, unit]) => sum + Number(count) * { d: 86_400, h: 3_600, min: 60, s: 1 }[unit as 's'],
        0,
      );
    const rows = await card.locator('tbody td').allTextContents();
    const total = secondsOf((await card.locator('tfoot td').textContent()) ?? '');
    const sum = rows.map(secondsOf).reduce((all, seconds) => all + seconds, 0);
    return (rows.length > 0 && sum === total) || `${rows.join(' + ')} is not ${total} s`;
  });
}
