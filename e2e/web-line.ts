// A long line: what is in the page of it, how it is found through, and where the focus stays.

import type { Told } from './web-checklist.ts';
import { queuePath } from './web-page.ts';
import { long, longCount } from './web-world-line.ts';

export async function tellLine({ page, world, check }: Told): Promise<void> {
  await page.goto(`${world.url}${queuePath(long)}`);
  const rows = page.locator('.line > .entry');
  await check('of a long line only the rows around the window are in the page', async () => {
    await rows.first().waitFor();
    return (
      (await rows.count()) < longCount && (await rows.first().getAttribute('aria-setsize')) === `${longCount}`
    );
  });
  await check('the others come as one scrolls, with why they wait', async () => {
    await page.mouse.move(700, 500);
    await page.mouse.wheel(0, 100_000);
    await page.locator(`.entry[aria-posinset="${longCount}"] .why`).first().waitFor();
  });
  await check('a row that has the focus stays when it is scrolled away and the line changes', async () => {
    await page.mouse.wheel(0, -100_000);
    const button = page.getByRole('button', { name: 'Actions for #2', exact: true });
    await button.focus();
    await page.mouse.wheel(0, 100_000);
    await page.locator(`.entry[aria-posinset="${longCount}"]`).waitFor();
    await world.call('submitPullRequest', { ...long, pr: { number: 3 }, priority: 'high' });
    await page.locator('.entry[data-number="1"]').waitFor({ state: 'detached' });
    return page.evaluate(`document.activeElement?.ariaLabel === 'Actions for #2'`);
  });
  await check('a pull request is found by its number, and the address says so', async () => {
    await page.getByLabel('Find in the line').fill(`#${longCount}`);
    await page.getByText(`1 pull request of ${longCount}`).waitFor();
    return (await rows.count()) === 1 && page.url().includes('find=');
  });
  await check('what is not found says so', async () => {
    await page.getByLabel('Find in the line').fill('no such title');
    await page.getByText('Nothing in the line matches').waitFor();
  });
}
