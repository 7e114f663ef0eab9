// Signing in and out, and the actions that each role has.

import type { Browser } from 'playwright-core';
import type { Checklist, Story } from './web-checklist.ts';
import { queuePath, signIn, testsPath } from './web-page.ts';
import { checkReadOnly } from './web-settings.ts';
import { empty, quick, widgets, type World } from './web-world.ts';

export async function checkSignIn({ page, world, check }: Story): Promise<void> {
  await check('a user without a session is asked for a token', async () => {
    await page.goto(`${world.url}${queuePath(quick)}`);
    await page.getByRole('heading', { name: 'Sign in to Signalbox' }).waitFor();
  });
  await check(
    'a token in the URL fills in the form, is removed from the URL, and does not sign in on its own',
    async () => {
      // Another page first: a change of the fragment alone loads nothing.
      await page.goto('about:blank');
      await page.goto(`${world.url}${queuePath(quick)}#token=${world.tokens.viewer}`);
      const field = page.getByLabel('API token');
      await field.waitFor();
      return (await field.inputValue()) === world.tokens.viewer && !page.url().includes('token');
    },
  );
  await check('a wrong token is refused with an explanation', async () => {
    await page.getByLabel('API token').fill('not-a-token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .getByRole('alert')
      .getByText(/unknown, revoked or expired/)
      .waitFor();
  });
  await check('after a refusal the token can be corrected, and the requested page opens', async () => {
    await page.getByLabel('API token').fill(world.tokens.admin);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: /acme\/gadgets/ }).waitFor();
  });
  await check('the session cookie cannot be read by scripts and is same-site', async () => {
    const cookie = (await page.context().cookies()).find(({ name }) => name === 'signalbox_session');
    const seen = await page.evaluate('document.cookie');
    return cookie?.httpOnly === true && cookie.sameSite === 'Strict' && seen === '';
  });
  await check('the browser does not store the token', async () => {
    const kept = await page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })');
    return !kept.includes(world.tokens.admin);
  });
  await check('the page shows the user and the role', async () => page.getByText('(admin)').waitFor());
  await check('a policy forbids inline scripts', async () => {
    const response = await page.goto(`${world.url}/app/`);
    const policy = response?.headers()['content-security-policy'] ?? '';
    const scripts =
      /script-src([^;]*)/.exec(policy)?.[1] ?? /default-src([^;]*)/.exec(policy)?.[1] ?? 'no policy';
    return !/unsafe-inline|unsafe-eval|no policy/.test(scripts) || policy;
  });
  await check('home shows every queue with its metrics', async () => {
    await page.getByRole('heading', { name: 'Queues' }).waitFor();
    for (const name of ['acme/widgets', 'acme/gadgets', 'acme/docs'])
      await page.getByRole('link', { name }).first().waitFor();
    await page.getByText('Time in queue (P50)').first().waitFor();
  });
  await check('a queue on the home page links to its page', async () => {
    await page
      .getByRole('link', { name: /acme\/gadgets/ })
      .first()
      .click();
    await page.getByRole('heading', { name: /acme\/gadgets/ }).waitFor();
  });
}

export async function checkSignOut({ page, world, check }: Story): Promise<void> {
  await check('the theme is changed and remembered', async () => {
    await page.getByRole('button', { name: 'Use dark theme' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Use light theme' }).waitFor();
  });
  await check('the first Tab stop skips the navigation', async () => {
    await page.keyboard.press('Tab');
    return (await page.evaluate<string>('document.activeElement.textContent')) === 'Skip to content';
  });
  await check('signing out ends the session', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API token').waitFor();
    const { status } = await page.evaluate<{ status: number }>(
      `fetch('/app/api/session', { headers: { 'x-signalbox-app': '1' } }).then(({ status }) => ({ status }))`,
    );
    return status === 401;
  });
  await check('signing in works with the keyboard alone', async () => {
    await page.goto(`${world.url}/app/`);
    await page.getByLabel('API token').waitFor();
    await page.keyboard.type(world.tokens.admin);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Queues' }).waitFor();
  });
  await check('a queue is opened with the keyboard', async () => {
    const link = page.getByRole('link', { name: `acme/docs ${empty.targetBranch}` }).first();
    await link.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /acme\/docs/ }).waitFor();
    await page.getByText(empty.targetBranch).first().waitFor();
  });
}

/** The dashboard shows only the actions that a token allows. */
export async function checkViewer(browser: Browser, world: World, check: Checklist['check']): Promise<void> {
  const context = await browser.newContext();
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  await check('a viewer signs in', async () => signIn(page, world, 'viewer'));
  await check('a viewer sees the queue and has no actions', async () => {
    await page.goto(`${world.url}${queuePath(widgets)}`);
    await page.locator('.entry').first().waitFor();
    const offered = page.getByRole('button', { name: /Submit|Pause|Drain|Actions/ });
    return (await offered.count()) === 0;
  });
  await check('a viewer cannot quarantine a test', async () => {
    await page.goto(`${world.url}${testsPath('broken')}`);
    await page.getByRole('link', { name: /order/ }).first().click();
    await page.getByText('Most common failures').waitFor();
    return (await page.getByRole('button', { name: 'Save quarantine' }).count()) === 0;
  });
  await check('the server refuses a call that a viewer may not make', async () => {
    const status = await page.evaluate<number>(`fetch('/app/api/call/updateQueue', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-signalbox-app': '1' },
      body: JSON.stringify(${JSON.stringify({ ...widgets, state: 'PAUSED' })}),
    }).then(({ status }) => status)`);
    return status === 403 || status;
  });
  await checkReadOnly({ page, world, check });
  await context.close();
}
