import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openTestCell } from '../../test/support/database.ts';
import { isDatabaseAway, isDatabaseSlow } from './away.ts';
import { workLimits } from './connection-limit.ts';
import { openJobPool, openTransactionPool } from './pool.ts';

const limits = { statementMs: 60_000, lockMs: 60_000, idleMs: 60_000, silentMs: 400 };

async function openCellHere() {
  const { cell, close } = await openTestCell();
  onTestFinished(close);
  return cell;
}

it('every connection has limits for a statement, a lock and an idle transaction', async () => {
  const cell = await openCellHere();
  const jobs = openJobPool({ url: cell.url, max: 1, limits: workLimits, onError: () => undefined });
  onTestFinished(() => jobs.end());
  type Setting = { readonly name: string; readonly setting: string };
  const text = `select name, setting from pg_settings where name in
    ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout')`;
  const lists = await Promise.all([
    jobs.query<Setting>(text).then(({ rows }) => rows),
    ...[cell.db, cell.reader, cell.heavyReader, cell.locks, cell.maintenance.db].map((db) =>
      db.run(text, []).then((rows) => rows as readonly Setting[]),
    ),
  ]);
  const shown = lists.map((rows) =>
    Object.fromEntries(rows.map(({ name, setting }) => [name, Number(setting)])),
  );
  for (const row of shown)
    expect(row).toEqual({
      statement_timeout: expect.toSatisfy((ms: number) => ms > 0) as number,
      lock_timeout: expect.toSatisfy((ms: number) => ms > 0 && ms <= workLimits.lockMs) as number,
      idle_in_transaction_session_timeout: expect.toSatisfy((ms: number) => ms > 0) as number,
    });
  // Failover within half a minute: what was under way is given up before.
  for (const { statement_timeout: ms } of shown.slice(0, 5)) expect(ms).toBeLessThanOrEqual(20_000);
});

it('a statement that takes longer than it may is ended, and the connection stays open', async () => {
  const cell = await openCellHere();
  const options = { url: cell.url, max: 1, limits: { ...limits, statementMs: 50, silentMs: 60_000 } };
  const { db, pool } = openTransactionPool({ ...options, onError: () => undefined });
  onTestFinished(() => pool.end());
  const error: unknown = await db.run('select pg_sleep($1::float8)', [30]).catch((thrown: unknown) => thrown);
  expect(isDatabaseSlow(error)).toBe(true);
  expect(await db.run('select $1::int as one', [1])).toEqual([{ one: 1 }]);
});

/** Between us and the database, until it swallows everything and closes nothing, as a machine that vanished does. */
async function startWire(url: string) {
  const { hostname, port, searchParams } = new URL(url);
  const folder = searchParams.get('host');
  const state = { isCut: false };
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far =
      folder === null ? connect(Number(port), hostname) : connect(`${folder}/.s.PGSQL.${port || 5432}`);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => void (state.isCut || to.write(bytes)));
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const onWire = new URL(url);
  onWire.searchParams.delete('host');
  onWire.hostname = '127.0.0.1';
  onWire.port = String((server.address() as AddressInfo).port);
  return { url: onWire.href, state };
}

it('a connection to a machine that vanished is given up, and the next one works', async () => {
  const cell = await openCellHere();
  const wire = await startWire(cell.url);
  const { db, pool } = openTransactionPool({ url: wire.url, max: 1, limits, onError: () => undefined });
  onTestFinished(() => pool.end());
  expect(await db.run('select $1::int as one', [1])).toEqual([{ one: 1 }]);
  wire.state.isCut = true;
  const askedAt = performance.now();
  const error: unknown = await db.run('select $1::int as one', [2]).catch((thrown: unknown) => thrown);
  expect(isDatabaseAway(error)).toBe(true);
  expect(performance.now() - askedAt).toBeLessThan(5_000);
  wire.state.isCut = false;
  expect(await db.run('select $1::int as one', [3])).toEqual([{ one: 3 }]);
});

it('a connection that is idle is not taken for a silent one', async () => {
  const cell = await openCellHere();
  const { db, pool } = openTransactionPool({ url: cell.url, max: 1, limits, onError: () => undefined });
  onTestFinished(() => pool.end());
  const before = await db.run('select pg_backend_pid() as pid, $1::int', [1]);
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(await db.run('select pg_backend_pid() as pid, $1::int', [1])).toEqual(before);
});
