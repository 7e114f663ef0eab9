// Settings, the audit log, making and deleting queues, and finding one's way by keyboard.

import type { Told } from './web-checklist.ts';
import { auditPath, queuePath, settingsPath } from './web-page.ts';
import { empty, failingTest, numbers, told } from './web-world.ts';

export async function tellSettings(story: Told): Promise<void> {
  await tellChange(story);
  await tellAudit(story);
  await tellMaking(story);
  await tellSearch(story);
  await tellTestSettings(story);
}

async function tellChange({ page, world, check }: Told): Promise<void> {
  const setting = (path: string) => page.locator(`[data-setting="${path}"]`);
  const summary = page.getByRole('region', { name: 'What will change' });
  await page.goto(`${world.url}${queuePath(empty)}`);
  await check('the settings open from the queue, each with what it means now', async () => {
    await page.getByRole('link', { name: 'Settings' }).click();
    await setting('concurrency').getByText('Up to 5 runs at once.').waitFor();
    await setting('mode')
      .getByText(/share no target/)
      .waitFor();
  });
  await check('a default is marked, and so is what differs from it', async () => {
    await setting('concurrency').getByText('Default', { exact: true }).waitFor();
    await setting('mode').getByText('Default: single').waitFor();
  });
  await check('a value that is not valid is refused at its field, and cannot be saved', async () => {
    await page.getByLabel('Test runs at once').fill('2000');
    await setting('concurrency').getByText(/1000/).waitFor();
    await summary.getByText('1 setting is not valid yet.').waitFor();
    return summary.getByRole('button', { name: /^Save/ }).isDisabled();
  });
  await check('what will change is summed up before it is saved', async () => {
    await page.getByLabel('Test runs at once').fill('6');
    await summary.getByText('5 → 6').waitFor();
    await page.getByRole('radio', { name: 'A list of its own' }).click();
    await page.getByLabel('Required checks: the list').fill('');
    await summary.getByText(/No check is required then/).waitFor();
    await page.getByLabel('Required checks: the list').fill('ci/test');
  });
  await check('who leaves without saving is asked first', async () => {
    await page.getByRole('link', { name: 'Uploads' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stay here' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    return (await page.getByLabel('Test runs at once').inputValue()) === '6';
  });
  await check('it is saved, and only what was changed', async () => {
    await summary.getByRole('button', { name: 'Save 1 change' }).click();
    await page.getByRole('status').getByText('The settings are saved.').waitFor();
    await summary.waitFor({ state: 'detached' });
    const { concurrency, mode } = await world.call('getQueue', empty);
    return concurrency === 6 && mode === 'parallel';
  });
}

async function tellAudit({ page, world, check }: Told): Promise<void> {
  await check('the audit log names who changed what from what', async () => {
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
  await check('a queue that stopped by itself is in the log too', async () => {
    await page.goto(`${world.url}${auditPath}?action=queue.stop`);
    await page
      .getByText(/Queue stopped by itself/)
      .first()
      .waitFor();
  });
  await check('the log is narrowed, and the address says so', async () => {
    await page.getByLabel('What').fill('acme/gadgets');
    await page.getByLabel('Changes of').selectOption('queues');
    await page.getByRole('button', { name: 'Narrow' }).click();
    await page
      .getByText(/Queue created: acme\/gadgets/)
      .first()
      .waitFor();
    return new URL(page.url()).searchParams.get('subject') === 'acme/gadgets';
  });
}

async function tellMaking({ page, world, check }: Told): Promise<void> {
  const dialog = page.getByRole('dialog');
  const remove = async (branch: string) => {
    await page.getByRole('button', { name: 'Delete this queue' }).click();
    await dialog.getByLabel(/Type the branch/).fill(branch);
    await dialog.getByRole('button', { name: 'Delete the queue' }).click();
  };
  await check('a queue is created, and its settings are shown next', async () => {
    await page.goto(`${world.url}/app/`);
    await page.getByRole('button', { name: 'Create a queue' }).click();
    await dialog.getByLabel('Repository').fill('git.example/acme/made-here');
    await dialog.getByLabel('Branch').fill('main');
    await dialog.getByRole('button', { name: 'Create the queue' }).click();
    await page.getByRole('heading', { name: /Settings of acme\/made-here/ }).waitFor();
  });
  await check('a queue is deleted by who types its branch', async () => {
    await page.getByRole('button', { name: 'Delete this queue' }).click();
    const isOffered = await dialog.getByRole('button', { name: 'Delete the queue' }).isEnabled();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await remove('main');
    await page.getByRole('heading', { name: 'Queues' }).waitFor();
    const { queues } = await world.call('listQueues', { query: 'made-here' });
    return !isOffered && queues.length === 0;
  });
  await check('a queue that is not empty is not deleted, and says why', async () => {
    await page.goto(`${world.url}${settingsPath(told)}`);
    await remove('main');
    await dialog.getByText(/still holds \d+ pull requests/).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  });
  await check('queues are narrowed by text', async () => {
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

async function tellSearch({ page, world, check }: Told): Promise<void> {
  const search = page.getByRole('dialog').getByLabel('Search');
  const find = async (key: string, text: string) => {
    // One that was open before fades out first.
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press(key);
    await search.waitFor();
    await page.locator('[aria-label="Search"]:focus').waitFor();
    await page.keyboard.type(text);
  };
  await page.goto(`${world.url}/app/`);
  await page.getByRole('heading', { name: 'Queues' }).waitFor();
  await check('the slash opens the search, and a number leads to its pull request', async () => {
    await find('/', String(numbers.landed));
    await page.getByText(`#${numbers.landed} `).first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: new RegExp(`#${numbers.landed}`) }).waitFor();
  });
  await check('words lead to a test', async () => {
    await find('/', 'renders script');
    await page.getByRole('dialog').getByText(failingTest).first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: failingTest }).waitFor();
  });
  await check('the palette leads to a page', async () => {
    await find('Control+k', 'audit');
    await page.getByRole('dialog').getByText('Audit log').first().waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Audit log' }).waitFor();
  });
  await check('the palette drains the queue that is looked at, and asks first', async () => {
    await page.goto(`${world.url}${queuePath(empty)}`);
    await page.getByRole('heading', { name: /acme\/docs/ }).waitFor();
    await find('Control+k', 'drain this');
    await page.getByRole('dialog').getByText('Drain this queue …').waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Drain the queue' }).waitFor();
    await page.keyboard.press('Escape');
  });
  await check('the keys are shown', async () => {
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Show these keys').waitFor();
    await page.keyboard.press('Escape');
  });
}

async function tellTestSettings({ page, world, check }: Told): Promise<void> {
  const summary = page.getByRole('region', { name: 'What will change' });
  await check('how tests are judged is changed, with what follows', async () => {
    await page.goto(`${world.url}/app/tests/settings?repo=git.example/acme/gadgets`);
    const group = page.getByRole('region', { name: 'Flaky: number of failures' });
    await group.getByLabel('Failures needed').fill('4');
    await summary.getByText('3 → 4').waitFor();
    await summary.getByText(/judged anew/).waitFor();
    await summary.getByRole('button', { name: 'Save 1 change' }).click();
    await page.getByRole('status').getByText('The settings are saved.').waitFor();
    await group.getByText('Default: 3').waitFor();
  });
}

/** What a viewer sees of it. */
export async function tellReading({ page, world, check }: Told): Promise<void> {
  await check('a viewer reads the settings and cannot change them', async () => {
    await page.goto(`${world.url}${settingsPath(told)}`);
    await page.getByText('You can read these settings').waitFor();
    await page.locator('[data-setting="concurrency"]').getByText('5', { exact: true }).waitFor();
    const offered = page.locator('main').getByRole('textbox').or(page.getByRole('switch'));
    return (
      (await offered.count()) === 0 && (await page.getByRole('button', { name: /Delete/ }).count()) === 0
    );
  });
  await check('a viewer is told that the audit log is for administrators', async () => {
    await page.goto(`${world.url}${auditPath}`);
    await page.getByText('The audit log is for administrators').waitFor();
    return (await page.getByRole('link', { name: 'Audit log' }).count()) === 0;
  });
}
