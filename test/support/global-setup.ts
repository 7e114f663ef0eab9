// One private cluster in memory for the whole run, with a migrated template database that every world is cloned from.
import type { TestProject } from 'vitest/node';
import { Client } from 'pg';
import { openCell } from '#db/cell.ts';
import { migrateCell } from '#db/migrate.ts';
import { startCluster } from '../../script/postgres.ts';

declare module 'vitest' {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- an augmentation must be an interface
  export interface ProvidedContext {
    clusterUrl: string;
    binDir: string;
  }
}

export const templateName = 'signalbox_template';

export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const cluster = await startCluster();
  const client = new Client(cluster.url('postgres'));
  await client.connect();
  await client.query(`create database ${templateName}`);
  await client.end();
  const cell = openCell({
    name: 'main',
    url: cluster.url(templateName),
    connections: 2,
    readerConnections: 1,
    onError: () => undefined,
  });
  await migrateCell(cell, new Date());
  await cell.close();
  project.provide('clusterUrl', cluster.url('postgres'));
  project.provide('binDir', cluster.binDir);
  return () => cluster.stop();
}
