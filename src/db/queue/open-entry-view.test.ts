import { expect, it, onTestFinished } from 'vitest';
import type { QueueId } from '#base/id.ts';
import { openTestCell } from '../../../test/support/database.ts';
import { createKeptQueues, KeptEntries } from './kept-entries.ts';
import type { Horizon } from './open-entry.ts';
import { horizonColumns, readOpenEntries, renewOpenEntries } from './open-entry-view.ts';

const insert = `
  insert into queue_entry (queue_id, pr_number, id, seniority, line_rank, line_major, line_minor, pr_title, pr_sha, pr_base_branch,
    pr_author, pr_url, pr_mergeability)
  select q.id, n, gen_random_uuid(), nextval('entry_seniority'), 2, 0, n, 'Title', md5(n::text), 'main', 'ada', '', 'mergeable'
  from queue q, generate_series($1::int, $2::int) n`;

async function openQueue() {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  const run = (text: string, values: readonly unknown[] = []) => cell.pool.query(text, [...values]);
  await run(`insert into organization (id, slug, name) values (gen_random_uuid(), 'acme', 'acme')`);
  await run(`insert into repository (id, organization_id, host, owner, name, host_key, owner_key, name_key)
    select gen_random_uuid(), id, 'h', 'o', 'n', 'h', 'o', 'n' from organization`);
  const { rows } = await run(`insert into queue (id, repository_id, branch, settings)
    select gen_random_uuid(), id, 'main', '{}' from repository returning id`);
  const queueId = (rows as { id: QueueId }[])[0]!.id;
  const keep = async () => {
    const { rows: horizons } = await run(`select ${horizonColumns}`);
    return new KeptEntries((horizons as Horizon[])[0]!, await readOpenEntries(cell.db, queueId));
  };
  /** What is kept, brought up to the present, and the same read whole. */
  const compare = async (kept: KeptEntries) => ({
    renewed: await renewOpenEntries(cell.db, queueId, kept),
    whole: await readOpenEntries(cell.db, queueId),
  });
  return { cell, queueId, run, keep, compare };
}

it('what is kept of a queue is what is read whole, whatever was written since and by whom', async () => {
  const { run, keep, compare } = await openQueue();
  await run(insert, [1, 12]);
  const mine = await keep();
  const others = await keep();
  const steps = [
    `update queue_entry set priority = 7 where pr_number = 3`,
    `update queue_entry set plan = '{"trip": 1}', probed_tip = 'T' where pr_number in (2, 5)`,
    // Ended, and then forgotten by the planner of another worker.
    `update queue_entry set state = 'cancelled', concluded_at = now(), line_rank = null where pr_number = 5`,
    `update queue_entry set plan = null, line_rank = null where pr_number in (4, 5)`,
    // Submitted again: it stands behind all others from now on.
    `update queue_entry set attempt = 2, line_rank = 2, seniority = nextval('entry_seniority') where pr_number in (4, 1)`,
    `insert into status_comment (queue_id, pr_number, posted_state_at) select queue_id, pr_number, state_changed_at from queue_entry
     where pr_number in (6, 7)`,
    `update queue_entry set seniority = 0 where pr_number = 9`,
    `select 1`,
  ];
  for (const [index, step] of steps.entries()) {
    await run(step);
    for (const kept of index % 3 === 2 ? [mine, others] : [mine]) {
      const { renewed, whole } = await compare(kept);
      expect(renewed).toEqual(whole);
    }
  }
  await run(insert, [13, 20]);
  for (const kept of [others, mine]) {
    const { renewed, whole } = await compare(kept);
    expect(renewed).toEqual(whole);
    expect(renewed).toHaveLength(19);
  }
});

it('a transaction that began before a read and ended after it is not missed', async () => {
  const { cell, run, keep, compare } = await openQueue();
  await run(insert, [1, 3]);
  const client = await cell.pool.connect();
  await client.query('begin');
  await client.query('update queue_entry set priority = 9 where pr_number = 2');
  const kept = await keep();
  // Younger transactions end first.
  await run('update queue_entry set priority = 8 where pr_number = 1');
  const during = await compare(kept);
  expect(during.renewed).toEqual(during.whole);
  await client.query('commit');
  client.release();
  const { renewed, whole } = await compare(kept);
  expect(renewed).toEqual(whole);
  expect(renewed?.map(({ shown }) => shown.entry.priority)).toEqual([8, 9, 100]);
});

it('what was kept of another server, or of another database, is not used', async () => {
  const { cell, queueId, run } = await openQueue();
  await run(insert, [1, 3]);
  const { rows } = await run(`select ${horizonColumns}`);
  const { horizon } = (rows as Horizon[])[0]!;
  const kept = new KeptEntries({ horizon, incarnation: 'other' }, await readOpenEntries(cell.db, queueId));
  expect(await renewOpenEntries(cell.db, queueId, kept)).toBeNull();
});

it('short queues are not kept, and a queue that became short is read whole again', async () => {
  const { cell, queueId, run } = await openQueue();
  const horizon = { horizon: '1', incarnation: '' };
  const queues = createKeptQueues({ entriesMin: 3 });
  await run(insert, [1, 2]);
  queues.keep(queueId, horizon, await readOpenEntries(cell.db, queueId));
  expect(queues.find(queueId)).toBeUndefined();
  await run(insert, [3, 4]);
  queues.keep(queueId, horizon, await readOpenEntries(cell.db, queueId));
  expect(queues.find(queueId)?.size).toBe(4);
  queues.find(queueId)?.keepOnly([1, 2]);
  expect(queues.find(queueId)).toBeUndefined();
});
