// Git hosts: one is connected with an App, what it reaches is shown, a queue is created there, and it is disconnected.

import type { Browser } from 'playwright-core';
import type { Checklist } from './web-checklist.ts';
import { findViolations, openSignedIn } from './web-page.ts';
import type { World } from './web-world.ts';

export async function checkGitHosts(
  browser: Browser,
  world: World,
  check: Checklist['check'],
): Promise<void> {
  const { page, close } = await openSignedIn(browser, world, 'admin');
  const { github } = world;
  const { host } = new URL(github.url);
  const fill = async (privateKey: string) => {
    await page.getByLabel('App ID').fill(String(github.appId));
    await page.getByLabel('Installation ID').fill(String(github.installationId));
    await page.getByLabel('Private key').fill(privateKey);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
  };
  await check('credentials that a Git host refuses are explained, and not stored', async () => {
    await page.getByRole('link', { name: 'Git hosts' }).click();
    await page.getByText('No Git host is connected yet').waitFor();
    await page.getByRole('button', { name: 'Connect a Git host' }).click();
    await page.getByText('GitHub', { exact: true }).click();
    await page.getByText('Existing App').click();
    await fill('obviously-fake');
    await page.getByText('The private key of the GitHub App cannot be read').waitFor();
  });
  await check('a Git host is connected, and shows where Signalbox may write', async () => {
    await fill(github.privateKey);
    await page.getByText(`${host} is connected.`).waitFor();
    await page.getByText('Signalbox acts as').waitFor();
    await page.getByText('acme/widgets', { exact: true }).waitFor();
    return !(await page.content()).includes('PRIVATE KEY') || 'The key is still on the page.';
  });
  await check('axe-core finds nothing serious on a connected Git host', async () => {
    const violations = await findViolations(page);
    return violations.length === 0 || violations.join('\n');
  });
  await check('a queue is created for one of its repositories', async () => {
    await page.getByRole('button', { name: 'Create a queue for acme/widgets' }).click();
    await page.getByRole('button', { name: 'Create the queue' }).click();
    await page.waitForURL(/\/app\/queue/);
    await page.getByRole('link', { name: 'Git hosts' }).click();
    await page.getByText('has a queue').waitFor();
  });
  await check('a Git host is disconnected after a confirmation', async () => {
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('Signalbox deletes the credentials').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
    await page.getByText('No Git host is connected yet').waitFor();
  });
  await close();
}
