// A queue as a graph, and what is shown while it is held up.

import type { Page } from 'playwright-core';
import type { Told } from './web-checklist.ts';
import { queuePath } from './web-page.ts';
import { answer, batch, lanes, searched, stopped } from './web-world-graph.ts';

const box = (page: Page, number: number) =>
  page.locator('.react-flow__node', { has: page.locator(`[data-number="${number}"]`) });

/** Where every box is, and what part of the picture is shown. */
const places = (page: Page): Promise<string> =>
  page.evaluate<string>(`[...document.querySelectorAll('.react-flow__node, .react-flow__viewport')]
    .map((element) => (element.dataset.id ?? 'viewport') + ' ' + element.style.transform).sort().join('\\n')`);

const viewport = async (page: Page): Promise<string> =>
  (await places(page)).split('\n').find((line) => line.startsWith('viewport')) ?? '';

export async function tellGraph(told: Told): Promise<void> {
  await tellPicture(told);
  await tellChanges(told);
  await tellSearch(told);
  await tellStates(told);
}

async function tellPicture({ page, world, check }: Told): Promise<void> {
  await page.goto(`${world.url}${queuePath(lanes)}`);
  await check('a queue is shown as a graph, and the address says so', async () => {
    await page.getByText('Graph', { exact: true }).click();
    await box(page, 201).waitFor();
    return page.url().includes('view=graph') || page.url();
  });
  await check('the graph is there again when the address is opened', async () => {
    await page.reload();
    await box(page, 201).waitFor();
    return (await page.locator('.graph-box').count()) === 7;
  });
  await check('an edge names the targets that two share', async () => {
    const labels = await page.locator('.react-flow__edge-text').allTextContents();
    return (
      (labels.includes('2 shared: //api, //core') && labels.includes('1 shared: //web')) || labels.join()
    );
  });
  await check('one that impacts everything says so', async () => {
    await box(page, 205).getByText('impacts everything').waitFor();
    const labels = await page.locator('.react-flow__edge-text').allTextContents();
    return labels.includes('impacts everything') || labels.join();
  });
  await check('the same is told as a table, with what each is tested on top of', async () => {
    await page.getByRole('button', { name: 'Show as a table' }).click();
    const row = page.getByRole('row', { name: /#203/ }).first();
    await row.getByText('#201 (2 shared: //api, //core)').waitFor();
    await page.getByRole('button', { name: 'Hide the table' }).click();
  });
  await check('a box opens its pull request with the keyboard, and back is the graph', async () => {
    await box(page, 203).getByRole('link').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /Bill by the day/ }).waitFor();
    await page.goBack();
    await box(page, 203).waitFor();
  });
  await check('a box opens its pull request with a click', async () => {
    await box(page, 201).getByRole('link').click();
    await page.getByRole('heading', { name: /Move the core to new ids/ }).waitFor();
    await page.goBack();
    await box(page, 201).waitFor();
  });
}

async function tellChanges({ page, world, check }: Told): Promise<void> {
  await page.getByText('Live', { exact: true }).waitFor();
  await check('a result changes a box, and nothing moves', async () => {
    const before = await places(page);
    await answer(world, lanes, [203], 'success');
    await box(page, 203).getByText('Passed', { exact: true }).waitFor();
    const after = await places(page);
    return before === after || `${before}\n---\n${after}`;
  });
  await check('one that lands leaves the graph, and what is looked at stays in view', async () => {
    const before = await viewport(page);
    await answer(world, lanes, [202], 'success');
    await box(page, 202).waitFor({ state: 'detached' });
    return (await viewport(page)) === before;
  });
}

async function tellSearch({ page, world, check }: Told): Promise<void> {
  await check('a search says which batch failed on what, also beside the line', async () => {
    await page.goto(`${world.url}${queuePath(searched)}`);
    await page.getByRole('article', { name: 'The batch #301 to #304 failed on ci/test' }).waitFor();
    await page.getByText(/4 suspects left: #301, #302, #303, #304/).waitFor();
    await page.locator('.entry[data-number="301"]').waitFor();
  });
  await check('a search narrows as its runs end, by itself', async () => {
    await answer(world, searched, batch.slice(0, 2), 'success');
    await page.getByText(/#301 and #302 pass without the rest\. 2 suspects left: #303, #304/).waitFor();
    const members = await page.locator('.search-members li').allTextContents();
    return members.join() === '#301cleared,#302cleared,#303suspect,#304suspect' || members.join();
  });
  await check('the graph shows the batch that is searched as one', async () => {
    await page.getByText('Graph', { exact: true }).click();
    await box(page, 301).getByText('Searched: 4 pull requests').waitFor();
    await page.getByText(/Round 2: 2 suspects, 1 test run/).waitFor();
  });
  await check('a search that is over is gone, and who broke the batch has left', async () => {
    await answer(world, searched, batch.slice(0, 3), 'failure');
    await page.getByText('Finding out what breaks a batch').waitFor({ state: 'detached' });
    await page.locator('.recent-entry[data-number="303"]').getByText('Failed', { exact: true }).waitFor();
  });
}

async function tellStates({ page, world, check }: Told): Promise<void> {
  const { call } = world;
  await check('a queue whose branch is not there says why it stopped and what to do', async () => {
    await page.goto(`${world.url}${queuePath(stopped)}`);
    await page.getByText('The queue stopped by itself').waitFor();
    await page.getByText(/is gone from its host\. Restore it/).waitFor();
  });
  await check('a queue that does not exist says so, with a way back', async () => {
    await page.goto(`${world.url}${queuePath({ ...lanes, targetBranch: 'nowhere' })}`);
    await page.getByText('There is no such queue').waitFor();
    await page.getByRole('link', { name: 'All queues' }).waitFor();
  });
  await page.goto(`${world.url}${queuePath(lanes)}&view=graph`);
  await check('a queue that switches modes says what happens', async () => {
    await call('updateQueue', { ...lanes, mode: 'single' });
    await page.getByText('The queue is switching modes').waitFor();
  });
  await check('a host that does not answer is named, until it answers again', async () => {
    await call('sandboxConfigureRepository', { repo: lanes.repo, faults: { answers: '5xx' } });
    await page.getByText('The host does not answer').waitFor({ timeout: 40_000 });
    await call('sandboxConfigureRepository', { repo: lanes.repo, faults: { answers: 'ok' } });
    await page.getByText('The host does not answer').waitFor({ state: 'detached', timeout: 60_000 });
  });
}
