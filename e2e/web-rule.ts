// The required checks of a landing, and how they changed, as the page of a pull request shows them.

import type { Told } from './web-checklist.ts';
import { pullRequestPath } from './web-page.ts';
import { changesRules, ruled } from './web-world-rule.ts';

export async function tellRules({ page, world, check }: Told): Promise<void> {
  await check('the proof names each required check with its source, and what it changed', async () => {
    await page.goto(`${world.url}${pullRequestPath(ruled, changesRules)}`);
    const proof = page.getByRole('region', { name: 'Proof of the landing' });
    await proof.getByText('changed the required checks: #11 adds ci/e2e').waitFor();
    const checks = await proof.getByRole('listitem').allInnerTexts();
    const words = checks.map((text) => text.replaceAll(/\s+/g, ' ').trim()).toSorted();
    const expected = [
      'ci/build from a check run of app 15368',
      'ci/e2e from any source',
      'ci/test from a check run of app 15368',
    ];
    return words.join() === expected.join() || words.join();
  });
  await check('the timeline names the checks that the branch has required since', async () => {
    const event = page.locator('.timeline > li').filter({ hasText: 'Required now: ci/build.' });
    await event.getByText('the branch requires more than its tests had passed').waitFor();
    await page.locator('.timeline').getByText('Required checks: it adds ci/e2e.').first().waitFor();
  });
}
