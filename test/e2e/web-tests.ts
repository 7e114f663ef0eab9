// What people do with tests on the dashboard: find them, read their history, quarantine them, and read uploads.

import type { Page } from 'playwright-core';
import type { Story } from './web-checklist.ts';
import { testPath, testsPath, uploadsPath } from './web-page.ts';
import { flakyTest } from './web-world-tests.ts';
import { widgets, type World } from './web-world.ts';

const request = { repo: widgets.repo, org_url_slug: 'bench' };
const owner = '@acme/checkout';
const classes = ['default', 'queue', 'pull_request'];

export async function checkTestPages(story: Story): Promise<void> {
  await checkFilters(story);
  const id = await findClassifiedTest(story.world);
  await checkHistory(story, id);
  await checkMonitors(story, id);
  await checkDecisions(story, id);
  await checkQuarantine(story, id);
  await checkUploads(story);
}

async function checkFilters({ page, world, check }: Story): Promise<void> {
  await check('a code owner links to the list of their tests', async () => {
    await page.goto(`${world.url}${testsPath('flaky')}`);
    await page.getByRole('link', { name: owner }).first().click();
    await page
      .getByLabel('Code owner')
      .and(page.locator(`[value="${owner}"]`))
      .waitFor();
    const { page: all } = await world.call('listUnhealthyTests', {
      ...request,
      status: 'FLAKY',
      codeowner: owner,
      page_query: {},
    });
    await page.getByText(`${all.total_rows} tests, page 1`).waitFor();
    const rows = await page.locator('.row').count();
    const owned = await page.locator('.row').filter({ hasText: owner }).count();
    return (rows > 0 && rows === owned) || `${owned} of ${rows}`;
  });
  await check('the filter is part of the URL and can be cleared', async () => {
    await page.reload();
    await page
      .getByLabel('Code owner')
      .and(page.locator(`[value="${owner}"]`))
      .waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.waitForURL((url) => !url.searchParams.has('owner'));
  });
  await check('terms filter the list, and a term without a match is explained', async () => {
    await page.getByLabel('Name, file or class').fill('refunds CHECKOUT-1');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.waitForURL((url) => url.searchParams.get('q') === 'refunds CHECKOUT-1');
    const names = page.locator('.row .entry-title');
    // The list before stays on the page until the filtered one is there.
    await names.filter({ hasNotText: 'refunds' }).first().waitFor({ state: 'detached' });
    await names.first().waitFor();
    await page.getByLabel('Name, file or class').fill('no such terms');
    await page.getByRole('button', { name: 'Filter' }).click();
    await page.getByText('No flaky test matches').waitFor();
    return true;
  });
  await check('a healthy test is found by its name', async () => {
    await page.getByRole('tab', { name: 'All tests' }).click();
    await page.getByLabel('Name, file or class').fill('saves an address');
    await page.getByRole('search', { name: 'Tests' }).getByRole('button', { name: 'Search' }).click();
    await page.locator('.row').filter({ hasText: 'Healthy' }).first().waitFor();
  });
}

/** A flaky test with runs in three classes of branches that affected a submitted pull request. */
async function findClassifiedTest({ call }: World): Promise<string> {
  const { tests } = await call('listUnhealthyTests', {
    ...request,
    status: 'FLAKY',
    search: 'suite-',
    page_query: { page_size: 100 },
  });
  for (const { id } of tests) {
    const {
      days,
      monitors,
      pull_requests: affected,
    } = await call('getTestHistory', { ...request, test_id: id });
    const seen = new Set(days.map(({ branch_class }: { branch_class: string }) => branch_class));
    const isActive = monitors.some((monitor: { is_active: boolean }) => monitor.is_active);
    const isLinked = affected.some(({ target_branches: branches }) => branches.length > 0);
    if (isActive && isLinked && classes.every((name) => seen.has(name))) return id;
  }
  throw new Error('No flaky test has runs on the default branch, in the queue and on a pull request.');
}

