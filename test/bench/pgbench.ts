// The same statements by pgbench, for the record: what the database does when nothing at all stands before it.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadEntryStatement, saveEntriesStatement } from '#db/queue/entry-store.ts';
import { addReconcileStatement } from '#db/job/job.ts';
import { lockEntryStatement } from '#db/transaction.ts';
import { sandboxSelectStatement } from '#db/sandbox/sandbox-store.ts';
import { scopeStatement } from '#db/account/scope-view.ts';
import { branch, liveCount, repository, token } from './fixture.ts';
import { freshNumbers } from './load.ts';
import { submittedRows } from './statement.ts';

export type Ids = { readonly queueId: string; readonly repositoryId: string };

type PgbenchOptions = {
  readonly binDir: string;
  readonly url: string;
  readonly dir: string;
  readonly ids: Ids;
  readonly kind: 'read' | 'write';
  readonly clients: number;
  readonly seconds: number;
};

export type PgbenchResult = { readonly perSecond: number; readonly p50Ms: number; readonly p99Ms: number };

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The statement on one line, with SQL expressions for its parameters. */
const filled = (text: string, ...parameters: readonly string[]): string =>
  `${text.replaceAll(/\s+/g, ' ').replaceAll(/\$(\d+)/g, (_, index) => parameters[Number(index) - 1]!)};`;

function scope(): string {
  const hash = createHash('sha256').update(token).digest('hex');
  const { host, owner, name } = repository;
  return filled(
    scopeStatement,
    `'\\x${hash}'`,
    quoted(host),
    quoted(owner),
    quoted(name),
    quoted(branch),
    ':n',
  );
}

/**
 * JSON with the values of this very transaction: a variable cannot stand within a literal. And pgbench takes a colon
 * before a letter for a variable, within a literal too.
 */
function json(rows: readonly object[]): string {
  const text = JSON.stringify(rows)
    .replaceAll('":', '": ')
    .replaceAll(/:(?=\w)/g, String.raw`\u003a`);
  const values = {
    '@number': ':n::text',
    '@id': 'gen_random_uuid()::text',
    '@now': 'now()::text',
    '@seniority': `currval('entry_seniority')::text`,
  };
  return `${Object.entries(values).reduce(
    (inner, [mark, value]) => `replace(${inner}, '${mark}', ${value})`,
    quoted(text),
  )}::jsonb`;
}

function writeScript({ queueId, repositoryId }: Ids): string {
  const { entry, fact } = submittedRows({
    queueId,
    id: '@id',
    now: '@now',
    seniority: '@seniority',
    pullRequest: {
      number: '@number',
      title: 'Fix error messages',
      body: '',
      head_sha: 'a'.repeat(40),
      base_branch: branch,
      author: 'sandbox-amber',
      mergeability: 'mergeable',
      draft: false,
      state: 'open',
    },
  });
  const key = `'reconcile:' || ${quoted(queueId)}`;
  return [
    `\\set n random(${freshNumbers.first}, ${freshNumbers.first + freshNumbers.count - 1})`,
    scope(),
    filled(sandboxSelectStatement, quoted(repositoryId), ':n'),
    'begin;',
    filled(lockEntryStatement, quoted(queueId), `${quoted(`${queueId}#`)} || :n::text`),
    filled(loadEntryStatement, quoted(queueId), ':n'),
    filled(saveEntriesStatement, json([entry]), `'[]'::jsonb`, json([fact])),
    filled(addReconcileStatement, quoted(queueId), key, 'null'),
    'commit;',
    scope(),
  ].join('\n');
}

const readScript = (): string => `\\set n random(1, ${liveCount})\n${scope()}`;

export function runPgbench(options: PgbenchOptions): PgbenchResult {
  const { binDir, url, dir, ids, kind, clients, seconds } = options;
  const script = join(dir, `${kind}.sql`);
  writeFileSync(script, `${kind === 'read' ? readScript() : writeScript(ids)}\n`);
  // prettier-ignore
  execFileSync(join(binDir, 'pgbench'), [
    '-n', '-M', 'prepared', '-c', String(clients), '-j', '1', '-T', String(seconds),
    '-f', script, '-l', '--log-prefix', join(dir, `${kind}-log`), url,
  ], { stdio: ['ignore', 'ignore', 'pipe'] });
  const latencies = readdirSync(dir)
    .filter((file) => file.startsWith(`${kind}-log`))
    .flatMap((file) => readFileSync(join(dir, file), 'utf8').trimEnd().split('\n'))
    .map((line) => Number(line.split(' ')[2]) / 1000)
    .toSorted((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return { perSecond: latencies.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99) };
}
