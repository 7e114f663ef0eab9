// The sandbox host never answers for a real Git host: not while the connections cannot be read, and not between the moment
// a host is connected and the next time that its process looks.

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { SandboxMode } from '#config/variable.ts';
import type { Cell, Tx } from '#db/cell.ts';
import { saveConnection } from '#db/account/connection-store.ts';
import { ensureOrganization } from '#db/account/organization-store.ts';
import { ensureRepository } from '#db/account/repository-store.ts';
import { withTransaction } from '#db/transaction.ts';
import type { Host } from '#host/host.ts';
import type { SandboxHost } from '#host/sandbox/host.ts';
import { openHosts } from '../../src/hosts.ts';
import { databaseUrl, openTestCell } from '../support/database.ts';
import { runMain, startProcess } from '../support/server-process.ts';
import { sql } from '../support/sql.ts';

const key = randomBytes(32);

async function openCellForTest(name = 'main'): Promise<Cell> {
  const { cell, close } = await openTestCell(name);
  onTestFinished(close);
  return cell;
}

async function connect(cell: Cell, host = 'github.com') {
  const { id: organizationId } = await ensureOrganization(cell.db, 'acme', 'acme');
  const credentials = JSON.stringify({ kind: 'token', token: 'x' });
  await withTransaction(cell, (tx) =>
    saveConnection(tx, key, { organizationId, kind: 'github', host, url: `https://${host}`, credentials }),
  );
}

type Opened = Awaited<ReturnType<typeof openHosts>> & { readonly warnings: readonly string[] };

