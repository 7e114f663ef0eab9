// Webhooks: an endpoint is added, its secret shown once, a test sent, refused, sent again, and the endpoint deleted.

import type { Browser } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { startReceiver, taken } from '../test/webhook/receiver.ts';
import type { Checklist } from './web-checklist.ts';
import { signIn } from './web-page.ts';
import type { World } from './web-world.ts';

const name = 'deploys <b>now</b>';

export async function tellWebhooks(browser: Browser, world: World, check: Checklist['check']): Promise<void> {
  const context = await browser.newContext();
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  const receiver = await startReceiver();
  let secret = '';
  await signIn(page, world, 'admin');
  await check('an admin adds an endpoint, and its secret is shown once', async () => {
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByLabel('Name').fill(name);
    await page.getByLabel('Address').fill(receiver.url);
    await page.getByRole('button', { name: 'Add the endpoint' }).click();
    secret = await page.getByLabel('Secret', { exact: true }).inputValue();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByRole('link', { name }).waitFor();
    return !(await page.content()).includes(secret) || 'It is still on the page.';
  });
  await check('an address inside is refused in words', async () => {
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByLabel('Name').fill('inside');
    await page.getByLabel('Address').fill('https://localhost/');
    await page.getByRole('button', { name: 'Add the endpoint' }).click();
    await page.getByText('localhost is not a public name').waitFor();
    await page.getByRole('button', { name: 'Leave it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  });
  await check('a test that is refused shows why, with the answer as text', async () => {
    receiver.answer = (_, response) => response.writeHead(500).end('<i>out of order</i>');
    await page.getByRole('link', { name }).click();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('1 attempt, the last: answered 500').waitFor();
    await page.getByText('It does not take events').waitFor();
    await page.getByText('What was sent and answered').first().click();
    await page.getByText('<i>out of order</i>').waitFor();
  });
  await check('a test that is taken arrives signed, and can be sent again', async () => {
    receiver.answer = taken;
    receiver.received.length = 0;
    // The choices of the filter above the list have the same words, and are hidden.
    await page
      .getByText('Delivered', { exact: true })
      .filter({ visible: true })
      .first()
      .waitFor({ timeout: 30_000 });
    await page.getByRole('button', { name: 'Send again: webhook.test' }).first().click();
    await page.getByText('It is sent again.').waitFor();
    while (receiver.received.length < 2) await page.waitForTimeout(100);
    for (const { headers, body } of receiver.received)
      new Webhook(secret).verify(body, headers as Record<string, string>);
  });
  await check('an endpoint is disabled, says so, and is deleted after a question', async () => {
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Send events to it').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Nothing is sent to it').waitFor();
    await page.getByRole('button', { name: 'Delete', exact: true }).click();
    await page.getByRole('button', { name: 'Delete the endpoint' }).click();
    await page.getByText('There is no such endpoint').waitFor();
  });
  await context.close();
  await receiver.close();
}