async function checkHistory({ page, world, check }: Story, id: string): Promise<void> {
  await page.goto(`${world.url}${testPath(id)}`);
  await check('there is a strip for each class of branches, with a cell for each day', async () => {
    for (const name of classes) await page.locator(`.strip-row[data-class="${name}"]`).waitFor();
    const cells = await page.locator('.strip-row[data-class="default"] .strip-day').count();
    return cells === 30 || cells;
  });
  await check('the table has the same days as the API', async () => {
    await page.getByText('Show as a table').click();
    const { days } = await world.call('getTestHistory', { ...request, test_id: id });
    const rows = page.locator('#strips ~ * details table tbody tr');
    await rows.first().waitFor();
    const count = await rows.count();
    return count === days.length || `${count} of ${days.length}`;
  });
  await check('the failures show which one is the known flake, with its text', async () => {
    await page.getByText('Known flake').first().waitFor();
    await page.getByText('Full text of the latest failure').first().click();
    await page.locator('.failure-text').first().waitFor();
  });
  await check('affected pull requests link to their pages', async () => {
    const { pull_requests: affected } = await world.call('getTestHistory', { ...request, test_id: id });
    const submitted = affected.find(
      ({ target_branches }: { target_branches: string[] }) => target_branches.length > 0,
    );
    if (submitted === undefined)
      return affected.length === 0 ? 'no pull request was affected' : 'none was submitted';
    const link = page.getByRole('link', { name: `#${submitted.number}`, exact: true }).first();
    const href = await link.getAttribute('href');
    return href?.includes('/app/pull-request?') === true || href;
  });
  await check('status changes are listed with their cause', async () => {
    await page.locator('.timeline').getByText('From healthy to flaky').first().waitFor();
    await page.locator('.timeline').getByRole('link', { name: 'by an upload' }).first().waitFor();
  });
}

