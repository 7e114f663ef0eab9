// API tokens: made, shown once, used, and revoked.

import type { Browser } from 'playwright-core';
import type { Checklist } from './web-checklist.ts';
import { signIn } from './web-page.ts';
import type { World } from './web-world.ts';

const name = 'nightly <b>build</b>';

export async function tellTokens(browser: Browser, world: World, check: Checklist['check']): Promise<void> {
  const context = await browser.newContext();
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  let value = '';
  const statusOf = async () => {
    const headers = { 'content-type': 'application/json', 'x-api-token': value };
    return (await fetch(`${world.url}/v1/listQueues`, { method: 'POST', headers, body: '{}' })).status;
  };
  await signIn(page, world, 'admin');
  await check('an admin finds the tokens in the navigation', async () => {
    await page.getByRole('link', { name: 'Tokens' }).click();
    await page.getByRole('heading', { name: 'API tokens' }).waitFor();
    await page.getByText('you are signed in with it').waitFor();
  });
  await check('a token is made with a name and scopes, and shown once', async () => {
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByLabel('Name').fill(name);
    await page.getByRole('checkbox', { name: 'submit', exact: true }).check();
    await page.getByRole('button', { name: 'Create the token' }).click();
    value = await page.getByLabel('Token', { exact: true }).inputValue();
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.getByText(name).first().waitFor();
    return !(await page.content()).includes(value) || 'It is still on the page.';
  });
  await check('the token works', async () => (await statusOf()) === 200);
  await check('a token is revoked after a question, and is refused from then on', async () => {
    await page.getByRole('button', { name: `Revoke ${name}` }).click();
    await page.getByText('This cannot be undone').waitFor();
    await page.getByRole('button', { name: 'Revoke the token' }).click();
    await page.getByText(`The token ${name} is revoked.`).waitFor();
    return (await statusOf()) === 401;
  });
  await check('revoked tokens are shown when asked for, by an address of their own', async () => {
    await page.getByLabel('Also revoked and expired ones').check();
    await page.getByText('Revoked', { exact: true }).first().waitFor();
    await page.reload();
    await page.getByText(name).first().waitFor();
  });
  await context.close();
  await tellOthers(browser, world, check);
}

async function tellOthers(browser: Browser, world: World, check: Checklist['check']): Promise<void> {
  const context = await browser.newContext();
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  await signIn(page, world, 'viewer');
  await check('a viewer is not offered the tokens, and told why at their address', async () => {
    const offered = await page.getByRole('link', { name: 'Tokens' }).count();
    await page.goto(`${world.url}/app/tokens`);
    await page.getByText('Tokens are for admins').waitFor();
    return offered === 0;
  });
  await context.close();
}
