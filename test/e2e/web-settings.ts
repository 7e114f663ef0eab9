// Settings, the audit log, creating and deleting queues, and the search palette.

import type { Story } from './web-checklist.ts';
import { auditPath, queuePath, settingsPath, testSettingsPath, trySources } from './web-page.ts';
import { flakyTest } from './web-world-tests.ts';
import { empty, failingTest, numbers, widgets } from './web-world.ts';

export async function checkSettings(story: Story): Promise<void> {
  await checkChanges(story);
  await checkAudit(story);
  await checkQueueCreation(story);
  await checkSearch(story);
  await checkTestSettings(story);
  await checkTrial(story);
}

async function checkChanges({ page, world, check }: Story): Promise<void> {
  const setting = (path: string) => page.locator(`[data-setting="${path}"]`);
  const summary = page.getByRole('region', { name: 'Unsaved changes' });
  await page.goto(`${world.url}${queuePath(empty)}`);
  await check('the settings open from the queue, each with the effect of its value', async () => {
    await page.getByRole('link', { name: 'Settings' }).click();
    await setting('concurrency').getByText('Up to 5 concurrent runs.').waitFor();
    await setting('mode')
      .getByText(/share no impacted target/)
      .waitFor();
  });
  await check('a default value is marked, and so is a value that differs from it', async () => {
    await setting('concurrency').getByText('Default', { exact: true }).waitFor();
    await setting('mode').getByText('Default: single').waitFor();
  });
  await check('an invalid value is reported at its field and cannot be saved', async () => {
    await page.getByLabel('Concurrent test runs').fill('2000');
    await setting('concurrency').getByText(/1000/).waitFor();
    await summary.getByText('1 setting is not valid.').waitFor();
    return summary.getByRole('button', { name: /^Save/ }).isDisabled();
  });
  await check('a summary lists the changes before they are saved', async () => {
    await page.getByLabel('Concurrent test runs').fill('6');
    await summary.getByText('5 → 6').waitFor();
    await page.getByRole('radio', { name: 'A custom list' }).click();
    await page.getByLabel('Required checks: custom list').fill('');
    await summary.getByText(/With no required checks/).waitFor();
    await page.getByLabel('Required checks: custom list').fill('ci/test');
  });
  await check('leaving without saving asks first', async () => {
    await page.getByRole('link', { name: 'Uploads' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stay' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    return (await page.getByLabel('Concurrent test runs').inputValue()) === '6';
  });
  await check('saving changes only the changed settings', async () => {
    await summary.getByRole('button', { name: 'Save 1 change' }).click();
    await page.getByRole('status').getByText('The settings are saved.').waitFor();
    await summary.waitFor({ state: 'detached' });
    const { concurrency, mode } = await world.call('getQueue', empty);
    return concurrency === 6 && mode === 'parallel';
  });
}

async function checkAudit({ page, world, check }: Story): Promise<void> {
  await check('the audit log shows the actor, the old and the new value', async () => {
    await page.getByRole('link', { name: 'Audit log' }).click();
    const entry = page.locator('[data-action="queue.update"]').first();
    await entry.getByText(/acme\/docs release\/2\.x/).waitFor();
    await entry.getByText('concurrency').waitFor();
    const [before, after] = [
      await entry.locator('del').textContent(),
      await entry.locator('ins').textContent(),
    ];
    await entry.getByText('app:bootstrap').waitFor();
    return (before === '5' && after === '6') || `${before} → ${after}`;
  });
  await check('a queue that stopped automatically is in the audit log', async () => {
    await page.goto(`${world.url}${auditPath}?action=queue.stop`);
    await page
      .getByText(/Queue stopped automatically/)
      .first()
      .waitFor();
  });
  await check('the audit log is filtered, and the filter is part of the URL', async () => {
    await page.getByLabel('Subject').fill('acme/gadgets');
    await page.getByLabel('Type').selectOption('queues');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page
      .getByText(/Queue created: acme\/gadgets/)
      .first()
      .waitFor();
    return new URL(page.url()).searchParams.get('subject') === 'acme/gadgets';
  });
}

async function checkQueueCreation({ page, world, check }: Story): Promise<void> {
  const dialog = page.getByRole('dialog');
  const remove = async (branch: string) => {
    await page.getByRole('button', { name: 'Delete this queue' }).click();
    await dialog.getByLabel(/Type the name of the branch/).fill(branch);
    await dialog.getByRole('button', { name: 'Delete the queue' }).click();
  };
  await check(
    'a queue is created, with the checks that the Git host proposes, and its page is shown next',
    async () => {
      await page.goto(`${world.url}/app/`);
      await page.getByRole('button', { name: 'Create a queue' }).click();
      await dialog.getByLabel('Repository').fill('git.example/acme/made-here');
      await dialog.getByLabel('Branch').fill('main');
      await dialog.getByRole('button', { name: 'Create the queue' }).click();
      await page.waitForURL(/\/app\/queue\?/);
      await page.getByText('The queue is empty').waitFor();
      await page.getByRole('link', { name: 'Settings' }).click();
      await page.getByRole('heading', { name: /Settings of acme\/made-here/ }).waitFor();
    },
  );
  await check('a queue is deleted after its branch is typed', async () => {
    await page.getByRole('button', { name: 'Delete this queue' }).click();
    const isOffered = await dialog.getByRole('button', { name: 'Delete the queue' }).isEnabled();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await remove('main');
    await page.getByRole('heading', { name: 'Queues' }).waitFor();
    const { queues } = await world.call('listQueues', { query: 'made-here' });
    return !isOffered && queues.length === 0;
  });
  await check('the repository is checked at the Git host on a click, what is wrong first', async () => {
    await page.goto(`${world.url}${settingsPath(widgets)}`);
    await page.getByRole('link', { name: 'Open the doctor' }).click();
    await page.getByRole('button', { name: /Check (now|again)/ }).click();
    const section = page.getByRole('region', { name: 'Check the repository' });
    await section.getByText('Signalbox may administer the repository.').waitFor();
    const tones = await section.locator('li').evaluateAll((rows) => rows.map((row) => row.dataset['tone']));
    const order = ['bad', 'warn', 'good'];
    return tones.every(
      (tone, at) => at === 0 || order.indexOf(tones[at - 1] ?? '') <= order.indexOf(tone ?? ''),
    );
  });
  await check('a queue that is not empty cannot be deleted, and the dialog explains why', async () => {
    await page.goto(`${world.url}${settingsPath(widgets)}`);
    await remove('main');
    await dialog.getByText(/still has \d+ pull requests/).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  });
  await check('queues are filtered by text', async () => {
    await page.goto(`${world.url}/app/`);
    await page.getByLabel('Repository or branch').fill('widg');
    await page
      .getByRole('link', { name: /acme\/gadgets/ })
      .first()
      .waitFor({ state: 'detached' });
    await page
      .getByRole('link', { name: /acme\/widgets/ })
      .first()
      .waitFor();
    return new URL(page.url()).searchParams.get('q') === 'widg';
  });
}

async function checkSearch({ page, world, check }: Story): Promise<void> {
  const search = page.getByRole('dialog').getByLabel('Search');
  const find = async (key: string, text: string) => {
    // A dialog that was open before fades out first.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press(key);
    await search.waitFor();
    await page.locator('[aria-label="Search"]:focus').waitFor();
    await page.keyboard.type(text);
  };
  await page.goto(`${world.url}/app/`);
  await page.getByRole('heading', { name: 'Queues' }).waitFor();
  await check('the slash opens the search, and a number opens its pull request', async () => {
    await find('/', String(numbers.landed));
    await page.getByText(`#${numbers.landed} `).first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: new RegExp(`#${numbers.landed}`) }).waitFor();
  });
  await check('the search opens a test', async () => {
    await find('/', 'renders script');
    await page.getByRole('dialog').getByText(failingTest).first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: failingTest }).waitFor();
  });
  await check('the palette opens a page', async () => {
    await find('Control+k', 'audit');
    await page.getByRole('dialog').getByText('Audit log').first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
  });
  await check('the palette drains the current queue, and asks first', async () => {
    await page.goto(`${world.url}${queuePath(empty)}`);
    await page.getByRole('heading', { name: /acme\/docs/ }).waitFor();
    await find('Control+k', 'drain this');
    await page.getByRole('dialog').getByText('Drain this queue …').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Drain the queue' }).waitFor();
    await page.keyboard.press('Escape');
  });
  await check('the keyboard shortcuts are shown', async () => {
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Show keyboard shortcuts').waitFor();
    await page.keyboard.press('Escape');
  });
}

