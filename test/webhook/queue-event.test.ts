// Events of a queue as a whole: it was stopped, makes no progress, is slow, or continues.

import { expect, it } from 'vitest';
import { webhookBodies } from '#contract/webhook-event.ts';
import { watchQueues } from '#job/queue/watch.ts';
import { main } from '../support/harness.ts';
import { sql } from '../support/sql.ts';
import { createQueue, openWebhookWorld, type WebhookWorld } from './world.ts';

const minuteMs = 60_000;

/** A queue, and an endpoint that gets only what happens to it as a whole. */
async function openScene() {
  const world = await openWebhookWorld();
  const eventTypes = ['halted', 'recovered', 'stalled', 'slow', 'state_changed'].map(
    (name) => `queue.${name}`,
  );
  await world.createEndpoint({ eventTypes });
  await createQueue(world.admin);
  const readEvents = async () => {
    await world.deliver();
    // The clock of this world runs ahead, so that the reference library would refuse the time of the signature.
    return world.receiver.received.map(({ body }) => {
      const event = JSON.parse(body) as { readonly type: string } & Readonly<Record<string, unknown>>;
      webhookBodies[event.type]!.parse(event);
      expect(event['http_details_url']).toContain('/app/queue?');
      return event;
    });
  };
  return { world, readEvents };
}

const watch = async ({ cell, clock }: WebhookWorld, minutes = 0): Promise<void> => {
  clock.advance(minutes * minuteMs);
  await watchQueues({ cell, clock });
};

it('a queue that Signalbox stops is reported once, and so is that it continues', async () => {
  const { world, readEvents } = await openScene();
  const { admin } = world;
  const release = { ...main, targetBranch: 'release' };
  await admin.call('createQueue', release);
  await world.runJobs();
  await world.runJobs();
  const halted = {
    type: 'queue.halted',
    state: 'PAUSED',
    target_branch: 'release',
    reason: 'The Git host has no branch release. Restore it, then set the queue RUNNING.',
  };
  expect(await readEvents()).toMatchObject([halted]);
  await watch(world, 60);
  expect(await readEvents()).toHaveLength(1);
  await admin.call('sandboxCommit', { repo: main.repo, branch: 'release', files: { 'a.txt': 'a' } });
  await admin.call('updateQueue', { ...release, state: 'RUNNING' });
  await world.runJobs();
  const recovered = { type: 'queue.recovered', from: 'halted', state: 'RUNNING' };
  expect(await readEvents()).toMatchObject([halted, recovered]);
});

it('a change of state by a person is reported', async () => {
  const { world, readEvents } = await openScene();
  await world.admin.call('updateQueue', { ...main, state: 'PAUSED' });
  await world.admin.call('updateQueue', { ...main, concurrency: 3 });
  await world.admin.call('updateQueue', { ...main, state: 'RUNNING' });
  const events = await readEvents();
  expect(events).toMatchObject([
    { type: 'queue.state_changed', state: 'PAUSED', previous_state: 'RUNNING' },
    { type: 'queue.state_changed', state: 'RUNNING', previous_state: 'PAUSED' },
  ]);
  expect(events.every((event) => typeof event['actor'] === 'string')).toBe(true);
});

it('a queue that stalls is reported once, and that it makes progress again when that lasts', async () => {
  const { world, readEvents } = await openScene();
  await world.submit(1);
  await watch(world, 119);
  expect(await readEvents()).toEqual([]);
  await watch(world, 2);
  await watch(world, 1);
  const reason = '#1 has been under test for 2 h.';
  expect(await readEvents()).toMatchObject([{ type: 'queue.stalled', state: 'RUNNING', reason }]);
  await world.check(1, 'success');
  for (let minute = 0; minute < 7; minute += 1) await watch(world, 1);
  expect(await readEvents()).toMatchObject([
    { type: 'queue.stalled' },
    { type: 'queue.recovered', from: 'stalled' },
  ]);
});

it('two workers that look at the same time report it once', async () => {
  const { world, readEvents } = await openScene();
  await world.submit(1);
  world.clock.advance(180 * minuteMs);
  await Promise.all([watch(world), watch(world), watch(world)]);
  expect(await readEvents()).toHaveLength(1);
});

it('a queue is slow against what was usual when that was measured, until its settings change', async () => {
  const { world, readEvents } = await openScene();
  const { cell, clock } = world;
  const merge = (count: number, minutes: number) => sql(cell.db)`
    insert into attempt (queue_id, concluded_at, pr_number, attempt, conclusion, submitted_at, queued_at, in_queue_ms)
    select q.id, ${clock.now()}::timestamptz - n * interval '1 second', 1000 + n, 1, 'merged', ${clock.now()}, ${clock.now()},
      ${minutes * minuteMs} from queue q, generate_series(1, ${count}) n`;
  await world.submit(1);
  await merge(49, 20);
  await watch(world);
  expect(await sql(cell.db)`select * from queue_usual`).toEqual([]);
  clock.advance(2 * minuteMs);
  await merge(1, 20);
  await watch(world, 1);
  expect(await sql(cell.db)`select in_queue_ms from queue_usual`).toEqual([{ in_queue_ms: 20 * minuteMs }]);
  clock.advance(2 * minuteMs);
  await merge(10, 45);
  await watch(world, 1);
  await watch(world, 1);
  const reason = 'Half of the last pull requests took longer than 45 min to merge; the usual time is 20 min.';
  expect(await readEvents()).toMatchObject([{ type: 'queue.slow', reason }]);
  expect(await sql(cell.db)`select in_queue_ms from queue_usual`).toEqual([{ in_queue_ms: 20 * minuteMs }]);
  await world.admin.call('updateQueue', { ...main, concurrency: 3 });
  expect(await sql(cell.db)`select in_queue_ms from queue_usual`).toEqual([{ in_queue_ms: null }]);
  for (let minute = 0; minute < 7; minute += 1) await watch(world, 1);
  expect(await readEvents()).toMatchObject([
    { type: 'queue.slow' },
    { type: 'queue.recovered', from: 'slow' },
  ]);
});
