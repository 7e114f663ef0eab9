import { sql } from 'kysely';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openTestCell } from '../../test/database.ts';
import { addJobs, type JobTerms } from './add-job.ts';
import type { Cell } from './cell.ts';

async function testCell(): Promise<Cell> {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  return cell;
}

const inMinutes = (minutes: number) => new Date(Date.now() + minutes * 60_000);

const add = (cell: Cell, terms: Partial<JobTerms>, ...keys: readonly string[]) =>
  addJobs(
    cell.db,
    { task: 'tell', at: null, keepsTime: false, priority: 0, spares: false, ...terms },
    keys.map((key) => ({ key, payload: { key } })),
  );

type Row = {
  readonly key: string | null;
  readonly revision: number;
  readonly run_at: Date;
  readonly attempts: number;
};

const rows = async (cell: Cell): Promise<readonly Row[]> =>
  (
    await sql<Row>`select key, revision, run_at, attempts from graphile_worker._private_jobs order by id`.execute(
      cell.db,
    )
  ).rows;

/** What workers are told by, in what is done. */
async function wakesOf(cell: Cell, work: () => Promise<void>): Promise<readonly unknown[]> {
  const client = new Client(cell.url);
  await client.connect();
  const heard: unknown[] = [];
  client.on('notification', ({ payload }) => heard.push(JSON.parse(payload ?? '')));
  await client.query('listen "jobs:insert"');
  await work();
  // Answered after whatever was said before.
  await client.query('select 1');
  await client.end();
  return heard;
}

describe('a job', () => {
  it('that is due wakes a worker, and one that is not wakes nobody', async () => {
    const cell = await testCell();
    expect(await wakesOf(cell, () => add(cell, { at: inMinutes(1) }, 'a', 'b'))).toEqual([]);
    expect(await wakesOf(cell, () => add(cell, {}, 'c', 'd'))).toMatchObject([{ count: 2 }]);
    expect((await rows(cell)).map(({ key }) => key)).toEqual(['a', 'b', 'c', 'd']);
  });

  it('of the same key is one job: the last word on when counts, unless it keeps its time', async () => {
    const cell = await testCell();
    const [first, second, third] = [inMinutes(1), inMinutes(3), inMinutes(2)];
    await add(cell, { at: first }, 'a');
    await add(cell, { at: second }, 'a');
    expect(await rows(cell)).toMatchObject([{ key: 'a', revision: 1, run_at: second }]);
    await add(cell, { at: third, keepsTime: true }, 'a');
    expect(await rows(cell)).toMatchObject([{ key: 'a', revision: 2, run_at: second }]);
  });

  it('that waits for the same instant is left as it is, if it may be', async () => {
    const cell = await testCell();
    const at = inMinutes(5);
    for (const more of [{}, { spares: true }, { at: inMinutes(9), spares: true, keepsTime: true }])
      await add(cell, { at, ...more }, 'a');
    expect(await rows(cell)).toMatchObject([{ revision: 0, run_at: at }]);
    await add(cell, { at: inMinutes(4), spares: true }, 'a');
    expect(await rows(cell)).toMatchObject([{ revision: 1 }]);
  });

  it('that has begun gives up its key, and the new one is beside it; what failed for good begins anew', async () => {
    const cell = await testCell();
    await add(cell, {}, 'a', 'b');
    await sql`update graphile_worker._private_jobs set attempts = 1, locked_at = now(), locked_by = 'w' where key = 'a'`.execute(
      cell.db,
    );
    await sql`update graphile_worker._private_jobs set attempts = max_attempts where key = 'b'`.execute(
      cell.db,
    );
    await add(cell, {}, 'a', 'b');
    expect(await rows(cell)).toMatchObject([
      { key: null, attempts: 20 },
      { key: 'b', attempts: 0 },
      { key: 'a', attempts: 0 },
    ]);
  });
});
