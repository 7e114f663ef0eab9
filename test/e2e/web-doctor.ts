// The page of the doctor, and its line on the page of a queue.

import type { Story } from './web-checklist.ts';
import { inQueue, queuePath } from './web-page.ts';
import { widgets } from './web-world.ts';

const silent = 'never-reported';
const ill = { repo: { ...widgets.repo, name: 'ill' }, targetBranch: 'main' };
const workflow = `on: [pull_request] # CI\njobs:\n  ${silent}: { steps: [{ run: make }] }\n`;

export async function checkDoctor({ page, world, check }: Story): Promise<void> {
  const section = page.getByRole('region', { name: 'Check the repository' });
  const line = page.getByText(/The doctor found 1 problem with this queue/);
  await world.call('createQueue', { ...ill, requiredStatuses: [silent] });
  const files = { '.github/workflows/ci.yml': workflow };
  await world.call('sandboxCommit', { repo: ill.repo, branch: 'main', files });
  await check('the doctor says that it has not checked a queue yet', async () => {
    await page.goto(`${world.url}/app/doctor?${inQueue(ill)}`);
    await section.getByText('Not checked yet.').waitFor();
  });
  await check('a check is kept with its time', async () => {
    await section.getByRole('button', { name: 'Check now' }).click();
    await section.getByText(`“${silent}” is required but did not report recently`).waitFor();
    await page.reload();
    await section.getByText(/Checked .* ago/).waitFor();
    await section.getByRole('button', { name: 'Check again' }).waitFor();
  });
  await check('the page of the queue says in a line that something is wrong, and leads to it', async () => {
    await page.goto(`${world.url}${queuePath(ill)}`);
    await line.waitFor();
    await page.getByRole('link', { name: 'See what to fix' }).click();
    await section.getByText(/nothing starts it for test branches/).waitFor();
  });
  await check('a pull request with the trigger is opened once', async () => {
    const open = section.getByRole('button', { name: 'Open a pull request' });
    await open.click();
    await section.getByText('Signalbox opened').waitFor();
    await open.click();
    await section.getByText('It is open already:').waitFor();
    const address = await section.getByRole('link', { name: /pull request #\d+/ }).getAttribute('href');
    return address?.endsWith('/pull/1000000') === true || address;
  });
  await check('once the doctor finds nothing wrong, the line is gone', async () => {
    await world.call('updateQueue', { ...ill, requiredStatuses: [] });
    await section.getByRole('button', { name: 'Check again' }).click();
    await section.getByText(silent).first().waitFor({ state: 'detached' });
    await page.goto(`${world.url}${queuePath(ill)}`);
    await page.getByRole('link', { name: 'Settings' }).waitFor();
    await line.waitFor({ state: 'detached' });
  });
}
