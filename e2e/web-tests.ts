// What people do with tests on the dashboard: find them, see what they did, decide on them, and see what was uploaded.

import type { Page } from 'playwright-core';
import type { Told } from './web-checklist.ts';
import { testPath, testsPath, uploadsPath } from './web-page.ts';
import { flakyTest } from './web-world-tests.ts';
import { told, type World } from './web-world.ts';

const asked = { repo: told.repo, org_url_slug: 'bench' };
const owner = '@acme/checkout';
const classes = ['default', 'queue', 'pull_request'];

export async function tellTestPages(story: Told): Promise<void> {
  await tellFilters(story);
  const id = await findJudgedTest(story.world);
  await tellHistory(story, id);
  await tellMonitors(story, id);
  await tellDecisions(story, id);
  await tellQuarantine(story, id);
  await tellUploads(story);
}

async function tellFilters({ page, world, check }: Told): Promise<void> {
  await check('an owner leads to the list of what is theirs', async () => {
    await page.goto(`${world.url}${testsPath('flaky')}`);
    await page.getByRole('link', { name: owner }).first().click();
    await page
      .getByLabel('Code owner')
      .and(page.locator(`[value="${owner}"]`))
      .waitFor();
    const { page: all } = await world.call('listUnhealthyTests', {
      ...asked,
      status: 'FLAKY',
      codeowner: owner,
      page_query: {},
    });
    await page.getByText(`${all.total_rows} tests, page 1`).waitFor();
    const rows = await page.locator('.row').count();
    const owned = await page.locator('.row').filter({ hasText: owner }).count();
    return (rows > 0 && rows === owned) || `${owned} of ${rows}`;
  });
  await check('the filter is in the address, and clears', async () => {
    await page.reload();
    await page
      .getByLabel('Code owner')
      .and(page.locator(`[value="${owner}"]`))
      .waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.waitForURL((url) => !url.searchParams.has('owner'));
  });
  await check('words narrow the list, and a word that nothing has says so', async () => {
    await page.getByLabel('Name, file or class').fill('refunds CHECKOUT-1');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL((url) => url.searchParams.get('q') === 'refunds CHECKOUT-1');
    await page.getByText(/^\d+ tests?, page 1/).waitFor();
    const names = await page.locator('.row .entry-title').allTextContents();
    if (names.length === 0 || names.some((name) => !name.includes('refunds'))) return names.join();
    await page.getByLabel('Name, file or class').fill('no such words');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('No flaky test matches').waitFor();
    return true;
  });
  await check('a healthy test is found by its name', async () => {
    await page.getByRole('tab', { name: 'Any test' }).click();
    await page.getByLabel('Name, file or class').fill('saves an address');
    await page.getByRole('search', { name: 'Tests' }).getByRole('button', { name: 'Search' }).click();
    await page.locator('.row').filter({ hasText: 'Healthy' }).first().waitFor();
  });
}

/** A flaky one with runs in three classes of branches and a pull request that it hit in the queue. */
async function findJudgedTest({ call }: World): Promise<string> {
  const { tests } = await call('listUnhealthyTests', {
    ...asked,
    status: 'FLAKY',
    search: 'suite-',
    page_query: { page_size: 100 },
  });
  for (const { id } of tests) {
    const { days, monitors } = await call('getTestHistory', { ...asked, test_id: id });
    const seen = new Set(days.map(({ branch_class }: { branch_class: string }) => branch_class));
    const isActive = monitors.some((monitor: { is_active: boolean }) => monitor.is_active);
    if (isActive && classes.every((name) => seen.has(name))) return id;
  }
  throw new Error('No flaky test has runs on the default branch, in the queue and on a pull request.');
}

