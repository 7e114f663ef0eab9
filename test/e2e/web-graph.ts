// The graph of a queue, and the pages of queues that cannot proceed.

import type { Page } from 'playwright-core';
import type { Story } from './web-checklist.ts';
import { queuePath } from './web-page.ts';
import { answer, batch, lanes, bisected, stopped } from './web-world-graph.ts';

const box = (page: Page, number: number) =>
  page.locator('.react-flow__node', { has: page.locator(`[data-number="${number}"]`) });

/** The positions of all boxes, and the visible part of the diagram. */
const places = (page: Page): Promise<string> =>
  page.evaluate<string>(`[...document.querySelectorAll('.react-flow__node, .react-flow__viewport')]
    .map((element) => (element.dataset.id ?? 'viewport') + ' ' + element.style.transform).sort().join('\\n')`);

const viewport = async (page: Page): Promise<string> =>
  (await places(page)).split('\n').find((line) => line.startsWith('viewport')) ?? '';

/** Waits until the diagram is fitted into its frame, which happens once its boxes are measured. */
const waitForFit = (page: Page): Promise<void> =>
  page.locator('.react-flow__viewport:not([style*="translate(0px, 0px)"])').waitFor({ state: 'attached' });

export async function checkGraph(story: Story): Promise<void> {
  await checkDiagram(story);
  await checkChanges(story);
  await checkBisection(story);
  await checkStates(story);
}

async function checkDiagram({ page, world, check }: Story): Promise<void> {
  await page.goto(`${world.url}${queuePath(lanes)}`);
  await check('a queue is shown as a graph, with its own URL', async () => {
    await page.getByText('Graph', { exact: true }).click();
    await box(page, 201).waitFor();
    return page.url().includes('view=graph') || page.url();
  });
  await check('the URL of the graph opens the graph', async () => {
    await page.reload();
    await box(page, 201).waitFor();
    return (await page.locator('.graph-box').count()) === 7;
  });
  await check('an edge names the shared targets', async () => {
    const labels = await page.locator('.react-flow__edge-text').allTextContents();
    return (
      (labels.includes('2 shared: //api, //core') && labels.includes('1 shared: //web')) || labels.join()
    );
  });
  await check('a pull request that impacts everything is labelled', async () => {
    await box(page, 205).getByText('impacts everything').waitFor();
    const labels = await page.locator('.react-flow__edge-text').allTextContents();
    return labels.includes('impacts everything') || labels.join();
  });
  await check('the table has the same content, with what each group is tested on top of', async () => {
    await page.getByRole('button', { name: 'Show as a table' }).click();
    const row = page.getByRole('row', { name: /#203/ }).first();
    await row.getByText('#201 (2 shared: //api, //core)').waitFor();
    await page.getByRole('button', { name: 'Hide the table' }).click();
  });
  await check('a box opens its pull request with the keyboard, and Back returns to the graph', async () => {
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

async function checkChanges({ page, world, check }: Story): Promise<void> {
  await page.getByText('Live', { exact: true }).waitFor();
  await check('a check result changes a box, and no box moves', async () => {
    await waitForFit(page);
    const before = await places(page);
    await answer(world, lanes, [203], 'success');
    await box(page, 203).getByText('Passed', { exact: true }).waitFor();
    const after = await places(page);
    return before === after || `${before}\n---\n${after}`;
  });
  await check('a merged pull request leaves the graph, and the visible part stays', async () => {
    const before = await viewport(page);
    await answer(world, lanes, [202], 'success');
    await box(page, 202).waitFor({ state: 'detached' });
    return (await viewport(page)) === before;
  });
}

async function checkBisection({ page, world, check }: Story): Promise<void> {
  await check('the list shows which batch is bisected, and which check failed', async () => {
    await page.goto(`${world.url}${queuePath(bisected)}`);
    await page.getByRole('article', { name: 'The batch #301 to #304 failed on ci/test' }).waitFor();
    await page.getByText(/4 suspects left: #301, #302, #303, #304/).waitFor();
    await page.locator('.entry[data-number="301"]').waitFor();
  });
  await check('the bisection updates automatically as its runs finish', async () => {
    await answer(world, bisected, batch.slice(0, 2), 'success');
    await page.getByText(/#301 and #302 pass without the others\. 2 suspects left: #303, #304/).waitFor();
    const members = await page.locator('.bisection-members li').allTextContents();
    return members.join() === '#301cleared,#302cleared,#303suspect,#304suspect' || members.join();
  });
  await check('the graph shows the bisected batch as one box', async () => {
    await page.getByText('Graph', { exact: true }).click();
    await box(page, 301).getByText('Bisecting 4 pull requests').waitFor();
    await page.getByText(/Round 2: 2 suspects, 1 test run/).waitFor();
  });
  await check('a finished bisection disappears, and the culprit is removed', async () => {
    await answer(world, bisected, batch.slice(0, 3), 'failure');
    await page.getByText('Bisecting failed batches').waitFor({ state: 'detached' });
    await page.locator('.recent-entry[data-number="303"]').getByText('Failed', { exact: true }).waitFor();
  });
}

async function checkStates({ page, world, check }: Story): Promise<void> {
  const { call } = world;
  await check('a queue without its branch shows why it stopped and what to do', async () => {
    await page.goto(`${world.url}${queuePath(stopped)}`);
    await page.getByText('The queue stopped automatically').waitFor();
    await page.getByText(/has no branch .*\. Restore it/).waitFor();
  });
  await check('the page of a missing queue links to all queues', async () => {
    await page.goto(`${world.url}${queuePath({ ...lanes, targetBranch: 'nowhere' })}`);
    await page.getByText('This queue does not exist').waitFor();
    await page.getByRole('link', { name: 'All queues' }).waitFor();
  });
  await page.goto(`${world.url}${queuePath(lanes)}&view=graph`);
  await check('a queue that switches modes explains it', async () => {
    await call('updateQueue', { ...lanes, mode: 'single' });
    await page.getByText('The queue is switching modes').waitFor();
  });
  await check('an unreachable Git host is shown until it responds again', async () => {
    await call('sandboxConfigureRepository', { repo: lanes.repo, faults: { answers: '5xx' } });
    await page.getByText('The Git host is unreachable').waitFor({ timeout: 40_000 });
    await call('sandboxConfigureRepository', { repo: lanes.repo, faults: { answers: 'ok' } });
    await page.getByText('The Git host is unreachable').waitFor({ state: 'detached', timeout: 60_000 });
  });
}
