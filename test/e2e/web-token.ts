// API tokens: created, shown once, used, and revoked.

import type { Browser } from 'playwright-core';
import type { Checklist } from './web-checklist.ts';
import { openSignedIn } from './web-page.ts';
import type { World } from './web-world.ts';

const name = 'nightly <b>build</b>';

export async function checkTokens(browser: Browser, world: World, check: Checklist['check']): Promise<void> {
  const { page, close } = await openSignedIn(browser, world, 'admin');
  let value = '';
  const statusOf = async () => {
    const headers = { 'content-type': 'application/json', 'x-api-token': value };
    return (await fetch(`${world.url}/v1/listQueues`, { method: 'POST', headers, body: '{}' })).status;
  };
  await check('the navigation of an admin links to the tokens', async () => {
    await page.getByRole('link', { name: 'Tokens' }).click();
    await page.getByRole('heading', { name: 'API tokens' }).waitFor();
    await page.getByText('your current session uses this token').waitFor();
  });
  await check('a token is created with a name and scopes, and shown once', async () => {
    await page.getByRole('button', { name: 'Create token' }).click();
    await page.getByLabel('Name').fill(name);
    await page.getByRole('checkbox', { name: 'submit', exact: true }).check();
    await page.getByRole('button', { name: 'Create the token' }).click();
    value = await page.getByLabel('Token', { exact: true }).inputValue();
    await page.getByRole('button', { name: 'I have saved it' }).click();
    await page.getByText(name).first().waitFor();
    return !(await page.content()).includes(value) || 'The token is still on the page.';
  });
  await check('the token works', async () => (await statusOf()) === 200);
  await check('a token is revoked after a confirmation, and is refused from then on', async () => {
    await page.getByRole('button', { name: `Revoke ${name}` }).click();
    await page.getByText('This cannot be undone').waitFor();
    await page.getByRole('button', { name: 'Revoke the token' }).click();
    await page.getByText(`The token ${name} is revoked.`).waitFor();
    return (await statusOf()) === 401;
  });
  await check('the jobs of a CI system are trusted without a stored token', async () => {
    await page.getByRole('button', { name: 'Trust a CI system' }).click();
    await page.getByLabel('Name').fill('jobs of gadgets');
    await page.getByLabel('Repositories').fill('git.example/acme/gadgets');
    await page.getByLabel('Branches').fill('main, release/*');
    await page.getByRole('button', { name: 'Trust its jobs' }).click();
    await page
      .getByText('For CI jobs of git.example/acme/gadgets with an identity of https://token.actions')
      .waitFor();
    await page.getByText('on main, release/*').waitFor();
  });
  await check(
    'for GitLab CI the dialog asks for the project, which is another one than the repository',
    async () => {
      await page.getByRole('button', { name: 'Trust a CI system' }).click();
      const field = page.getByLabel('Project at GitLab');
      const before = await field.count();
      await page.getByRole('combobox', { name: 'CI system' }).click();
      await page.getByRole('option', { name: 'GitLab CI' }).click();
      await field.waitFor();
      await page.keyboard.press('Escape');
      return before === 0;
    },
  );
  await check('the dialog that revokes the trust says what that stops', async () => {
    await page.getByRole('button', { name: 'Revoke jobs of gadgets' }).click();
    await page.getByText('CI jobs that it lets in are refused from their next call on.').waitFor();
    await page.getByRole('button', { name: 'Revoke the token' }).click();
    await page.getByText('The token jobs of gadgets is revoked.').waitFor();
  });
  await check('revoked tokens are shown on request, with their own URL', async () => {
    await page.getByLabel('Show revoked and expired tokens').check();
    await page.getByText('Revoked', { exact: true }).first().waitFor();
    await page.reload();
    await page.getByText(name).first().waitFor();
  });
  await close();
  await checkTokensAsViewer(browser, world, check);
}

async function checkTokensAsViewer(browser: Browser, world: World, check: Checklist['check']): Promise<void> {
  const { page, close } = await openSignedIn(browser, world, 'viewer');
  await check('a viewer has no link to the tokens, and their page explains why', async () => {
    const offered = await page.getByRole('link', { name: 'Tokens' }).count();
    await page.goto(`${world.url}/app/tokens`);
    await page.getByText('Tokens are for administrators').waitFor();
    return offered === 0;
  });
  await close();
}
