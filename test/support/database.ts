// Databases for tests: each is a clone of the migrated template, made in some milliseconds.
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { inject } from 'vitest';
import { type Cell, openCell } from '#db/cell.ts';
import { templateName } from './global-setup.ts';

export const databaseUrl = (database: string): string => inject('clusterUrl').replace(/[^/]*$/, database);

/** Where a process that runs on the database keeps its repositories. */
export const processFolder = (database: string): string => join(tmpdir(), `signalbox-process-${database}`);

async function onCluster<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
  const client = new Client(inject('clusterUrl'));
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A new database; `template0` for an empty one. */
export async function createDatabase(template = templateName): Promise<string> {
  const name = `t_${randomBytes(6).toString('hex')}`;
  await onCluster((client) =>
    client.query(`create database ${name} template ${template} strategy file_copy`),
  );
  return name;
}

export async function dropDatabase(name: string): Promise<void> {
  await onCluster((client) => client.query(`drop database if exists ${name} with (force)`));
  // A git of a process that was killed may still write there for a moment.
  await rm(processFolder(name), { recursive: true, force: true, maxRetries: 10 });
}

/** A cell on a database of its own, and the way to end both. */
export async function openTestCell(
  name = 'main',
  template?: string,
): Promise<{ cell: Cell; close: () => Promise<void> }> {
  const database = await createDatabase(template);
  const cell = openCell({
    name,
    url: databaseUrl(database),
    connections: 5,
    readerConnections: 2,
    onError: () => undefined,
  });
  return {
    cell,
    close: async () => {
      await cell.close();
      await dropDatabase(database);
    },
  };
}
