// Webhooks: an endpoint is added, its secret shown once, a test event refused and resent, and the endpoint deleted.

import type { Browser } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { startReceiver, taken } from '../webhook/receiver.ts';
import type { Checklist } from './web-checklist.ts';
import { openSignedIn } from './web-page.ts';
import type { World } from './web-world.ts';

const name = 'deploys <b>now</b>';

export async function checkWebhooks(
  browser: Browser,
  world: World,
  check: Checklist['check'],
): Promise<void> {
  const { page, close } = await openSignedIn(browser, world, 'admin');
  const receiver = await startReceiver();
  let secret = '';
  await check('an admin adds an endpoint, and its secret is shown once', async () => {
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('URL').fill(receiver.url);
    await page.getByRole('button', { name: 'Add the endpoint' }).click();
    secret = await page.getByLabel('Secret', { exact: true }).inputValue();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByRole('link', { name }).waitFor();
    return !(await page.content()).includes(secret) || 'The secret is still on the page.';
  });
  await check('a private URL is refused with an explanation', async () => {
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByLabel('Name').fill('inside');
    await page.getByLabel('URL').fill('https://localhost/');
    await page.getByRole('button', { name: 'Add the endpoint' }).click();
    await page.getByText('localhost is not a public name').waitFor();
    await page.getByRole('button', { name: 'Go back' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });
  await check('a test event that is refused shows the reason, with the response as text', async () => {
    receiver.answer = (_, response) => response.writeHead(500).end('<i>out of order</i>');
    await page.getByRole('link', { name }).click();
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByText('1 attempt, last: answered 500').waitFor();
    await page.getByText('This endpoint does not accept events').waitFor();
    await page.getByText('Request and response').first().click();
    await page.getByText('<i>out of order</i>').waitFor();
  });
  await check('a test event that is accepted is signed, and can be resent', async () => {
    receiver.answer = taken;
    receiver.received.length = 0;
    // The choices of the filter above the list have the same text, and are hidden.
    await page
      .getByText('Delivered', { exact: true })
      .filter({ visible: true })
      .first()
      .waitFor({ timeout: 30_000 });
    await page.getByRole('button', { name: 'Resend webhook.test' }).first().click();
    await page.getByText('The event is being resent.').waitFor();
    while (receiver.received.length < 2) await page.waitForTimeout(100);
    for (const { headers, body } of receiver.received)
      new Webhook(secret).verify(body, headers as Record<string, string>);
  });
  await check('an endpoint is disabled, shown as disabled, and deleted after a confirmation', async () => {
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Send events to this endpoint').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('This endpoint is disabled').waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Delete the endpoint' }).click();
    await page.getByText('This endpoint does not exist').waitFor();
  });
  await close();
  await receiver.close();
}