async function checkMonitors({ page, world, check }: Story, id: string): Promise<void> {
  const row = page.locator('[data-monitor="pass_on_retry"]');
  const statusOf = async () =>
    (await world.call('getTestDetails', { ...request, test_id: id })).test.status.value;
  await check('a monitor shows its evidence', async () => {
    await row.getByText('Flaky', { exact: true }).waitFor();
    await row.getByText(/passed and failed on the same commit/i).waitFor();
  });
  await check('muted monitors do not affect the status of the test', async () => {
    await page.getByRole('button', { name: 'Mute all monitors …' }).click();
    await page.getByRole('dialog').getByLabel('Reason').fill('Known since Monday');
    await page.getByRole('dialog').getByRole('button', { name: 'Mute', exact: true }).click();
    await page.getByText(/All monitors are muted until .*Known since Monday/).waitFor();
    return (await statusOf()) === 'healthy';
  });
  await check('unmuted monitors affect the status again', async () => {
    await page.getByRole('button', { name: 'Unmute all monitors …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unmute', exact: true }).click();
    await page.getByText(/All monitors are muted until/).waitFor({ state: 'detached' });
    return (await statusOf()) === 'flaky';
  });
  await check('a single monitor is muted and unmuted', async () => {
    await row.getByRole('button', { name: 'Mute Pass on retry' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Mute', exact: true }).click();
    await row.getByText('Muted', { exact: true }).waitFor();
    await row.getByRole('button', { name: 'Unmute Pass on retry' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Unmute', exact: true }).click();
    await row.getByText('Muted', { exact: true }).waitFor({ state: 'detached' });
  });
}

async function setStatus(page: Page, label: string): Promise<void> {
  await page.getByRole('button', { name: 'Set status …' }).click();
  await page.getByRole('dialog').getByRole('combobox', { name: 'Status' }).click();
  await page.getByRole('option', { name: label }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Set status' }).click();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
}

async function checkDecisions({ page, check }: Story, id: string): Promise<void> {
  await check('an admin sets the status of a test to broken', async () => {
    await setStatus(page, 'broken');
    await page.getByText('Broken: marked manually.').first().waitFor();
    await page.getByText('Set manually').waitFor();
  });
  await check('and sets it to automatic again', async () => {
    await setStatus(page, 'automatic');
    await page.getByText('Set manually').waitFor({ state: 'detached' });
    await page
      .getByText(/^Flaky: passed and failed/)
      .first()
      .waitFor();
  });
  const link = async (text: string) => {
    await page.getByRole('button', { name: /(Link|Change) ticket …/ }).click();
    await page.getByRole('dialog').getByRole('textbox', { name: 'Ticket' }).fill(text);
    await page.getByRole('dialog').getByRole('button', { name: 'Link' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
  };
  await check('a ticket that is not an http or https URL is text, not a link', async () => {
    await link('javascript:window.stolen=1');
    await page.getByText('Ticket javascript:window.stolen=1').waitFor();
    return (await page.getByRole('link', { name: 'Ticket' }).count()) === 0;
  });
  await check('a ticket with an https URL is a link', async () => {
    await link(`https://tracker.example/T-${id.slice(0, 4)}`);
    const href = await page.getByRole('link', { name: 'Ticket' }).getAttribute('href');
    return href === `https://tracker.example/T-${id.slice(0, 4)}` || href;
  });
}

async function checkQuarantine({ page, world, check }: Story, id: string): Promise<void> {
  await check('the current quarantine setting is selected', async () => {
    await page.getByRole('radio', { name: 'Automatically', checked: true }).waitFor();
  });
  await check('a quarantine is saved with an end, an owner and a reason', async () => {
    await page.getByRole('radio', { name: 'Always' }).click();
    await page.getByRole('combobox', { name: 'Duration' }).click();
    await page.getByRole('option', { name: 'for a day' }).click();
    await page.getByLabel('Owner').fill('ana');
    await page.getByLabel('Reason').fill('Rewritten this week');
    await page.getByRole('button', { name: 'Save quarantine' }).click();
    await page.getByText(/Always quarantined until .*, owner ana: Rewritten this week/).waitFor();
  });
  await check('and is selected when the page is opened again', async () => {
    await page.reload();
    await page.getByRole('radio', { name: 'Always', checked: true }).waitFor();
    const duration = await page.getByRole('combobox', { name: 'Duration' }).inputValue();
    const savedOwner = await page.getByLabel('Owner').inputValue();
    return (duration.startsWith('until ') && savedOwner === 'ana') || `${duration}, ${savedOwner}`;
  });
  await check(
    'the list of quarantined tests shows which end soon and how many failures were excused',
    async () => {
      await page.goto(`${world.url}${testsPath('quarantined')}`);
      const row = page.locator('.row').filter({ has: page.locator(`a[href*="${id}"]`) });
      await row.getByText('Ends soon').waitFor();
      const saving = page.locator('.row').filter({ hasText: flakyTest });
      await saving.getByText(/[5-9] failures excused in the last 30 days, in 3 pull requests/).waitFor();
      await page.getByText('Failures excused, last 30 days').waitFor();
    },
  );
  await check('markup in the name of a test and in its failure is text', async () => {
    await page.getByRole('link', { name: flakyTest }).click();
    await page.getByRole('heading', { name: flakyTest }).waitFor();
    await page.locator('.summary').getByText('<script>window.stolen').first().waitFor();
    return page.evaluate('window.stolen === undefined');
  });
}

async function checkUploads({ page, world, check }: Story): Promise<void> {
  await check('uploads are filtered by problems', async () => {
    await page.goto(`${world.url}${uploadsPath}`);
    await page.getByLabel('Only with problems').check();
    await page.waitForURL((url) => url.searchParams.get('problems') === 'true');
    const { page: all } = await world.call('listUploads', {
      ...request,
      with_problems: true,
      page_query: {},
    });
    await page.getByText(new RegExp(`^${all.total_rows} uploads?, page 1`)).waitFor();
  });
  await check('the page of an upload lists its problems and what to do', async () => {
    await page.getByRole('link', { name: 'names', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Problems in this upload' }).waitFor();
    await page.getByText(/The report is (?:cut off|truncated)/).waitFor();
    await page.getByText('Incomplete', { exact: true }).waitFor();
  });
  await check('and its failing test with a verdict, as text', async () => {
    await page.getByRole('link', { name: flakyTest }).waitFor();
    await page.getByText('known to fail at random').waitFor();
    await page.getByText('Excused', { exact: true }).waitFor();
    return page.evaluate('window.stolen === undefined');
  });
  await check('the upload links to its pull request', async () => {
    await page.getByRole('link', { name: /pull request #\d+ in main/ }).click();
    await page.waitForURL(/\/app\/pull-request\?/);
  });
  await check('a missing upload is an error with an explanation', async () => {
    await page.goto(
      `${world.url}/app/uploads/01940000-0000-7000-8000-000000000000?repo=git.example/acme/widgets`,
    );
    await page
      .getByRole('alert')
      .getByText(/has no upload/)
      .waitFor();
  });
}
