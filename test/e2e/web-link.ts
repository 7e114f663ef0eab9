// The links to the dashboard: the root URL of the server, and the status comment and status check of a pull request.

import type { Page } from 'playwright-core';
import type { Story } from './web-checklist.ts';
import { pullRequestPath } from './web-page.ts';
import { numbers, widgets } from './web-world.ts';

/** The comment ends with a link in angle brackets. */
const detailsLink = /\[details\]\(<([^>]+)>\)/;

async function opensPullRequest(page: Page, link: string | undefined): Promise<boolean | string> {
  if (link === undefined) return 'there is no link';
  await page.goto(link);
  await page.getByRole('heading', { name: new RegExp(`#${numbers.landed}`) }).waitFor();
  return true;
}

export async function checkLinks({ page, world, check }: Story): Promise<void> {
  const pr = { number: numbers.landed };
  const { repo } = widgets;
  await check('the root URL redirects to the dashboard', async () => {
    await page.goto(`${world.url}/`);
    await page.getByRole('heading', { name: 'Queues' }).waitFor();
    return page.url() === `${world.url}/app/` || page.url();
  });
  await check('the status comment links to the page of the pull request', async () => {
    const { comments } = await world.call('sandboxListComments', { repo, pr });
    const [link] = comments.flatMap(({ text }) => detailsLink.exec(text)?.slice(1) ?? []);
    return opensPullRequest(page, link);
  });
  await check('the status check links to the page of the pull request', async () => {
    const { prSha: sha } = await world.call('getSubmittedPullRequest', { ...widgets, pr });
    const { checks = [] } = await world.call('sandboxGetRepository', { repo, sha });
    const link = checks.find(({ name }) => name === `Signalbox (${widgets.targetBranch})`)?.url;
    const expected = new URL(`${world.url}${pullRequestPath(widgets, numbers.landed)}`);
    if (link !== undefined && new URL(link).search !== expected.search) return link;
    return opensPullRequest(page, link);
  });
}
