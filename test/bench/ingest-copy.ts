// What is beaten or not: PostgreSQL's own COPY, of the same results as one row each into a table without any index.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { Cluster } from '../../script/postgres.ts';
import { type Cleanup, temporaryDir, withClient } from './fixture.ts';

const rowsPerUpload = 5_000;

export type Copied = { readonly perSecond: number; readonly bytesPerRow: number };

export async function copyRows(cleanup: Cleanup, cluster: Cluster, rows: number): Promise<Copied> {
  const url = cluster.url('bare');
  await withClient(cluster.url('postgres'), (client) => client.query('create database bare'));
  await withClient(url, (client) =>
    client.query(`create table result (repository_id uuid, test_case_id uuid, upload_id uuid, ran_at timestamptz,
      outcome text, duration_ms integer)`),
  );
  const file = join(temporaryDir(cleanup, 'signalbox-copy-'), 'rows.tsv');
  const out = createWriteStream(file);
  const id = (kind: string, number: number) =>
    `01940000-0000-7000-8000-${kind}${String(number).padStart(11, '0')}`;
  for (let from = 0; from < rows; from += rowsPerUpload) {
    const lines = Array.from(
      { length: rowsPerUpload },
      (_, index) =>
        `${id('1', 1)}\t${id('2', (from + index) % 100_000)}\t${id('3', from)}\t2026-01-02T03:04:05Z\t${index % 300 === 0 ? 'failed' : 'passed'}\t${index % 1_000}\n`,
    );
    if (!out.write(lines.join(''))) await once(out, 'drain');
  }
  out.end();
  await finished(out);
  const startedAt = performance.now();
  execFileSync(
    join(cluster.binDir, 'psql'),
    [url, '-q', '-v', 'ON_ERROR_STOP=1', '-c', `\\copy result from '${file}'`],
    {
      stdio: 'ignore',
    },
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  const bytes = await withClient(url, async (client) => {
    const answer = await client.query<{ bytes: number }>(
      `select pg_relation_size('result')::float8 as bytes`,
    );
    return answer.rows[0]!.bytes;
  });
  return { perSecond: rows / seconds, bytesPerRow: bytes / rows };
}