async function open(sandbox: SandboxMode, cells: readonly Cell[]): Promise<Opened> {
  const dataDir = await mkdtemp(join(tmpdir(), 'signalbox-real-host-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const warnings: string[] = [];
  const ignore = () => undefined;
  const log = {
    debug: ignore,
    info: ignore,
    warn: (_: object, message: string) => void warnings.push(message),
    error: ignore,
  };
  const options = { sandbox, sandboxScripts: false, dataDir, secretKey: key, publicUrl: null, log };
  const hosts = await openHosts({ ...options, clock: { now: () => new Date() } }, cells);
  onTestFinished(hosts.close);
  return { ...hosts, warnings };
}

/** Calls of the cell's database, each announced before it is sent. */
function watched(cell: Cell, onStatement: () => Promise<void>): Cell {
  const watchedDb = <Watched extends Tx>(db: Watched): Watched =>
    new Proxy(db, {
      get: (target, name) =>
        name === 'run'
          ? async (text: string, values: readonly unknown[]) => {
              await onStatement();
              return target.run(text, values);
            }
          : (Reflect.get(target, name) as unknown),
    });
  return { ...cell, db: watchedDb(cell.db), reader: watchedDb(cell.reader) };
}

const repository = async (cell: Cell, host: string, isSandbox: boolean) => {
  const { id: organizationId } = await ensureOrganization(cell.db, 'acme', 'acme');
  const row = await ensureRepository(cell.db, organizationId, {
    host,
    owner: 'acme',
    name: 'widgets',
    isSandbox,
  });
  return { ...row, organizationId };
};

const readFirst = async (host: Host, cell: Cell, name: string) =>
  host.readPullRequest({ repository: await repository(cell, name, true), number: 1 });

const unavailable = expect.objectContaining({ trouble: 'unavailable' }) as unknown;

describe('with SIGNALBOX_SANDBOX unset', () => {
  it('the sandbox serves every name while no host is connected, and says so', async () => {
    const cell = await openCellForTest();
    const hosts = await open('auto', [cell]);
    expect(hosts.hostFor('main', 'github.com')?.kind).toBe('sandbox');
    expect(hosts.isSandboxServing('main')).toBe(true);
    expect(hosts.warnings).toEqual([expect.stringMatching(/^the sandbox host serves/)]);
    const named = await repository(cell, 'github.com', true);
    const sandbox = hosts.hostFor('main', 'github.com') as SandboxHost;
    expect(await sandbox.createNamedPullRequest({ repository: named, number: 1 }, 'main')).toMatchObject({
      number: 1,
    });
    expect(await readFirst(sandbox, cell, 'github.com')).toMatchObject({ number: 1, baseBranch: 'main' });
  });

  it('a host that was connected a moment ago is not served by the sandbox, nor is any other name', async () => {
    const cell = await openCellForTest();
    const hosts = await open('auto', [cell]);
    const sandbox = hosts.hostFor('main', 'github.com')!;
    const elsewhere = hosts.hostFor('main', 'sandbox.example')!;
    await connect(cell);
    await expect(readFirst(sandbox, cell, 'github.com')).rejects.toEqual(unavailable);
    await expect(readFirst(elsewhere, cell, 'sandbox.example')).rejects.toEqual(unavailable);
    // The first of these calls had the connections read again.
    expect(hosts.hostFor('main', 'github.com')?.kind).toBe('github');
    expect(hosts.hostFor('main', 'sandbox.example')).toBeNull();
    expect(hosts.isSandboxServing('main')).toBe(false);
  });
});

describe('with SIGNALBOX_SANDBOX=on', () => {
  it('the sandbox serves beside a connected host, and never its name', async () => {
    const cell = await openCellForTest();
    await connect(cell);
    const hosts = await open('on', [cell]);
    expect(hosts.hostFor('main', 'GitHub.com')?.kind).toBe('github');
    expect(hosts.hostFor('main', 'sandbox.example')?.kind).toBe('sandbox');
    expect(hosts.isSandboxServing('main')).toBe(true);
    const elsewhere = hosts.hostFor('main', 'git.example')!;
    await connect(cell, 'git.example');
    await expect(readFirst(elsewhere, cell, 'git.example')).rejects.toEqual(unavailable);
    expect(hosts.hostFor('main', 'git.example')?.kind).toBe('github');
  });

  it('a name with a repository of a real host is served by nothing while it has no connection', async () => {
    const cell = await openCellForTest();
    await repository(cell, 'github.com', false);
    for (const mode of ['on', 'auto'] as const) {
      const hosts = await open(mode, [cell]);
      expect(hosts.hostFor('main', 'github.com')).toBeNull();
    }
  });

  it('repositories that the sandbox served belong to the host that is connected under their name', async () => {
    const cell = await openCellForTest();
    await repository(cell, 'github.com', true);
    await connect(cell);
    await sql(cell.db)`delete from host_connection`;
    expect((await open('on', [cell])).hostFor('main', 'github.com')).toBeNull();
  });
});

describe('a process that starts', () => {
  it('ends if it cannot read its connections', async () => {
    const cell = watched(await openCellForTest(), () => Promise.reject(new Error('Connection terminated')));
    for (const mode of ['auto', 'on', 'off'] as const)
      await expect(open(mode, [cell])).rejects.toThrow('Connection terminated');
  });

  it('serves the cells that it can read, and answers for no host of the other until it can', async () => {
    const away = await openCellForTest();
    const well = await openCellForTest('east');
    await connect(away);
    await connect(well);
    let isAway = true;
    const first = watched(away, () =>
      isAway ? Promise.reject(new Error('Connection terminated')) : Promise.resolve(),
    );
    for (const mode of ['auto', 'on', 'off'] as const) {
      isAway = true;
      const hosts = await open(mode, [first, well]);
      expect(hosts.hostFor('east', 'github.com')?.kind).toBe('github');
      for (const name of ['github.com', 'sandbox.example'])
        expect(() => hosts.hostFor('main', name)).toThrow(
          expect.objectContaining({ code: 'UNAVAILABLE' }) as Error,
        );
      expect([hosts.isRead('main'), hosts.isRead('east')]).toEqual([false, true]);
      isAway = false;
      await hosts.refresh();
      await hosts.whenRead('main');
      expect(hosts.hostFor('main', 'github.com')?.kind).toBe('github');
    }
  });

  it('returns no pull request of the sandbox for a connected host, whichever statement the database is killed at', async () => {
    const cell = await openCellForTest();
    await repository(cell, 'github.com', true);
    const database = new URL(cell.url).pathname.slice(1);
    const cluster = new Client(databaseUrl('postgres'));
    await cluster.connect();
    onTestFinished(() => cluster.end());
    const allow = (isAllowed: boolean) =>
      cluster.query(`alter database ${database} with allow_connections ${isAllowed}`);
    /** The database is there again, and the pools have noticed. */
    const heal = async () => {
      await allow(true);
      for (const db of [cell.db, cell.db, cell.reader, cell.reader])
        await vi.waitFor(() => db.run('select $1::int', [1]));
    };
    const kill = async () => {
      await allow(false);
      await cluster.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [
        database,
      ]);
    };

    const starts: string[] = [];
    /** Start, and read a pull request, with the host connected before or right after; answers how many statements ran. */
    const walk = async (mode: SandboxMode, connects: 'before' | 'after', killAt: number): Promise<number> => {
      await sql(cell.db)`delete from host_connection`;
      await sql(cell.db)`update repository set is_sandbox = true`;
      const own = await repository(cell, 'github.com', true);
      if (connects === 'before') await connect(cell);
      let count = 0;
      const seen = watched(cell, async () => {
        count += 1;
        if (count === killAt) await kill();
      });
      // Null: the process does not start.
      const hosts = await open(mode, [seen]).catch(() => null);
      await heal();
      if (hosts === null) {
        starts.push(count === killAt ? 'killed' : 'failed');
        return count;
      }
      if (connects === 'after') await connect(cell);
      // Twice: while the database is killed, and when it is well again.
      for (let look = 1; look <= 2; look++) {
        const host = hosts.hostFor('main', 'github.com');
        if (host?.kind !== 'sandbox') continue;
        starts.push(connects === 'before' ? 'sandbox' : 'guarded');
        const answer = await host.readPullRequest({ repository: own, number: 1 }).catch(() => null);
        if (answer !== null) starts.push('made up');
        await heal();
      }
      starts.push(hosts.hostFor('main', 'github.com')?.kind ?? 'none');
      return count;
    };

    for (const mode of ['auto', 'on'] as const)
      for (const connects of ['before', 'after'] as const) {
        const statements = await walk(mode, connects, Number.POSITIVE_INFINITY);
        for (let killAt = 1; killAt <= statements; killAt++) await walk(mode, connects, killAt);
      }
    expect(new Set(starts)).toEqual(new Set(['github', 'killed', 'guarded']));
    expect(starts.length).toBeGreaterThan(12);
    const { rows } = await cell.pool.query('select 1 from sandbox_pull_request');
    expect(rows).toEqual([]);
  });

  it('as a real process: it serves and works beside a cell that is away, and ends where every cell is', async () => {
    const cell = await openCellForTest();
    const away = 'postgresql://postgres@127.0.0.1:1/none';
    const extra = { SIGNALBOX_CELLS: `main=${cell.url} east=${away}` };
    for (const command of ['serve', 'work'] as const) {
      const server = await startProcess(command, cell.url, extra);
      onTestFinished(async () => void (await server.stop()));
      expect(server.logs()).toContainEqual(
        expect.objectContaining({ cell: 'east', msg: 'could not read host connections' }),
      );
      expect(await server.stop()).toBe(0);
      const ended = await runMain(cell.url, [command], { SIGNALBOX_CELLS: `east=${away}` });
      expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('ECONNREFUSED')]);
    }
  });
});
