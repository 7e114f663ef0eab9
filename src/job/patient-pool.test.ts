import { Client, Pool } from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { databaseUrl } from '../../test/database.ts';
import { patientPool } from './patient-pool.ts';

function openPool(url = databaseUrl('postgres')): Pool {
  const pool = new Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  onTestFinished(() => pool.end());
  return patientPool(pool, 2);
}

const starting = expect.objectContaining({ code: '57P03' }) as unknown;

describe('the connections of a worker', () => {
  it('tell of a broken one as of a server that is starting', async () => {
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

  it('tell the same of a server that cannot be reached', async () => {
    await expect(openPool('postgresql://nobody@127.0.0.1:1/none').connect()).rejects.toEqual(starting);
  });

  it('tell of other errors as they are, and answer', async () => {
    const client = await openPool().connect();
    await expect(client.query('select * from nothing_there')).rejects.toEqual(
      expect.objectContaining({ code: '42P01' }),
    );
    expect((await client.query<{ one: number }>('select 1 as one')).rows).toEqual([{ one: 1 }]);
    client.release();
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
