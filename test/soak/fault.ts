// What happens to the world while a soak runs: its database's machine vanishes, its disk is full, its mirrors are damaged,
// or a backup is under way while months are made.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { createRandom } from '#tool/simulate/kernel/random.ts';
import type { Disturbance } from './soak.ts';

/** What a row counts besides what every soak does. */
export type Counts = Map<string, number>;

export const count = (counts: Counts, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);

export const within = async (ms: number, signal: AbortSignal) => {
  await sleep(ms, undefined, { signal }).catch(() => undefined);
};

async function withDatabase<Result>(url: string, work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // What breaks the connection fails its query, too.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

const landings = (client: Client): Promise<number> =>
  client
    .query<{ n: number }>(`select count(*)::int as n from landing where status = 'landed'`)
    .then(({ rows }) => rows[0]!.n);

export const failOverFigure = 'seconds from the loss to the next landing, at most';
const machineAwayMs = 5_000;
const failOverShares = [0.15, 0.4, 0.65];

/** The machine of the database vanishes, and another takes its place; each time until something lands again. */
export const loseMachine =
  (prs: number, counts: Counts): Disturbance =>
  async ({ world, progress, signal }) => {
    const { url, failOver } = world.database;
    for (const share of failOverShares) {
      while (!signal.aborted && progress.ended < share * prs) await within(100, signal);
      if (signal.aborted) return;
      const lostAt = performance.now();
      await failOver(machineAwayMs);
      count(counts, 'machines that vanished');
      await withDatabase(url, async (client) => {
        const before = await landings(client);
        while (!signal.aborted && (await landings(client)) === before) await within(100, signal);
      });
      const seconds = (performance.now() - lostAt) / 1_000;
      counts.set(failOverFigure, Math.max(counts.get(failOverFigure) ?? 0, seconds));
    }
  };

/** Writes until the disk is full. */
function fill(file: string): void {
  const descriptor = openSync(file, 'w');
  const chunk = Buffer.alloc(65_536, 1);
  try {
    for (;;) writeSync(descriptor, chunk);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** The disk of the mirrors is full for some seconds, again and again. */
export const fillDisk =
  (seed: number, counts: Counts): Disturbance =>
  async ({ world, signal }) => {
    const random = createRandom(seed, 'disk');
    const ballast = join(world.mirrors, 'ballast');
    while (!signal.aborted) {
      await within(2_000 + random() * 3_000, signal);
      if (signal.aborted) break;
      fill(ballast);
      count(counts, 'times the disk was full');
      await within(3_000 + random() * 5_000, signal);
      rmSync(ballast, { force: true });
    }
  };

/** Files of a mirror whose loss git notices. */
const damageable = (mirrors: string): string[] =>
  readdirSync(mirrors, { recursive: true, encoding: 'utf8' })
    .filter((name) =>
      /objects\/(?:pack\/.*\.(?:pack|idx)|[0-9a-f]{2}\/[0-9a-f]{38})$|packed-refs$/.test(name),
    )
    .map((name) => join(mirrors, name));

/** The middle of a file reads as zeros. */
function damage(file: string): void {
  const { size } = statSync(file);
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(Math.max(1, Math.ceil(size / 2))), 0, undefined, Math.floor(size / 4));
  closeSync(descriptor);
}

const damagesMax = 12;
const filesPerDamage = 8;

/** Files of the mirrors are damaged, several at a time. */
export const damageMirrors =
  (seed: number, counts: Counts): Disturbance =>
  async ({ world, signal }) => {
    const random = createRandom(seed, 'damage');
    for (let turn = 0; turn < damagesMax && !signal.aborted; turn++) {
      await within(3_000 + random() * 3_000, signal);
      if (signal.aborted) return;
      const files = damageable(world.mirrors);
      let damaged = 0;
      for (let pick = 0; pick < filesPerDamage && files.length > 0; pick++)
        try {
          damage(files[Math.floor(random() * files.length)]!);
          damaged += 1;
        } catch (error) {
          // Git has packed or removed it meanwhile.
          if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        }
      if (damaged > 0) count(counts, 'times a mirror was damaged');
    }
  };

export const dumpFigures = {
  made: 'months made while a backup was under way',
  landed: 'landings while a backup was under way',
  failed: 'backups that failed',
};
const dumpsWanted = 3;

/** A backup whose output is not read holds its locks for as long; meanwhile a month is made that was not there. */
export const dumpWhileMonthsAreMade =
  (counts: Counts): Disturbance =>
  async ({ world, signal }) => {
    const { url, binDir } = world.database;
    for (const name of Object.values(dumpFigures)) counts.set(name, 0);
    await withDatabase(url, async (client) => {
      for (let dumps = 0; dumps < dumpsWanted && !signal.aborted; dumps++) {
        await within(1_000, signal);
        const missing = await removeLastMonth(client);
        const dump = spawn(join(binDir, 'pg_dump'), ['--dbname', url], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const ended = once(dump, 'exit') as Promise<[number | null]>;
        await until(signal, () => isDumping(client));
        const before = await landings(client);
        await client.query(
          `select graphile_worker.add_job('maintain-history', job_key := 'maintain-history')`,
        );
        await until(signal, async () => (await lastMonth(client)) === missing);
        const isHeld = await isDumping(client);
        if (isHeld && (await lastMonth(client)) === missing) count(counts, dumpFigures.made);
        await until(signal, async () => (await landings(client)) > before);
        if (await isDumping(client))
          counts.set(dumpFigures.landed, counts.get(dumpFigures.landed)! + (await landings(client)) - before);
        dump.stdout.resume();
        const [code] = await ended;
        if (code !== 0) count(counts, dumpFigures.failed);
      }
    });
  };

const until = async (signal: AbortSignal, isSo: () => Promise<boolean>) => {
  for (const end = Date.now() + 60_000; !signal.aborted && Date.now() < end && !(await isSo());)
    await within(50, signal);
};

async function isDumping(client: Client): Promise<boolean> {
  const { rowCount } = await client.query(`select from pg_locks l join pg_stat_activity a on a.pid = l.pid
    where a.application_name = 'pg_dump' and l.relation = 'queue_fact'::regclass and l.granted`);
  return (rowCount ?? 0) > 0;
}

async function lastMonth(client: Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>(`select c.relname as name from pg_inherits i
    join pg_class c on c.oid = i.inhrelid where i.inhparent = 'queue_fact'::regclass order by c.relname desc limit 1`);
  return rows[0]!.name;
}

/** Answers with its name. It is a month of the future, so it is empty. */
async function removeLastMonth(client: Client): Promise<string> {
  const name = await lastMonth(client);
  await client.query(`alter table queue_fact detach partition ${name} concurrently`);
  await client.query(`drop table ${name}`);
  return name;
}
