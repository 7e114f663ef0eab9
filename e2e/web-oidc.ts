// Signing in at an identity provider: a real one, at another site than the dashboard, as browsers see it.

import type { Browser, Page } from 'playwright-core';
import { freePort } from '../script/free-port.ts';
import { startOidcProvider } from '../test/fixture/oidc-provider.ts';
import type { Checklist } from './web-checklist.ts';
import { findViolations, queuePath } from './web-page.ts';
import { quick, type World } from './web-world.ts';

const accounts = {
  'u-1': { preferred_username: 'ana', groups: ['leads'] },
  'u-3': { preferred_username: 'chidi', groups: ['staff'] },
  'u-4': { preferred_username: 'dora', groups: ['guests'] },
};

const label = 'Sign in with Example';

/** At the provider's own pages. */
async function signInAt(page: Page, login: string): Promise<void> {
  await page.getByPlaceholder('Enter any login').fill(login);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

type Told = { readonly browser: Browser; readonly url: string; readonly check: Checklist['check'] };

/** A browser of somebody's own, on the sign-in page of the address. */
async function openSignIn({ browser, url }: Told, path: string): Promise<Page> {
  const context = await browser.newContext();
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  await page.goto(`${url}${path}`);
  await page.getByRole('link', { name: label }).waitFor();
  return page;
}

export async function tellSingleSignOn(
  browser: Browser,
  world: World,
  check: Checklist['check'],
): Promise<void> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const redirectUri = `${url}/app/api/oidc/callback`;
  const provider = await startOidcProvider({ redirectUri, accounts, host: 'localhost' });
  try {
    await world.serveAlso({
      SIGNALBOX_PORT: String(port),
      SIGNALBOX_PUBLIC_URL: url,
      SIGNALBOX_OIDC_ISSUER: provider.issuer,
      SIGNALBOX_OIDC_CLIENT_ID: provider.clientId,
      SIGNALBOX_OIDC_CLIENT_SECRET: provider.clientSecret,
      SIGNALBOX_OIDC_ORGANIZATION: 'bench',
      SIGNALBOX_OIDC_SCOPES: 'openid profile groups',
      SIGNALBOX_OIDC_ADMINS: 'leads',
      SIGNALBOX_OIDC_VIEWERS: 'staff',
      SIGNALBOX_OIDC_LABEL: label,
    });
    const told = { browser, url, check };
    await tellPerson(told);
    await tellAdmin(told);
    await tellRefusals(told);
  } finally {
    await provider.stop();
  }
}

async function tellPerson(told: Told): Promise<void> {
  const { check } = told;
  const page = await openSignIn(told, queuePath(quick));
  await check('a person signs in at the provider and comes back to the page that was asked for', async () => {
    await page.getByRole('link', { name: label }).click();
    await signInAt(page, 'u-3');
    await page.getByRole('heading', { name: /acme\/gadgets/ }).waitFor();
    return page.url() === `${told.url}${queuePath(quick)}` || page.url();
  });
  await check('the person’s name and role are shown, and a viewer is offered nothing', async () => {
    await page.getByText('chidi (viewer)').waitFor();
    return (await page.getByRole('button', { name: /Submit|Pause|Drain/ }).count()) === 0;
  });
  await check('the session stays over a reload, though its cookie is for this site alone', async () => {
    await page.reload();
    await page.getByText('chidi (viewer)').waitFor();
    const cookies = await page.context().cookies(`${told.url}/app/`);
    return cookies.some(({ name, sameSite }) => name === 'signalbox_session' && sameSite === 'Strict');
  });
  await check('the live stream is open to a person', async () =>
    page.getByText('Live', { exact: true }).waitFor(),
  );
  await page.context().close();
}

async function tellAdmin(told: Told): Promise<void> {
  const { check } = told;
  const page = await openSignIn(told, queuePath(quick));
  await check('an admin of the provider’s groups is offered what admins may', async () => {
    await page.getByRole('link', { name: label }).click();
    await signInAt(page, 'u-1');
    await page.getByText('ana (admin)').waitFor();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
  });
  await check('a person who signs out is asked to sign in', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: label }).waitFor();
  });
  await page.context().close();
}

async function tellRefusals(told: Told): Promise<void> {
  const { browser, url, check } = told;
  const page = await openSignIn(told, queuePath(quick));
  await check('who says no at the provider is told what to do', async () => {
    await page.getByRole('link', { name: label }).click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('alert').getByText('Try again').waitFor();
    return !/code|state=/.test(page.url()) || page.url();
  });
  await check('who has no role is told what to do', async () => {
    await page.getByRole('link', { name: label }).click();
    await signInAt(page, 'u-4');
    await page.getByRole('alert').getByText('gives you a role here').waitFor();
  });
  await check('a token is taken all the same, and the page that was asked for opens', async () => {
    await page.getByLabel('API token').fill('bench-token-0123456789');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: /acme\/gadgets/ }).waitFor();
  });
  await page.context().close();
  for (const colorScheme of ['light', 'dark'] as const)
    for (const path of ['/app/', '/app/sign-in?problem=no-role'])
      await check(`axe-core finds nothing serious on ${path} of nobody in ${colorScheme}`, async () => {
        const context = await browser.newContext({ colorScheme });
        const fresh = await context.newPage();
        await fresh.goto(`${url}${path}`);
        await fresh.getByRole('link', { name: label }).waitFor();
        const violations = await findViolations(fresh);
        await context.close();
        return violations.length === 0 || violations.join('\n');
      });
}