async function tellHistory({ page, world, check }: Told, id: string): Promise<void> {
  await page.goto(`${world.url}${testPath(id)}`);
  await check('a strip for each class of branches, a cell for each day', async () => {
    for (const name of classes) await page.locator(`.strip-row[data-class="${name}"]`).waitFor();
    const cells = await page.locator('.strip-row[data-class="default"] .strip-day').count();
    return cells === 30 || cells;
  });
  await check('the same days as a table, with the same sums as the API says', async () => {
    await page.getByText('The same as a table').click();
    const { days } = await world.call('getTestHistory', { ...asked, test_id: id });
    const rows = page.locator('#strips ~ * details table tbody tr');
    await rows.first().waitFor();
    const count = await rows.count();
    return count === days.length || `${count} of ${days.length}`;
  });
  await check('ways to fail say which of them is the flake, with a text', async () => {
    await page.getByText('Its flake').first().waitFor();
    await page.getByText('The newest one in full').first().click();
    await page.locator('.failure-text').first().waitFor();
  });
  await check('pull requests that were hit lead to their pages', async () => {
    const { pull_requests: hits } = await world.call('getTestHistory', { ...asked, test_id: id });
    const hit = hits.find(({ target_branches }: { target_branches: string[] }) => target_branches.length > 0);
    if (hit === undefined) return hits.length === 0 ? 'no pull request was hit' : 'none was submitted';
    const link = page.getByRole('link', { name: `#${hit.number}`, exact: true }).first();
    const href = await link.getAttribute('href');
    return href?.includes('/app/pull-request?') === true || href;
  });
  await check('what changed is told with its cause', async () => {
    await page.locator('.timeline').getByText('From healthy to flaky').first().waitFor();
    await page.locator('.timeline').getByRole('link', { name: 'by an upload' }).first().waitFor();
  });
}

