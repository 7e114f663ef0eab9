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

it('lists on request the last day by hour, beside the same day a week earlier and what is usual', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('createQueue', { ...main, requiredStatuses: ['build'] });
  const hour = 3_600_000;
  const merge = async (number: number, testMs: number) => {
    await client.call('submitPullRequest', pr(number));
    await world.runJobs();
    world.clock.advance(testMs);
    const passed = { repo: widgets, testRunOf: number, name: 'build', state: 'success' };
    await client.call('sandboxSetCheck', passed);
    await world.runJobs();
  };
  const lastDay = async () => (await client.call('listQueues', { includeLastDay: true })).queues[0]?.lastDay;

  expect((await client.call('listQueues', {})).queues[0]).not.toHaveProperty('lastDay');
  expect(await lastDay()).toEqual({
    mergedByHour: Array.from({ length: 24 }, () => 0),
    timeInQueueP50SecondsByHour: Array.from({ length: 24 }, () => null),
    mergedWeekEarlier: 0,
    usualTimeInQueueSeconds: null,
    isSlow: false,
  });
  await merge(1, 600_000);
  await merge(2, 1_200_000);
  world.clock.advance(2 * hour);
  await merge(3, 300_000);
  const day = await lastDay();
  expect(day?.mergedByHour.slice(-4)).toEqual([0, 2, 0, 1]);
  expect(day?.mergedByHour.reduce((sum, count) => sum + count)).toBe(3);
  const [, early, none, late] = day!.timeInQueueP50SecondsByHour.slice(-4);
  expect([early, none, late].map((seconds) => seconds && Math.round(seconds / 60))).toEqual([15, null, 5]);
  expect(day?.mergedWeekEarlier).toBe(0);

  world.clock.advance(7 * 24 * hour);
  const later = await lastDay();
  expect(later?.mergedWeekEarlier).toBe(3);
  expect(later?.mergedByHour.every((count) => count === 0)).toBe(true);
  await world.cell.pool.query(
    'insert into queue_usual (queue_id, since, in_queue_ms) select id, now(), 660000 from queue',
  );
  await world.cell.pool.query(
    "insert into queue_trouble (queue_id, kind, reason, began_at) select id, 'slow', '', now() from queue",
  );
  expect(await lastDay()).toMatchObject({ usualTimeInQueueSeconds: 660, isSlow: true });
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
