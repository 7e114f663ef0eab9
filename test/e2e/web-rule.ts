// The required checks of a landing and their changes, on the page of a pull request.

import type { Story } from './web-checklist.ts';
import { pullRequestPath } from './web-page.ts';
import { changesRules, ruled } from './web-world-rule.ts';

export async function checkRules({ page, world, check }: Story): Promise<void> {
  await check('the attestation lists each required check with its source, and the changes', async () => {
    await page.goto(`${world.url}${pullRequestPath(ruled, changesRules)}`);
    const attestation = page.getByRole('region', { name: 'Attestation of the landing' });
    await attestation.getByText('changed the required checks: #11 adds ci/e2e').waitFor();
    const checks = await attestation.getByRole('listitem').allInnerTexts();
    const shown = checks.map((text) => text.replaceAll(/\s+/g, ' ').trim()).toSorted();
    const expected = [
      'ci/build from a check run of app 15368',
      'ci/e2e from any source',
      'ci/test from a check run of app 15368',
    ];
    return shown.join() === expected.join() || shown.join();
  });
  await check('the events list the checks that the branch requires since then', async () => {
    await page.getByText('All events').click();
    const event = page.locator('.timeline > li').filter({ hasText: 'Newly required: ci/build.' });
    await event.getByText('the branch requires checks that its tests did not include').waitFor();
    await page.locator('.timeline').getByText('Changes the required checks: adds ci/e2e.').first().waitFor();
  });
}
