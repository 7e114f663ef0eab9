// The home page: what needs attention, and how each queue is doing compared with usual.

import type { Story } from './web-checklist.ts';
import { fitsPhone } from './web-page.ts';
import { failingTest, numbers } from './web-world.ts';

export async function checkHome({ page, world, check }: Story): Promise<void> {
  await page.goto(`${world.url}/app/`);
  const toFix = page.getByRole('region', { name: 'Needs attention' });
  const row = (number: number) => toFix.locator(`[data-number="${number}"]`);
  await check('home lists first what failed and what is not ready, each with its reason', async () => {
    await row(numbers.failing).getByText(`${failingTest} failed`).waitFor();
    await row(numbers.notReady)
      .getByText(/cannot be merged/)
      .waitFor();
    const [first, second] = await page.getByRole('heading', { level: 2 }).allTextContents();
    return (first === 'Needs attention' && second === 'Queues') || `${first}, ${second}`;
  });
  const card = page.locator('.queue-card', { has: page.getByRole('link', { name: /^acme\/widgets main/ }) });
  await check('a queue shows its merges by hour as the API counts them', async () => {
    const label = await card.getByRole('img', { name: /^Merged by hour/ }).getAttribute('aria-label');
    const counts = (label ?? '').split(': ')[1]!.split(', ').map(Number);
    const { queues } = await world.call('listQueues', { query: 'acme/widgets main', includeLastDay: true });
    const merged = counts.reduce((sum, count) => sum + count, 0);
    const isSame = merged > 0 && merged === queues[0]?.mergedLast24h;
    return (counts.length === 24 && isSame) || `${label}, not ${queues[0]?.mergedLast24h}`;
  });
  await check('beside it stand what is usual and what was a week earlier', async () => {
    await card.getByText(/^\d+ a week earlier$/).waitFor();
    await card.getByText('usual 14 min').waitFor();
    await card.getByRole('img', { name: /^Time in queue by hour.* 1\d min/ }).waitFor();
  });
  await check('home is as wide as a phone', () => fitsPhone(page));
  await check('what needs attention opens from there', async () => {
    await row(numbers.failing).getByRole('link').click();
    await page.getByRole('heading', { name: `#${numbers.failing}` }).waitFor();
  });
}
