import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Pool } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { databaseUrl } from '../../../test/support/database.ts';
import { retryablePool } from './retryable-pool.ts';

function openPool(url = databaseUrl('postgres')): Pool {
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  onTestFinished(async () => {
    if (!pool.ending) await pool.end();
  });
  return retryablePool(pool, 2);
}

const starting = expect.objectContaining({ code: '57P03' }) as unknown;

describe('the connections of a worker', () => {
  it('report a broken one as a server that is starting', async () => {
    const client = await openPool().connect();
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const other = new Client(databaseUrl('postgres'));
    await other.connect();
    const sleeping = client.query('select pg_sleep(30)');
    sleeping.catch(() => undefined);
    await other.query('select pg_terminate_backend($1)', [rows[0]!.pid]);
    await other.end();
    await expect(sleeping).rejects.toEqual(starting);
    await expect(client.query('select 1')).rejects.toEqual(starting);
    client.release();
  });

  it('report a server that cannot be reached in the same way', async () => {
    await expect(openPool('postgresql://user@127.0.0.1:1/none').connect()).rejects.toEqual(starting);
  });

  it('report other errors as they are, and answer', async () => {
    const client = await openPool().connect();
    await expect(client.query('select * from nothing_there')).rejects.toEqual(
      expect.objectContaining({ code: '42P01' }),
    );
    expect((await client.query<{ one: number }>('select 1 as one')).rows).toEqual([{ one: 1 }]);
    client.release();
  });

  it('are not given any more after the end of the pool, and no error either', async () => {
    const pool = openPool();
    await pool.end();
    const asked = pool.connect().then(
      () => 'a connection',
      () => 'an error',
    );
    expect(await Promise.race([asked, sleep(200, 'nothing')])).toBe('nothing');
  });

  it('can be asked for with a callback', async () => {
    const { promise, resolve } = Promise.withResolvers<unknown>();
    openPool().connect((error, client, done) => {
      done();
      resolve(error ?? typeof client?.query);
    });
    expect(await promise).toBe('function');
  });
});
