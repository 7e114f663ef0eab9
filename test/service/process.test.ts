import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createDatabase, databaseUrl, dropDatabase, processFolder } from '../support/database.ts';
import { main, pr } from '../support/harness.ts';
import { post, runMain, type ServerProcess, startProcess } from '../support/server-process.ts';

const token = 'fake-token-for-tests-0123';
const bootstrap = { SIGNALBOX_BOOTSTRAP_ORG: 'acme', SIGNALBOX_BOOTSTRAP_TOKEN: token };

describe('the process', () => {
  let database: string;
  let url: string;
  const started: ServerProcess[] = [];
  const start = async (...args: Parameters<typeof startProcess>) => {
    const server = await startProcess(...args);
    started.push(server);
    return server;
  };
  beforeEach(async () => {
    database = await createDatabase('template0');
    url = databaseUrl(database);
  });
  afterEach(async () => {
    for (const server of started.splice(0)) await server.stop();
    await dropDatabase(database);
  });

  /** Somebody only submitted it: the queue tests it at the sandbox and lands it. */
  const untilMerged = async (address: string, number: number) => {
    const body = JSON.stringify(pr(number));
    const read = async () => {
      const answer = await post(address, '/v1/getSubmittedPullRequest', token, body);
      return ((await answer.json()) as { state: string }).state;
    };
    await expect.poll(read, { timeout: 40_000, interval: 200 }).toBe('merged');
  };

  it('migrates, serves and works as one with `start`, from an empty database', async () => {
    const server = await start('start', url, bootstrap);
    expect((await post(server.url, '/v1/createQueue', token, JSON.stringify(main))).status).toBe(200);
    await post(server.url, '/v1/submitPullRequest', token, JSON.stringify(pr(7)));
    await untilMerged(server.url, 7);
    // Mirrors are private source: other users of the machine may read none of its files.
    const folder = processFolder(database);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(files.some((file) => file.endsWith('.git/HEAD'))).toBe(true);
    expect(files.filter((file) => (statSync(join(folder, file)).mode & 0o077) !== 0)).toEqual([]);
    expect(await (await fetch(`${server.url}/healthz`)).json()).toEqual({ status: 'ok' });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toMatch(
      /signalbox_http_request_duration_seconds_count\{operation="createQueue",status="200"\} 1/,
    );
    expect(metrics).toMatch(/^signalbox_workers_alive\{cell="main"\} 1$/m);
    expect(await server.stop()).toBe(0);
    expect(JSON.stringify(server.logs())).not.toContain(token);
  });

  it('lets API and worker be processes of their own', async () => {
    expect((await runMain(url, ['migrate'])).code).toBe(0);
    const api = await start('serve', url, bootstrap);
    await start('work', url);
    await post(api.url, '/v1/createQueue', token, JSON.stringify(main));
    await post(api.url, '/v1/submitPullRequest', token, JSON.stringify(pr(7)));
    await untilMerged(api.url, 7);
    const landing = await (await post(api.url, '/v1/getLanding', token, JSON.stringify(pr(7)))).json();
    expect(landing).toMatchObject({ proof: 'exact', members: [{ prNumber: 7 }] });
  });

  it('answers the requests under way before it ends on SIGTERM, and takes no new ones', async () => {
    const server = await start('start', url, bootstrap);
    await post(server.url, '/v1/createQueue', token, JSON.stringify(main));
    // A lock held from outside keeps eight submissions under way.
    const client = new Client(url);
    await client.connect();
    await client.query('begin; lock table queue_entry in access exclusive mode');
    const underWay = [1, 2, 3, 4, 5, 6, 7, 8].map((number) =>
      post(server.url, '/v1/submitPullRequest', token, JSON.stringify(pr(number))),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    const exited = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 300));
    await expect(fetch(`${server.url}/healthz`)).rejects.toThrow('fetch failed');
    await client.query('commit');
    await client.end();
    expect((await Promise.all(underWay)).map((answer) => answer.status)).toEqual(
      Array.from({ length: 8 }, () => 200),
    );
    expect((await exited)[0]).toBe(0);
  });

  it('accepts a schema to which a newer one has added, and refuses one that lacks what it uses', async () => {
    const migrated = await createDatabase();
    const client = new Client(databaseUrl(migrated));
    await client.connect();
    const record = (name: string) =>
      client.query('insert into kysely_migration (name, timestamp) values ($1, now()::text)', [name]);
    await record('9998-later.sql');
    expect(await runMain(databaseUrl(migrated), ['migrate'])).toMatchObject({ code: 0 });
    await record('9999-contract-since-9998.sql');
    await client.end();
    const ended = await Promise.all(
      ['migrate', 'start'].map((command) => runMain(databaseUrl(migrated), [command])),
    );
    await dropDatabase(migrated);
    expect(ended.map(({ code, stderr }) => [code, stderr.includes('9999-contract-since-9998.sql')])).toEqual([
      [1, true],
      [1, true],
    ]);
  });

  it('tells every problem of its configuration at once, by variable', async () => {
    const extra = { SIGNALBOX_RATE_LIMIT: 'many', SIGNALBOX_PORTT: '1', SIGNALBOX_BOOTSTRAP_TOKEN: 'short' };
    const { code, stderr } = await runMain('mysql://nowhere', ['start'], extra);
    expect(code).toBe(2);
    for (const name of [
      'DATABASE_URL:',
      'SIGNALBOX_RATE_LIMIT:',
      'SIGNALBOX_PORTT:',
      'SIGNALBOX_BOOTSTRAP_TOKEN:',
    ])
      expect(stderr).toContain(name);
  });

  it('answers 503 while its database is away, and goes on when it is back', async () => {
    const server = await start('start', url, bootstrap);
    await post(server.url, '/v1/createQueue', token, JSON.stringify(main));
    const read = () => post(server.url, '/v1/getQueue', token, JSON.stringify(main));
    const elsewhere = new Client(databaseUrl('postgres'));
    await elsewhere.connect();
    await elsewhere.query(`alter database ${database} allow_connections false`);
    await elsewhere.query(`select pg_terminate_backend(pid) from pg_stat_activity where datname = $1`, [
      database,
    ]);
    const away = await read();
    expect(away.status).toBe(503);
    expect(Number(away.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(((await away.json()) as { error: { code: string } }).error.code).toBe('UNAVAILABLE');
    expect((await fetch(`${server.url}/readyz`)).status).toBe(503);
    await elsewhere.query(`alter database ${database} allow_connections true`);
    await elsewhere.end();
    await expect.poll(async () => (await read()).status).toBe(200);
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
  });
});

describe('signalbox admin', () => {
  it('creates organizations, and creates, lists and revokes tokens', async () => {
    const database = await createDatabase();
    const url = databaseUrl(database);
    const admin = (...args: string[]) => runMain(url, ['admin', ...args]);

    expect((await admin('create-token', 'acme')).code).toBe(1);
    expect((await admin('create-organization', 'acme', '--name', 'Acme')).stdout).toContain('acme');
    expect((await admin('create-organization', 'acme')).code).toBe(1);
    expect((await admin('create-token', 'acme', '--scopes', 'read,everything')).code).toBe(2);
    const made = await admin(
      'create-token',
      'acme',
      '--name',
      'ci',
      '--scopes',
      'read,submit',
      '--expires-in-days',
      '30',
    );
    const token = made.stdout.trim();
    expect(token).toMatch(/^sbx_main_[0-9a-z]{10}_[0-9a-f]{64}$/);
    const listed = (await admin('list-tokens', 'acme')).stdout;
    expect(listed).toMatch(/^[0-9a-z]{10}\tci\tread,submit\t.*\texpires 20/);
    expect(listed).not.toContain(token.split('_')[3]);

    const server = await startProcess('serve', url);
    const ask = () => post(server.url, '/v1/getOrganization', token, '{}');
    expect(await (await ask()).json()).toMatchObject({
      organization: { slug: 'acme', name: 'Acme' },
      token: { name: 'ci' },
    });
    expect((await admin('revoke-token', listed.split('\t')[0]!)).code).toBe(0);
    expect((await ask()).status).toBe(401);
    expect((await admin('revoke-token', listed.split('\t')[0]!)).code).toBe(1);
    await server.stop();
    await dropDatabase(database);
  });
});
