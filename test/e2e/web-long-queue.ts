// A long queue: which rows are in the page, the search, and where the focus stays.

import type { Story } from './web-checklist.ts';
import { queuePath } from './web-page.ts';
import { long, longCount } from './web-world-long-queue.ts';

export async function checkLongQueue({ page, world, check }: Story): Promise<void> {
  await page.goto(`${world.url}${queuePath(long)}`);
  const rows = page.locator('.queue-list > .entry');
  await check('the page has only the rows around the window of a long queue', async () => {
    await rows.first().waitFor();
    return (
      (await rows.count()) < longCount && (await rows.first().getAttribute('aria-setsize')) === `${longCount}`
    );
  });
  await check('scrolling shows further rows, with why they wait', async () => {
    await page.mouse.move(700, 500);
    await page.mouse.wheel(0, 100_000);
    await page.locator(`.entry[aria-posinset="${longCount}"] .why`).first().waitFor();
  });
  await check('a row with the focus stays when it is scrolled away and the queue changes', async () => {
    await page.mouse.wheel(0, -100_000);
    const button = page.getByRole('button', { name: 'Actions for #2', exact: true });
    await button.focus();
    await page.mouse.wheel(0, 100_000);
    await page.locator(`.entry[aria-posinset="${longCount}"]`).waitFor();
    await world.call('submitPullRequest', { ...long, pr: { number: 3 }, priority: 'high' });
    await page.locator('.entry[data-number="1"]').waitFor({ state: 'detached' });
    return page.evaluate(`document.activeElement?.ariaLabel === 'Actions for #2'`);
  });
  await check('a pull request is found by its number, and the search is part of the URL', async () => {
    await page.getByLabel('Find in the queue').fill(`#${longCount}`);
    await page.getByText(`1 pull request of ${longCount}`).waitFor();
    return (await rows.count()) === 1 && page.url().includes('find=');
  });
  await check('a search without a match is explained', async () => {
    await page.getByLabel('Find in the queue').fill('no such title');
    await page.getByText('No pull request matches').waitFor();
  });
}
