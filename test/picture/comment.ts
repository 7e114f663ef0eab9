// The status comment as people see it: on the page of a pull request of a real Gitea, while the pull request is under test
// and after its tests failed.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Page } from 'playwright-core';
import { type Call, until } from '../bench/deployment.ts';
import { type Cleanup, token } from '../bench/fixture.ts';
import { connectTo, organization } from '../e2e/deployment.ts';
import { showPage } from '../e2e/screenshot.ts';
import { startGitea } from '../gitea/server.ts';
import { openGiteaPlace } from '../host-contract/gitea-world.ts';
import type { Picture } from './picture.ts';

const check = 'ci/test';
const titles = ['Cache the catalog', 'Show prices with tax', 'Speed up the search'];
/** Of the pull request whose comment is shown. */
const shown = 2;

const failedReport = `<?xml version="1.0"?><testsuites><testsuite name="shop">
  <testcase classname="prices" name="prices are rounded to cents" file="test/prices.test.ts" time="0.1"/>
  <testcase classname="prices" name="prices show the tax of the country" file="test/prices.test.ts" time="0.2">
    <failure message="expected 11.90, received 10">at test/prices.test.ts:12</failure></testcase>
</testsuite></testsuites>`;

export async function photographComments(cleanup: Cleanup, browser: Browser): Promise<readonly Picture[]> {
  const gitea = await startGitea();
  cleanup.add(gitea.stop);
  const ada = await gitea.newUser('ada');
  const bot = await gitea.newUser('signalbox');
  const connect = async (folder: string) => {
    const file = join(folder, 'token');
    await writeFile(file, bot.token, { mode: 0o600 });
    return ['--kind', 'gitea', '--url', gitea.url, '--token-file', file];
  };
  const { call, webhook } = await connectTo(cleanup, { connect }, { sweepSeconds: 1 });
  const people = new Map([ada, bot].map((user) => [user.name, user]));
  const scene = { gitea, people, author: ada, bot, onProtected: () => undefined };
  const { gitea: repository, ...place } = await openGiteaPlace(scene, 'shop');
  const queue = { repo: { host: new URL(gitea.url).host, owner: 'ada', name: 'shop' }, targetBranch: 'main' };
  await until('the queue', () =>
    call('createQueue', { ...queue, requiredStatuses: [check], concurrency: 3 }).catch(() => null),
  );
  const numbers: number[] = [];
  for (const [index, title] of titles.entries()) {
    const branch = `change-${index + 1}`;
    await gitea.call(ada.token, 'POST', `${repository.path}/contents/part-${index + 1}.txt`, {
      branch: 'main',
      new_branch: branch,
      message: title,
      content: Buffer.from(`${title}\n`).toString('base64'),
    });
    numbers.push(await place.openPullRequest({ branch, title }));
  }
  const commits: string[] = [];
  for (const number of numbers) {
    await place.comment('ada', number, '/signalbox merge');
    const commit = await testCommit(call, queue, number);
    // The run has its commit before the commit is pushed.
    await until('the test commit at the Git host', () =>
      place.report(commit, { name: check, state: 'pending' }).then(
        () => true,
        () => null,
      ),
    );
    commits.push(commit);
  }
  const statusComment = async () =>
    (await place.listComments(shown)).find(({ author }) => author === bot.name)?.text ?? '';
  const page = await browser.newPage({ viewport: { width: 1200, height: 900 } });
  const photograph = async () => {
    await showPage(page, `${gitea.url}/ada/shop/pulls/${shown}`);
    return photographComment(page);
  };
  await until('a status comment', async () => (await statusComment()) || null);
  // A change that follows at once is written some seconds later.
  await sleep(10_000);
  const underTest = await photograph();

  await uploadReport(webhook.url, queue, commits[shown - 1]!, shown);
  await place.report(commits[0]!, { name: check, state: 'success' });
  await place.report(commits[shown - 1]!, { name: check, state: 'failure' });
  await until('the status comment of a failed pull request', async () => {
    const text = await statusComment();
    return text.includes('prices show the tax') && text.includes('/signalbox merge') ? true : null;
  });
  const failed = await photograph();
  await page.close();
  return [
    { name: 'comment-under-test.png', content: underTest },
    { name: 'comment-failed.png', content: failed },
  ];
}

type QueueName = {
  readonly repo: { readonly host: string; readonly owner: string; readonly name: string };
  readonly targetBranch: string;
};

/** The commit that CI tests for a pull request, once it is pushed. */
const testCommit = (call: Call, queue: QueueName, number: number): Promise<string> =>
  until(`a test run of #${number}`, async () => {
    const run = await call('getMergeQueueTestingDetails', { ...queue, pr: { number } }).catch(() => null);
    return run !== null && 'testBranchSha' in run ? run.testBranchSha : null;
  });

async function uploadReport(
  webhookUrl: string,
  { repo, targetBranch }: QueueName,
  sha: string,
  number: number,
): Promise<void> {
  const query = new URLSearchParams({
    repo: `${repo.host}/${repo.owner}/${repo.name}`,
    org_url_slug: organization,
    sha,
    branch: `signalbox/${targetBranch}/pr-${number}`,
    pr: String(number),
    job: 'test',
  });
  const url = `${new URL(webhookUrl).origin}/v1/flaky-tests/upload?${query.toString()}`;
  const headers = { 'x-api-token': token, 'content-type': 'application/xml' };
  const { ok, status } = await fetch(url, { method: 'POST', headers, body: failedReport });
  if (!ok) throw new Error(`The upload was answered with ${status}.`);
}

/** The command and the status comment, with the pictures of who wrote them. */
async function photographComment(page: Page): Promise<Buffer> {
  const comments = await page.locator('.timeline-item.comment').filter({ hasText: '/signalbox' }).all();
  const boxes = await Promise.all(comments.map((comment) => comment.boundingBox()));
  const seen = boxes.filter((box) => box !== null);
  const margin = { side: 8, avatar: 72 };
  const [x, y] = [Math.min(...seen.map((box) => box.x)), Math.min(...seen.map((box) => box.y))];
  const right = Math.max(...seen.map((box) => box.x + box.width));
  const bottom = Math.max(...seen.map((box) => box.y + box.height));
  const clip = {
    x: x - margin.avatar,
    y: y - margin.side,
    width: right - x + margin.avatar + margin.side,
    height: bottom - y + 2 * margin.side,
  };
  return page.screenshot({ clip, fullPage: true });
}
