import { expect, it } from 'vitest';
import { main, openWorldForTest, pr, widgets } from '../support/harness.ts';

it('lists every queue with what is in it and what became of it', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  const stranger = await world.client('globex');
  expect(await client.call('listQueues', {})).toEqual({ queues: [] });

  await client.call('createQueue', { ...main, requiredStatuses: ['build'], concurrency: 1 });
  for (const number of [1, 2, 3]) await client.call('submitPullRequest', pr(number));
  await world.runJobs();
  const passes = (testRunOf: number) =>
    client.call('sandboxSetCheck', { repo: widgets, testRunOf, name: 'build', state: 'success' });
  await passes(1);
  await world.runJobs();
  await client.call('sandboxSetCheck', { repo: widgets, testRunOf: 2, name: 'build', state: 'failure' });
  await world.runJobs();

  const release = { repo: widgets, targetBranch: 'release/1.x' };
  await client.call('createQueue', { ...release, mode: 'parallel' });
  await client.call('updateQueue', { ...release, state: 'PAUSED' });
  await stranger.call('createQueue', { repo: widgets, targetBranch: 'theirs' });

  const { queues } = await client.call('listQueues', {});
  const names = { repo: widgets, isHostAway: false, stateReason: null, stall: null };
  expect(queues).toEqual([
    {
      ...names,
      targetBranch: 'main',
      state: 'RUNNING',
      mode: 'single',
      depth: 1,
      testing: 1,
      notReady: 0,
      oldestEntryAt: expect.any(String) as string,
      mergedLast24h: 1,
      failedLast24h: 1,
      timeInQueueP50Seconds: expect.any(Number) as number,
      usualTestSeconds: expect.any(Number) as number,
    },
    {
      ...names,
      targetBranch: 'release/1.x',
      state: 'PAUSED',
      mode: 'parallel',
      depth: 0,
      testing: 0,
      notReady: 0,
      oldestEntryAt: null,
      mergedLast24h: 0,
      failedLast24h: 0,
      timeInQueueP50Seconds: null,
      usualTestSeconds: null,
    },
  ]);
  world.clock.advance(25 * 3_600_000);
  const [later] = (await client.call('listQueues', {})).queues;
  expect(later).toMatchObject({ mergedLast24h: 0, failedLast24h: 0, timeInQueueP50Seconds: null, depth: 1 });
  expect(later?.stall).toBe('#3 has been under test for 25 h.');
  await client.call('updateQueue', { ...main, state: 'PAUSED' });
  const [paused] = (await client.call('listQueues', {})).queues;
  expect(paused?.stall).toBe('The queue is paused while 1 pull request waits.');
});

it('lists page by page, also where the last of a page was deleted since', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  const stranger = await world.client('globex');
  const branches = ['a', 'b', 'c', 'd'];
  for (const targetBranch of branches) await client.call('createQueue', { repo: widgets, targetBranch });
  const first = await client.call('listQueues', { take: 2 });
  expect(first.queues.map((queue) => queue.targetBranch)).toEqual(['a', 'b']);
  await client.call('deleteQueue', { repo: widgets, targetBranch: 'b' });
  const second = await client.call('listQueues', { take: 2, cursor: first.nextCursor });
  expect(second.queues.map((queue) => queue.targetBranch)).toEqual(['c', 'd']);
  expect(second.nextCursor).toBeUndefined();
  const narrowed = async (query: string) =>
    (await client.call('listQueues', { query })).queues.map((queue) => queue.targetBranch);
  expect(await narrowed('WIDGETS C')).toEqual(['c']);
  expect(await narrowed('acme/')).toEqual(['a', 'c', 'd']);
  expect(await narrowed('_')).toEqual([]);
  expect(await stranger.call('listQueues', { cursor: first.nextCursor })).toEqual({ queues: [] });
  expect((await client.refusal('listQueues', { cursor: 'x' }, 400)).code).toBe('INVALID_PAGE_TOKEN');
});
