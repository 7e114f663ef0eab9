// A queue of a given size in a durable PostgreSQL, reconciled in this process. What the jobs of a Git host would record is
// recorded by the stores that they use: test branches, check results and landings. What is measured is the reconcile alone.

import { createHash } from 'node:crypto';
import type { QueueId, RepositoryId, RunId } from '#base/id.ts';
import { systemClock } from '#base/clock.ts';
import { type Cell, openCell } from '#db/cell.ts';
import { recordChecks } from '#db/run/check-store.ts';
import { createKeptQueues } from '#db/queue/kept-entries.ts';
import { recordLanded } from '#db/run/landing-store.ts';
import { ensureOrganization } from '#db/account/organization-store.ts';
import { recordBuilt, recordPushed } from '#db/run/run-store.ts';
import { createTargetCache } from '#db/queue/target-cache.ts';
import { withTransaction } from '#db/transaction.ts';
import { reconcileQueue } from '#job/queue/reconcile.ts';
import { migrate } from '../deployment.ts';
import { type Cleanup, openCluster, withClient } from '../fixture.ts';
import { watchTurns } from './turn.ts';

const shaOf = (text: string): string => createHash('sha1').update(text).digest('hex');

type Size = { readonly concurrency: number; readonly bodyBytes: number };

export type Reconcile = {
  readonly ms: number;
  /** The longest turn of the event loop meanwhile. */
  readonly turnMs: number;
};

export type QueueWorld = {
  readonly cell: Cell;
  readonly queueId: QueueId;
  /** Submits so many more pull requests, as the API records them. */
  readonly submit: (count: number) => Promise<void>;
  readonly reconcile: () => Promise<Reconcile>;
  /** The test branches of all runs that wait for it are at the host. */
  readonly publish: () => Promise<void>;
  /** The first run under way passes. */
  readonly passFirst: () => Promise<void>;
  /** What was decided to land has landed. */
  readonly land: () => Promise<void>;
  /** The value of a statement with one column and one row. */
  readonly value: (text: string) => Promise<number>;
};

// Bodies that do not compress to nothing, as people write them.
const insertEntries = `
  insert into queue_entry (queue_id, pr_number, id, seniority, line_rank, line_major, line_minor, pr_title, pr_sha,
    pr_base_branch, pr_author, pr_url, pr_mergeability, commit_title, pr_body)
  select $1, n, gen_random_uuid(), s.seniority, 2, 0, s.seniority, 'Fix error messages ' || n,
    encode(sha256(('head ' || n)::bytea), 'hex')::varchar(40), 'main', 'ada', 'https://git.example/acme/widgets/pull/' || n,
    'mergeable', 'Fix error messages ' || n,
    left((select string_agg(md5(n || ' ' || part), ' ') from generate_series(1, $4 / 33 + 1) part), $4)
  from generate_series($2::bigint, $3::bigint) n, lateral (select nextval('entry_seniority') as seniority where n > 0) s`;

async function makeQueue(cell: Cell, { concurrency }: Size) {
  const { id } = await ensureOrganization(cell.db, 'acme', 'acme');
  const settings = { strategy: 'manual', concurrency, requiredStatuses: ['ci'], protectedPaths: [] };
  const { rows } = await cell.pool.query<{ queue_id: QueueId; repository_id: RepositoryId }>(
    `with r as (
       insert into repository (id, organization_id, host, owner, name, host_key, owner_key, name_key)
       values (gen_random_uuid(), $1, 'git.example', 'acme', 'widgets', 'git.example', 'acme', 'widgets') returning id)
     insert into queue (id, repository_id, branch, settings, branch_sha)
     select gen_random_uuid(), r.id, 'main', $2::jsonb, $3 from r returning id as queue_id, repository_id`,
    [id, JSON.stringify(settings), shaOf('tip')],
  );
  return { queueId: rows[0]!.queue_id, repositoryId: rows[0]!.repository_id };
}

export async function openQueueWorld(cleanup: Cleanup, size: Size): Promise<QueueWorld> {
  const cluster = await openCluster(cleanup);
  await withClient(cluster.url('postgres'), (client) => client.query('create database sizes'));
  const url = cluster.url('sizes');
  migrate(url);
  const cell = openCell({
    name: 'main',
    url,
    connections: 4,
    readerConnections: 1,
    onError: () => undefined,
  });
  cleanup.add(cell.close);
  const turns = watchTurns();
  cleanup.add(turns.close);
  const { queueId, repositoryId } = await makeQueue(cell, size);
  const deps = {
    cell,
    clock: systemClock,
    targets: createTargetCache(cell),
    queues: createKeptQueues(),
    sweepMs: 3_600_000,
  };
  let submitted = 0;
  return {
    cell,
    queueId,
    submit: async (count) => {
      await cell.pool.query(insertEntries, [queueId, submitted + 1, submitted + count, size.bodyBytes]);
      submitted += count;
      if (count > 100) await cell.pool.query('analyze');
    },
    reconcile: async () => {
      turns.longest();
      const startedAt = performance.now();
      // No Git host: what it does is measured by test/bench/landing.ts.
      await reconcileQueue({ ...deps, hostFor: () => null } as never, { queueId });
      return { ms: performance.now() - startedAt, turnMs: turns.longest() };
    },
    publish: async () => {
      const { rows } = await cell.pool.query<{ id: RunId }>(
        `select id from test_run where queue_id = $1 and status = 'in_progress' and phase <> 'pushed'`,
        [queueId],
      );
      const required = [{ name: 'ci', source: null }];
      const built = rows.map(({ id }) => ({
        id,
        sha: shaOf(id),
        tree: shaOf(`tree ${id}`),
        required,
        ruleChanges: [],
        source: 'queue' as const,
      }));
      await withTransaction(cell, async (tx) => {
        await recordBuilt(tx, queueId, built);
        const pushed = rows.map(({ id }) => ({ id, testPr: null }));
        await recordPushed(tx, queueId, pushed, new Date());
      });
    },
    passFirst: async () => {
      const { rows } = await cell.pool.query<{ sha: string }>(
        `select test_branch_sha as sha from test_run where queue_id = $1 and status = 'in_progress' and phase = 'pushed'
         order by number limit 1`,
        [queueId],
      );
      const check = { kind: 'status', name: 'ci', state: 'success', url: '', at: Date.now() } as const;
      await withTransaction(cell, (tx) => recordChecks(tx, [{ repositoryId, sha: rows[0]!.sha, check }]));
    },
    land: async () => {
      const { rows } = await cell.pool.query<{ number: number; members: number[] }>(
        `select l.number, (select json_agg(m.pr_number) from landing_pull_request m
           where m.queue_id = l.queue_id and m.number = l.number) as members
         from landing l where l.queue_id = $1 and l.status = 'intended'`,
        [queueId],
      );
      const [landing] = rows;
      if (landing === undefined) throw new Error('Nothing was decided to land.');
      const sha = shaOf(`landed ${landing.number}`);
      const members = landing.members.map((number) => ({ number, sha }));
      const landed = {
        mode: 'host',
        sha,
        tip: sha,
        tree: sha,
        testedTree: sha,
        members,
        rest: null,
        flaw: null,
      } as const;
      await withTransaction(cell, (tx) => recordLanded(tx, queueId, landing.number, landed, new Date()));
    },
    value: async (text) => {
      const { rows } = await cell.pool.query<{ value: number }>(`select (${text})::float8 as value`);
      return rows[0]!.value;
    },
  };
}
