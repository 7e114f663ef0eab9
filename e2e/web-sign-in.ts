// Coming and going: who is let in, what is kept, and who is offered what.

import type { Browser } from 'playwright-core';
import type { Checklist, Told } from './web-checklist.ts';
import { queuePath, signIn, testsPath } from './web-page.ts';
import { tellReading } from './web-settings.ts';
import { empty, quick, told, type World } from './web-world.ts';

export async function tellSignIn({ page, world, check }: Told): Promise<void> {
  await check('who is not signed in is asked for a token', async () => {
    await page.goto(`${world.url}${queuePath(quick)}`);
    await page.getByRole('heading', { name: 'Sign in to Signalbox' }).waitFor();
  });
  await check(
    'a token in the address fills in the form, leaves the address, and signs nobody in',
    async () => {
      // Another page first: a change of what follows the # alone loads nothing.
      await page.goto('about:blank');
      await page.goto(`${world.url}${queuePath(quick)}#token=${world.tokens.viewer}`);
      const field = page.getByLabel('API token');
      await field.waitFor();
      return (await field.inputValue()) === world.tokens.viewer && !page.url().includes('token');
    },
  );
  await check('a wrong token is refused in words', async () => {
    await page.getByLabel('API token').fill('not-a-token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page
      .getByRole('alert')
      .getByText(/unknown, revoked or expired/)
      .waitFor();
  });
  await check(
    'after a refusal the token can be corrected, and the page that was asked for opens',
    async () => {
      await page.getByLabel('API token').fill(world.tokens.admin);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('heading', { name: /acme\/gadgets/ }).waitFor();
    },
  );
  await check('the session’s cookie cannot be read by scripts and is for this site alone', async () => {
    const cookie = (await page.context().cookies()).find(({ name }) => name === 'signalbox_session');
    const seen = await page.evaluate('document.cookie');
    return cookie?.httpOnly === true && cookie.sameSite === 'Strict' && seen === '';
  });
  await check('the token is kept nowhere in the browser', async () => {
    const kept = await page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })');
    return !kept.includes(world.tokens.admin);
  });
  await check('it says who is signed in, and as what', async () => page.getByText('(admin)').waitFor());
  await check('a policy forbids inline scripts', async () => {
    const response = await page.goto(`${world.url}/app/`);
    const policy = response?.headers()['content-security-policy'] ?? '';
    const scripts =
      /script-src([^;]*)/.exec(policy)?.[1] ?? /default-src([^;]*)/.exec(policy)?.[1] ?? 'none told';
    return !/unsafe-inline|unsafe-eval|none told/.test(scripts) || policy;
  });
  await check('home shows every queue with its figures', async () => {
    await page.getByRole('heading', { name: 'Queues' }).waitFor();
    for (const name of ['acme/widgets', 'acme/gadgets', 'acme/docs'])
      await page.getByRole('link', { name }).first().waitFor();
    await page.getByText('Time in queue, P50').first().waitFor();
  });
  await check('a queue on the home page leads to it', async () => {
    await page
      .getByRole('link', { name: /acme\/gadgets/ })
      .first()
      .click();
    await page.getByRole('heading', { name: /acme\/gadgets/ }).waitFor();
  });
}

export async function tellEnd({ page, world, check }: Told): Promise<void> {
  await check('colours are changed and stay so', async () => {
    await page.getByRole('button', { name: 'Show in dark colours' }).click();
    await page.reload();
    await page.getByRole('button', { name: 'Show in light colours' }).waitFor();
  });
  await check('the first stop of the keyboard leads past the navigation', async () => {
    await page.keyboard.press('Tab');
    return (await page.evaluate<string>('document.activeElement.textContent')) === 'Skip to the content';
  });
  await check('signing out ends the session', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API token').waitFor();
    const { status } = await page.evaluate<{ status: number }>(
      `fetch('/app/api/session', { headers: { 'x-signalbox-app': '1' } }).then(({ status }) => ({ status }))`,
    );
    return status === 401;
  });
  await check('signing in needs no more than a keyboard', async () => {
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

/** What a token may not do is not offered. */
export async function tellViewer(browser: Browser, world: World, check: Checklist['check']): Promise<void> {
  const context = await browser.newContext();
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  await check('a viewer signs in', async () => signIn(page, world, 'viewer'));
  await check('a viewer sees the line and is offered nothing', async () => {
    await page.goto(`${world.url}${queuePath(told)}`);
    await page.locator('.entry').first().waitFor();
    const offered = page.getByRole('button', { name: /Submit|Pause|Drain|Actions/ });
    return (await offered.count()) === 0;
  });
  await check('a viewer is not offered the quarantine of a test', async () => {
    await page.goto(`${world.url}${testsPath('broken')}`);
    await page.getByRole('link', { name: /order/ }).first().click();
    await page.getByText('Most common failures').waitFor();
    return (await page.getByRole('button', { name: 'Set quarantine' }).count()) === 0;
  });
  await check('a viewer who calls what is not offered is refused by the server', async () => {
    const status = await page.evaluate<number>(`fetch('/app/api/call/updateQueue', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-signalbox-app': '1' },
      body: JSON.stringify(${JSON.stringify({ ...told, state: 'PAUSED' })}),
    }).then(({ status }) => status)`);
    return status === 403 || status;
  });
  await tellReading({ page, world, check });
  await context.close();
}
