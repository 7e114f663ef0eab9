import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestCell } from '../../../test/support/database.ts';
import { takeJobs } from '../../../test/support/taken-job.ts';
import { addJob, type NewJob } from './add-job.ts';
import type { Cell } from '../cell.ts';
import { withTransaction } from '../transaction.ts';
import { sql } from '../../../test/support/sql.ts';

async function testCell(): Promise<Cell> {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  return cell;
}

const minutes = (count: number) => count * 60_000;

const add = (cell: Cell, terms: Partial<NewJob>, ...keys: readonly string[]) =>
  withTransaction(cell, async (tx) => {
    const rest = {
      task: 'post-status',
      inMs: null,
      keepsTime: false,
      priority: 0,
      skipIfScheduled: false,
      turn: null,
      ...terms,
    };
    await Promise.all(keys.map((key) => addJob(tx, { ...rest, key, payload: { key } })));
  });

type Row = {
  readonly key: string | null;
  readonly revision: number;
  /** Until it is due. */
  readonly minutes: number;
  readonly attempts: number;
};

const rows = async (cell: Cell): Promise<readonly Row[]> =>
  await sql<Row>(cell.db)`select key, revision, attempts,
      round(extract(epoch from run_at - now()) / 60)::int as minutes from graphile_worker.jobs order by id`;

/** The notices to workers during the work. */
async function noticesOf(cell: Cell, work: () => Promise<void>): Promise<readonly unknown[]> {
  const client = new Client(cell.url);
  await client.connect();
  const notices: unknown[] = [];
  client.on('notification', ({ payload }) => notices.push(JSON.parse(payload ?? '')));
  await client.query('listen "jobs:insert"');
  await work();
  // Answered after every notice that was sent before.
  await client.query('select 1');
  await client.end();
  return notices;
}

describe('a job', () => {
  it('is added with the others of its turn, in the order of their keys', async () => {
    const cell = await testCell();
    await add(cell, {}, 'c', 'a', 'b');
    expect((await rows(cell)).map(({ key }) => key)).toEqual(['a', 'b', 'c']);
  });

  it('of the same key is one job: the last time given counts, unless the job keeps its time', async () => {
    const cell = await testCell();
    await add(cell, { inMs: minutes(10) }, 'a');
    await add(cell, { inMs: minutes(30) }, 'a');
    expect(await rows(cell)).toMatchObject([{ key: 'a', revision: 1, minutes: 30 }]);
    await add(cell, { inMs: minutes(20), keepsTime: true }, 'a');
    expect(await rows(cell)).toMatchObject([{ key: 'a', revision: 2, minutes: 30 }]);
    await add(cell, { inMs: minutes(10) }, 'a', 'a');
    expect(await rows(cell)).toMatchObject([{ key: 'a', revision: 4, minutes: 10 }]);
  });

  it('that waits for the same instant or an earlier one is left as it is where that is enough', async () => {
    const cell = await testCell();
    await add(cell, { inMs: minutes(50) }, 'a');
    const leaves = () =>
      noticesOf(cell, async () => {
        await add(cell, { inMs: minutes(50), skipIfScheduled: true }, 'a');
        await add(cell, { inMs: minutes(90), skipIfScheduled: true }, 'a');
        await add(cell, { inMs: minutes(90), skipIfScheduled: true, keepsTime: true }, 'a');
      });
    expect(await leaves()).toEqual([]);
    expect(await rows(cell)).toMatchObject([{ revision: 0, minutes: 50 }]);
    await add(cell, { inMs: minutes(40), skipIfScheduled: true }, 'a');
    expect(await rows(cell)).toMatchObject([{ revision: 1 }]);
  });

  it('that has begun or failed for good gives up its key, and the new one is beside it', async () => {
    const cell = await testCell();
    await add(cell, {}, 'a');
    await takeJobs(cell, ['post-status']);
    await add(cell, { inMs: minutes(1) }, 'b');
    await sql(cell.db)`select graphile_worker.permanently_fail_jobs(array(
      select id from graphile_worker.jobs where key = 'b'))`;
    await add(cell, { inMs: minutes(1) }, 'a', 'b');
    expect(await rows(cell)).toMatchObject([
      { key: null, attempts: 20 },
      { key: null, attempts: 20 },
      { key: 'a', attempts: 0 },
      { key: 'b', attempts: 0 },
    ]);
  });
});