async function tellMonitors({ page, world, check }: Told, id: string): Promise<void> {
  const row = page.locator('[data-monitor="pass_on_retry"]');
  const statusOf = async () =>
    (await world.call('getTestDetails', { ...asked, test_id: id })).test.status.value;
  await check('a monitor says what it sees', async () => {
    await row.getByText('Says flaky').waitFor();
    await row.getByText(/passed and failed on the same commit/i).waitFor();
  });
  await check('a monitor is muted for a while, and does not count', async () => {
    await page.getByRole('button', { name: 'Mute all monitors …' }).click();
    await page.getByRole('dialog').getByLabel('Why').fill('Known since Monday');
    await page.getByRole('dialog').getByRole('button', { name: 'Mute', exact: true }).click();
    await page.getByText(/All monitors are muted until .*Known since Monday/).waitFor();
    return (await statusOf()) === 'healthy';
  });
  await check('unmuted, it counts again', async () => {
    await page.getByRole('button', { name: 'Unmute all monitors …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unmute', exact: true }).click();
    await page.getByText(/All monitors are muted until/).waitFor({ state: 'detached' });
    return (await statusOf()) === 'flaky';
  });
  await check('one monitor alone is muted and unmuted', async () => {
    await row.getByRole('button', { name: 'Mute Passes on retry' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Mute', exact: true }).click();
    await row.getByText('Muted', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Unmute Passes on retry' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unmute', exact: true }).click();
    await row.getByText('Muted', { exact: true }).waitFor({ state: 'detached' });
  });
}

async function mark(page: Page, label: string): Promise<void> {
  await page.getByRole('button', { name: 'Mark its health …' }).click();
  await page.getByRole('dialog').getByRole('combobox', { name: 'The test is' }).click();
  await page.getByRole('option', { name: label }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Mark' }).click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
}

async function tellDecisions({ page, check }: Told, id: string): Promise<void> {
  await check('a person marks a test broken', async () => {
    await mark(page, 'broken');
    await page.getByText('Broken: a person marked it so.').first().waitFor();
    await page.getByText('Marked by a person').waitFor();
  });
  await check('and takes it back', async () => {
    await mark(page, 'what its monitors say');
    await page.getByText('Marked by a person').waitFor({ state: 'detached' });
    await page
      .getByText(/^Flaky: passed and failed/)
      .first()
      .waitFor();
  });
  const link = async (text: string) => {
    await page.getByRole('button', { name: /(Link a|Change the) ticket …/ }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Ticket' }).fill(text);
    await page.getByRole('dialog').getByRole('button', { name: 'Link' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  };
  await check('a ticket that is no web address is text, not a link', async () => {
    await link('javascript:window.stolen=1');
    await page.getByText('Ticket javascript:window.stolen=1').waitFor();
    return (await page.getByRole('link', { name: 'Ticket' }).count()) === 0;
  });
  await check('a ticket with an address is a link', async () => {
    await link(`https://tracker.example/T-${id.slice(0, 4)}`);
    const href = await page.getByRole('link', { name: 'Ticket' }).getAttribute('href');
    return href === `https://tracker.example/T-${id.slice(0, 4)}` || href;
  });
}

async function tellQuarantine({ page, world, check }: Told, id: string): Promise<void> {
  await check('the present setting is chosen already', async () => {
    await page.getByRole('radio', { name: 'By its health', checked: true }).waitFor();
  });
  await check('a quarantine with an end, an owner and a reason is set', async () => {
    await page.getByRole('radio', { name: 'Always' }).click();
    await page.getByRole('combobox', { name: 'For how long' }).click();
    await page.getByRole('option', { name: 'for a day' }).click();
    await page.getByLabel('Who looks after it').fill('ana');
    await page.getByLabel('Why').fill('Rewritten this week');
    await page.getByRole('button', { name: 'Set quarantine' }).click();
    await page.getByText(/Always quarantined until .*looked after by ana: Rewritten this week/).waitFor();
  });
  await check('and is chosen when the page is opened again', async () => {
    await page.reload();
    await page.getByRole('radio', { name: 'Always', checked: true }).waitFor();
    const kept = await page.getByRole('combobox', { name: 'For how long' }).inputValue();
    const who = await page.getByLabel('Who looks after it').inputValue();
    return (kept.startsWith('until ') && who === 'ana') || `${kept}, ${who}`;
  });
  await check('quarantined tests say what ends soon and what they saved', async () => {
    await page.goto(`${world.url}${testsPath('quarantined')}`);
    const row = page.locator('.row').filter({ has: page.locator(`a[href*="${id}"]`) });
    await row.getByText('Ends soon').waitFor();
    const saving = page.locator('.row').filter({ hasText: flakyTest });
    await saving.getByText(/Excused [5-9] failures in 30 days, of 3 pull requests/).waitFor();
    await page.getByText('Failures excused in 30 days').waitFor();
  });
  await check('markup in the name of a test and in its failure is text', async () => {
    await page.getByRole('link', { name: flakyTest }).click();
    await page.getByRole('heading', { name: flakyTest }).waitFor();
    await page.locator('.summary').getByText('<script>window.stolen').first().waitFor();
    return page.evaluate('window.stolen === undefined');
  });
}

async function tellUploads({ page, world, check }: Told): Promise<void> {
  await check('uploads are narrowed to those with problems', async () => {
    await page.goto(`${world.url}${uploadsPath}`);
    await page.getByLabel('Only with problems').check();
    await page.waitForURL((url) => url.searchParams.get('problems') === 'true');
    const { page: all } = await world.call('listUploads', { ...asked, with_problems: true, page_query: {} });
    await page.getByText(new RegExp(`^${all.total_rows} uploads?, page 1`)).waitFor();
  });
  await check('one upload says what could not be read, and what to do', async () => {
    await page.getByRole('link', { name: 'names', exact: true }).first().click();
    await page.getByRole('heading', { name: 'What could not be used, or was mended' }).waitFor();
    await page.getByText(/The report is cut off/).waitFor();
    await page.getByText('Incomplete', { exact: true }).waitFor();
  });
  await check('and its failing test with what is known of it, as text', async () => {
    await page.getByRole('link', { name: flakyTest }).waitFor();
    await page.getByText('known to fail without a change').waitFor();
    await page.getByText('Excused', { exact: true }).waitFor();
    return page.evaluate('window.stolen === undefined');
  });
  await check('its pull request opens from there', async () => {
    await page.getByRole('link', { name: /pull request #\d+ in main/ }).click();
    await page.waitForURL(/\/app\/pull-request\?/);
  });
  await check('an upload that is not there is refused in words', async () => {
    await page.goto(
      `${world.url}/app/uploads/01940000-0000-7000-8000-000000000000?repo=git.example/acme/widgets`,
    );
    await page
      .getByRole('alert')
      .getByText(/has no upload/)
      .waitFor();
  });
}
