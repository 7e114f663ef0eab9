// Single sign-on with a real identity provider, which is another site for the browser.

import type { Browser, Page } from 'playwright-core';
import { freePort } from '../../script/free-port.ts';
import { startOidcProvider } from '../fixture/oidc-provider.ts';
import type { Checklist } from './web-checklist.ts';
import { findViolations, queuePath } from './web-page.ts';
import { numbers, quick, type World } from './web-world.ts';

const accounts = {
  'u-1': { preferred_username: 'ana', groups: ['leads'] },
  'u-3': { preferred_username: 'chidi', groups: ['staff'] },
  'u-4': { preferred_username: 'dora', groups: ['guests'] },
};

const label = 'Sign in with Example';

/** On the pages of the provider. */
async function signInAt(page: Page, login: string): Promise<void> {
  await page.getByPlaceholder('Enter any login').fill(login);
  await page.getByPlaceholder('and password').fill('any');
  await page.getByRole('button', { name: 'Sign-in' }).click();
  await page.getByRole('button', { name: 'Continue' }).click();
}

type SignOnStory = { readonly browser: Browser; readonly url: string; readonly check: Checklist['check'] };

/** A new browser context on the sign-in page of the path. */
async function openSignIn({ browser, url }: SignOnStory, path: string): Promise<Page> {
  const context = await browser.newContext();
  context.setDefaultTimeout(15_000);
  const page = await context.newPage();
  await page.goto(`${url}${path}`);
  await page.getByRole('link', { name: label }).waitFor();
  return page;
}

export async function checkSingleSignOn(
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
    const story = { browser, url, check };
    await checkViewer(story);
    await checkAdmin(story);
    await checkRefusals(story);
  } finally {
    await provider.stop();
  }
}

async function checkViewer(story: SignOnStory): Promise<void> {
  const { check } = story;
  const page = await openSignIn(story, queuePath(quick));
  await check('a user signs in at the provider and is redirected to the requested page', async () => {
    await page.getByRole('link', { name: label }).click();
    await signInAt(page, 'u-3');
    await page.getByRole('heading', { name: /acme\/gadgets/ }).waitFor();
    return page.url() === `${story.url}${queuePath(quick)}` || page.url();
  });
  await check('the name and role of the user are shown, and a viewer has no actions', async () => {
    await page.getByText('chidi (viewer)').waitFor();
    return (await page.getByRole('button', { name: /Submit|Pause|Drain/ }).count()) === 0;
  });
  await check('the session survives a reload, with a same-site cookie', async () => {
    await page.reload();
    await page.getByText('chidi (viewer)').waitFor();
    const cookies = await page.context().cookies(`${story.url}/app/`);
    return cookies.some(({ name, sameSite }) => name === 'signalbox_session' && sameSite === 'Strict');
  });
  await check('the live stream works for a user of the provider', async () =>
    page.getByText('Live', { exact: true }).waitFor(),
  );
  await page.context().close();
}

async function checkAdmin(story: SignOnStory): Promise<void> {
  const { check } = story;
  const page = await openSignIn(story, queuePath(quick));
  await check('a user in the admin group has the actions of an admin', async () => {
    await page.getByRole('link', { name: label }).click();
    await signInAt(page, 'u-1');
    await page.getByText('ana (admin)').waitFor();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
  });
  await check('what needs the user comes first: pull requests of that author', async () => {
    await page.goto(`${story.url}/app/`);
    const toFix = page.getByRole('region', { name: 'Needs you' });
    await toFix.getByText(`#${numbers.notReady} · ana`).waitFor();
    const rows = await toFix.getByRole('listitem').allInnerTexts();
    return rows.every((row) => row.includes('· ana')) || rows.join('; ');
  });
  await check('the same of all authors has its own URL', async () => {
    await page.getByRole('link', { name: 'Of all authors' }).click();
    await page.getByRole('region', { name: 'Needs attention' }).getByText('· ben').first().waitFor();
    await page.reload();
    await page.getByRole('region', { name: 'Needs attention' }).getByText('· ben').first().waitFor();
    await page.getByRole('link', { name: 'Only mine' }).click();
    await page.getByRole('region', { name: 'Needs you' }).waitFor();
  });
  await check('a user who signs out is asked to sign in', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('link', { name: label }).waitFor();
  });
  await page.context().close();
}

async function checkRefusals(story: SignOnStory): Promise<void> {
  const { browser, url, check } = story;
  const page = await openSignIn(story, queuePath(quick));
  await check('a user who cancels at the provider sees what to do', async () => {
    await page.getByRole('link', { name: label }).click();
    await page.getByRole('link', { name: 'Cancel' }).click();
    await page.getByRole('alert').getByText('Try again').waitFor();
    return !/code|state=/.test(page.url()) || page.url();
  });
  await check('a user without a role sees what to do', async () => {
    await page.getByRole('link', { name: label }).click();
    await signInAt(page, 'u-4');
    await page.getByRole('alert').getByText('your account has no Signalbox role').waitFor();
  });
  await check('a token also works, and the requested page opens', async () => {
    await page.getByLabel('API token').fill('bench-token-0123456789');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: /acme\/gadgets/ }).waitFor();
  });
  await page.context().close();
  for (const colorScheme of ['light', 'dark'] as const)
    for (const path of ['/app/', '/app/sign-in?problem=no-role'])
      await check(
        `axe-core finds nothing serious on ${path} without a session in ${colorScheme}`,
        async () => {
          const context = await browser.newContext({ colorScheme });
          const fresh = await context.newPage();
          await fresh.goto(`${url}${path}`);
          await fresh.getByRole('link', { name: label }).waitFor();
          const violations = await findViolations(fresh);
          await context.close();
          return violations.length === 0 || violations.join('\n');
        },
      );
}
