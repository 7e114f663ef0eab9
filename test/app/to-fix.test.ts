import { expect, it } from 'vitest';
import { main, openWorldForTest, widgets } from '../support/harness.ts';

const gadgets = { repo: { ...widgets, name: 'gadgets' }, targetBranch: 'main' };
const hour = 3_600_000;

async function openQueues() {
  const world = await openWorldForTest();
  const client = await world.client();
  for (const queue of [main, gadgets])
    await client.call('createQueue', { ...queue, requiredStatuses: ['build'] });
  const submit = async (queue: typeof main, number: number, author: string, options: object = {}) => {
    await client.call('sandboxCreatePullRequest', { repo: queue.repo, pr: { number }, author, ...options });
    await client.call('submitPullRequest', { ...queue, pr: { number } });
    await world.runJobs();
  };
  const finish = async (queue: typeof main, number: number, state: 'success' | 'failure') => {
    await client.call('sandboxSetCheck', { repo: queue.repo, testRunOf: number, name: 'build', state });
    await world.runJobs();
  };
  const listed = async (input: object = {}, who = client) =>
    (await who.call('listPullRequestsToFix', input)).pullRequests;
  const numbers = async (input: object = {}, who = client) =>
    (await listed(input, who)).map(({ prNumber }) => prNumber);
  return { world, client, submit, finish, listed, numbers };
}

it('lists what failed and what is not ready, latest first, with the reason', async () => {
  const { world, submit, finish, listed } = await openQueues();
  await submit(main, 1, 'ada');
  await finish(main, 1, 'success');
  await submit(main, 2, 'ada');
  world.clock.advance(60_000);
  await finish(main, 2, 'failure');
  world.clock.advance(60_000);
  await submit(gadgets, 3, 'grace', { mergeability: 'not_mergeable' });
  await submit(main, 4, 'ada');
  const [unready, failed, ...others] = await listed();
  expect(unready).toMatchObject({ ...gadgets, prNumber: 3, state: 'not_ready', conclusionReason: null });
  expect(unready?.waitingFor[0]).toMatch(/cannot be merged/);
  expect(failed).toMatchObject({
    ...main,
    prNumber: 2,
    prAuthor: 'ada',
    state: 'failed',
    conclusionReason: 'TEST_RUN_REQUIRED_STATUS_FAILED',
    waitingFor: [],
  });
  expect(others).toEqual([]);
});

it('lists those of one author, however the name is written', async () => {
  const { submit, numbers } = await openQueues();
  await submit(main, 1, 'Ada', { draft: true });
  await submit(main, 2, 'grace', { draft: true });
  expect(await numbers({ author: 'aDA' })).toEqual([1]);
  expect(await numbers({ author: 'ad' })).toEqual([]);
  expect(await numbers({ author: '%' })).toEqual([]);
});

it('lists no more than requested, over all queues', async () => {
  const { world, submit, numbers } = await openQueues();
  for (const [index, queue] of [main, gadgets, main].entries()) {
    world.clock.advance(1_000);
    await submit(queue, index + 1, 'ada', { draft: true });
  }
  expect(await numbers({ take: 2 })).toEqual([3, 2]);
});

it('forgets a failure once it is submitted again or long ago', async () => {
  const { world, client, submit, finish, numbers } = await openQueues();
  for (const number of [1, 2]) {
    await submit(main, number, 'ada');
    await finish(main, number, 'failure');
  }
  expect((await numbers()).toSorted((a, b) => a - b)).toEqual([1, 2]);
  await client.call('submitPullRequest', { ...main, pr: { number: 1 } });
  await world.runJobs();
  world.clock.advance(5 * hour);
  expect(await numbers({ failedWithinHours: 4 })).toEqual([]);
  expect(await numbers()).toEqual([2]);
});

it('shows nothing of another organization or of a deleted queue, and refuses what is not valid', async () => {
  const { world, client, submit, numbers } = await openQueues();
  const stranger = await world.client('globex');
  await stranger.call('createQueue', main);
  await submit(main, 1, 'ada', { draft: true });
  expect(await numbers()).toEqual([1]);
  expect(await numbers({}, stranger)).toEqual([]);
  expect(await numbers({ author: 'ada' }, stranger)).toEqual([]);
  await client.call('cancelPullRequest', { ...main, pr: { number: 1 } });
  await world.runJobs();
  await client.call('deleteQueue', main);
  expect(await numbers()).toEqual([]);
  for (const input of [{ author: '' }, { failedWithinHours: 0 }, { failedWithinHours: 169 }, { take: 51 }])
    await client.refusal('listPullRequestsToFix', input, 400);
});
