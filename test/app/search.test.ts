import { expect, it } from 'vitest';
import { main, openWorldForTest, widgets } from '../support/harness.ts';

const release = { repo: widgets, targetBranch: 'release/1.x' };
const gadgets = { repo: { ...widgets, name: 'gadgets' }, targetBranch: 'main' };

async function openSearchWorld() {
  const world = await openWorldForTest();
  const client = await world.client();
  for (const queue of [main, release, gadgets]) await client.call('createQueue', queue);
  const submit = async (queue: typeof main, number: number, title: string, author: string) => {
    await client.call('sandboxCreatePullRequest', {
      repo: queue.repo,
      pr: { number },
      baseBranch: queue.targetBranch,
      title,
      author,
    });
    await client.call('submitPullRequest', { ...queue, pr: { number } });
  };
  await submit(main, 12, 'Orders are sorted', 'ada');
  await submit(main, 120, 'Faster orders', 'grace');
  await submit(release, 1_207, 'Backport of 100%_sorted orders', 'ada');
  await submit(gadgets, 7, 'Gears turn', 'linus');
  const numbers = async (input: object, who = client) =>
    (await who.call('searchPullRequests', input)).pullRequests.map(({ prNumber }) => prNumber);
  return { world, client, numbers };
}

it('finds pull requests by number, its beginning, and words of title and author', async () => {
  const { client, numbers } = await openSearchWorld();
  expect(await numbers({ query: '12' })).toEqual([12, 120, 1_207]);
  expect(await numbers({ query: '#120' })).toEqual([120, 1_207]);
  expect(await numbers({ query: '2' })).toEqual([]);
  expect(await numbers({ query: '0' })).toEqual([]);
  expect(await numbers({ query: '9999999999' })).toEqual([]);
  expect(await numbers({ query: 'ORDERS' })).toEqual([1_207, 120, 12]);
  expect(await numbers({ query: 'orders ada' })).toEqual([1_207, 12]);
  expect(await numbers({ query: 'orders', take: 1 })).toEqual([1_207]);
  expect(await numbers({ query: '100%_' })).toEqual([1_207]);
  expect(await numbers({ query: '%' })).toEqual([1_207]);
  expect(await numbers({ query: 'orders', repo: gadgets.repo })).toEqual([]);
  expect((await client.call('searchPullRequests', { query: 'gears' })).pullRequests).toEqual([
    {
      ...gadgets,
      prNumber: 7,
      prTitle: 'Gears turn',
      prAuthor: 'linus',
      state: 'not_ready',
      stateChangedAt: expect.any(String) as string,
    },
  ]);
});

it('shows what is in a queue before what has left it', async () => {
  const { client, numbers } = await openSearchWorld();
  await client.call('cancelPullRequest', { ...release, pr: { number: 1_207 } });
  expect(await numbers({ query: 'orders' })).toEqual([120, 12, 1_207]);
});

it('is refused without the scope, and shows nothing of another organization', async () => {
  const { world, client, numbers } = await openSearchWorld();
  const uploader = await world.client('acme', ['upload']);
  expect((await uploader.refusal('searchPullRequests', { query: '1' }, 403)).code).toBe('INSUFFICIENT_SCOPE');
  expect((await client.refusal('searchPullRequests', { query: '' }, 400)).code).toBe('VALIDATION_FAILED');
  const stranger = await world.client('globex');
  expect(await numbers({ query: '12' }, stranger)).toEqual([]);
  expect(await numbers({ query: 'orders', repo: widgets }, stranger)).toEqual([]);
});

it('says that a repository is not connected', async () => {
  const world = await openWorldForTest({ config: { sandbox: 'off' } });
  const client = await world.client();
  const asked = { query: '1', repo: widgets };
  expect((await client.refusal('searchPullRequests', asked, 404)).code).toBe('REPOSITORY_NOT_FOUND');
});
