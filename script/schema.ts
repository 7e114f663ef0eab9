// `npm run schema` writes migration/schema.sql, the dump of the schema that the migrations make. test/service/schema.test.ts fails
// when it is not up to date.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { openCell } from '#db/cell.ts';
import { migrateTables } from '#db/migrate.ts';
import { type Cluster, startCluster } from './postgres.ts';

type ClusterAddress = Pick<Cluster, 'url' | 'binDir'>;

export function dumpSchema(cluster: ClusterAddress, database: string): string {
  const dump = execFileSync(
    join(cluster.binDir, 'pg_dump'),
    [
      '--schema-only',
      '--no-owner',
      '--no-privileges',
      '--exclude-table=kysely_*',
      '-n',
      'public',
      cluster.url(database),
    ],
    { encoding: 'utf8' },
  );
  // What differs between two runs or two minor versions of pg_dump says nothing about the schema.
  return `${dump
    .split('\n')
    .filter(
      (line) => !/^(--|SET |SELECT pg_catalog|\\(un)?restrict|CREATE SCHEMA|COMMENT ON SCHEMA)/.test(line),
    )
    .join('\n')
    .replaceAll(/\n{2,}/g, '\n\n')
    .trim()}\n`;
}

export async function createMigratedDatabase(cluster: ClusterAddress, database: string): Promise<void> {
  const client = new Client(cluster.url('postgres'));
  await client.connect();
  await client.query(`create database ${database}`);
  await client.end();
  const cell = openCell({
    name: 'main',
    url: cluster.url(database),
    connections: 2,
    readerConnections: 1,
    onError: () => undefined,
  });
  await migrateTables(cell);
  await cell.close();
}

if (import.meta.main) {
  const cluster = await startCluster();
  try {
    await createMigratedDatabase(cluster, 'schema_dump');
    writeFileSync('migration/schema.sql', dumpSchema(cluster, 'schema_dump'));
  } finally {
    await cluster.stop();
  }
}