async function checkTestSettings({ page, world, check }: Story): Promise<void> {
  const summary = page.getByRole('region', { name: 'Unsaved changes' });
  await check('test-health settings are changed, with their consequence', async () => {
    await page.goto(`${world.url}/app/tests/settings?repo=git.example/acme/gadgets`);
    const group = page.getByRole('region', { name: 'Flaky: number of failures' });
    await group.getByLabel('Minimum number of failures').fill('4');
    await summary.getByText('3 → 4').waitFor();
    await summary.getByText(/classifies every test of the repository again/).waitFor();
    await summary.getByRole('button', { name: 'Save 1 change' }).click();
    await page.getByRole('status').getByText('The settings are saved.').waitFor();
    await group.getByText('Default: 3').waitFor();
  });
}

async function checkTrial({ page, world, check }: Story): Promise<void> {
  const result = page.getByRole('region', { name: 'Try on the last 14 days' });
  await check(
    'test-health settings are tried before they are saved, with the tests that change',
    async () => {
      await page.goto(`${world.url}${testSettingsPath}`);
      await trySources(page);
      const [opened] = await Promise.all([
        page.context().waitForEvent('page'),
        result.getByRole('link', { name: flakyTest }).first().click(),
      ]);
      await opened.getByRole('heading', { name: flakyTest }).waitFor();
      await opened.close();
      const { settings } = await world.call('getHealthSettings', {
        repo: widgets.repo,
        org_url_slug: 'bench',
      });
      return settings.monitors.pass_on_retry.sources_min === 2;
    },
  );
  await check('what was tried is gone when the settings change again', async () => {
    await page.getByRole('button', { name: 'Discard' }).click();
    await result.waitFor({ state: 'detached' });
  });
}

/** The settings and the audit log as a viewer sees them. */
export async function checkReadOnly({ page, world, check }: Story): Promise<void> {
  await check('a viewer can read the settings but not change them', async () => {
    await page.goto(`${world.url}${settingsPath(widgets)}`);
    await page.getByText('These settings are read-only for you').waitFor();
    await page.locator('[data-setting="concurrency"]').getByText('5', { exact: true }).waitFor();
    const offered = page.locator('main').getByRole('textbox').or(page.getByRole('switch'));
    return (
      (await offered.count()) === 0 && (await page.getByRole('button', { name: /Delete/ }).count()) === 0
    );
  });
  await check('a viewer sees that the audit log is for administrators', async () => {
    await page.goto(`${world.url}${auditPath}`);
    await page.getByText('The audit log is for administrators').waitFor();
    return (await page.getByRole('link', { name: 'Audit log' }).count()) === 0;
  });
}
