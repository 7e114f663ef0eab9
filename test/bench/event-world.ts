// The database of test/bench/events.ts: many queues, each with pull requests under test. One is made by the engine itself,
// through the API; the others are copies of its rows with ids of their own. All are paused, so that test runs are decided
// and nothing lands: landing is measured by test/bench/landing.ts.

import { join } from 'node:path';
import type { Client } from 'pg';
import type { Cluster } from '../../script/postgres.ts';
import { callerOf, migrate, type Receiver, receiverOf, startDeployment, until } from './deployment.ts';
import { checkNames, queueIdSql, repositoryIdSql, shaSql } from './event.ts';
import { type Cleanup, withClient } from './fixture.ts';

export type EventWorld = {
  readonly receiver: Receiver;
  /** Runs in all queues together. */
  readonly runs: number;
  /** A fresh copy of the database; the one before it is gone. */
  readonly fresh: (name: string) => Promise<string>;
};

export type WorldSize = { readonly queues: number; readonly runsPerQueue: number };

const repo = { host: 'sandbox.example', owner: 'bench', name: 'model' };
const main = { repo, targetBranch: 'main' };

/** A queue whose runs are all under test and then paused. */
async function makeModel(
  cleanup: Cleanup,
  url: string,
  dataDir: string,
  runsPerQueue: number,
): Promise<Receiver> {
  const deployment = await startDeployment(cleanup, { url, dataDir });
  const call = callerOf(deployment);
  await call('sandboxConfigureRepository', { repo, ci: { mode: 'manual', contexts: [] } });
  // One run for each pull request.
  await call('createQueue', {
    ...main,
    strategy: 'manual',
    concurrency: runsPerQueue,
    requiredStatuses: checkNames,
  });
  for (let number = 1; number <= runsPerQueue; number++)
    await call('submitPullRequest', { ...main, pr: { number } });
  await withClient(url, (client) =>
    until('The test of every pull request', async () => {
      const { rowCount } = await client.query(
        `select from test_run where phase = 'pushed' and status = 'in_progress'`,
      );
      return rowCount === runsPerQueue ? true : null;
    }),
  );
  await call('updateQueue', { ...main, state: 'PAUSED' });
  // The look that follows has been taken when no work is left.
  await withClient(url, (client) =>
    until('The end of all work', async () => {
      const { rowCount } = await client.query(
        'select from graphile_worker.jobs where run_at <= now() or locked_at is not null',
      );
      return rowCount === 0 ? true : null;
    }),
  );
  const receiver = await receiverOf(url);
  await deployment.stop();
  return receiver;
}

/** Rows of a table, each once per copy, with some of their columns replaced. */
const copied = (
  table: string,
  alias: string,
  columns: Readonly<Record<string, string>>,
  join_ = '',
): string => `
  insert into ${table}
  select (jsonb_populate_record(${alias}, jsonb_build_object(${Object.entries(columns)
    .map(([name, value]) => `'${name}', ${value}`)
    .join(', ')}))).*
  from ${table} ${alias} cross join copy ${join_}
  where ${alias}.${table === 'repository' ? 'id' : table === 'queue' ? 'id' : 'queue_id'} = copy.${table === 'repository' ? 'model_repository' : 'model_queue'}`;

async function copyModel(client: Client, { queues }: WorldSize): Promise<void> {
  const runs = 'join run_copy on run_copy.n = copy.n and run_copy.model_id';
  const statements = [
    `create temp table copy as select n, ${queueIdSql('n')} as queue_id, ${repositoryIdSql('n')} as repository_id,
       q.id as model_queue, q.repository_id as model_repository from queue q, generate_series(0, ${queues - 1}) n`,
    // The runs of all queues are numbered through, so that neighbours are in different queues.
    `create temp table run_copy as select c.n, t.id as model_id, gen_random_uuid() as id,
       c.n + ${queues} * (row_number() over (partition by c.n order by t.number) - 1) as run
     from copy c join test_run t on t.queue_id = c.model_queue`,
    copied('repository', 'r', { id: 'repository_id', name: `'line-' || n`, name_key: `'line-' || n` }),
    copied('queue', 'q', { id: 'queue_id', repository_id: 'copy.repository_id' }),
    copied('queue_plan', 'p', { queue_id: 'copy.queue_id' }),
    copied(
      'queue_entry',
      'e',
      { queue_id: 'copy.queue_id', id: 'gen_random_uuid()', test_run_id: 'run_copy.id' },
      `${runs} = e.test_run_id`,
    ),
    copied(
      'test_run',
      't',
      {
        queue_id: 'copy.queue_id',
        id: 'run_copy.id',
        test_branch: `replace(t.test_branch, t.id::text, run_copy.id::text)`,
        test_branch_sha: shaSql('run_copy.run'),
      },
      `${runs} = t.id`,
    ),
    copied(
      'test_run_member',
      'm',
      { queue_id: 'copy.queue_id', test_run_id: 'run_copy.id' },
      `${runs} = m.test_run_id`,
    ),
    'select graphile_worker.complete_jobs(array(select id from graphile_worker.jobs))',
    // As every queue with runs under way has them: a look when the first could be out of time, and a sweep.
    `select graphile_worker.add_jobs(array(select row(job.task, json_build_object('queueId', c.queue_id), null,
       now() + interval '1 hour', 20, job.key || c.queue_id, job.priority, null)::graphile_worker.job_spec
     from copy c cross join (values ('reconcile-queue', 'wake:', 0), ('sweep-queue', 'sweep-queue:', 10))
       as job (task, key, priority)))`,
    'vacuum analyze',
  ];
  for (const statement of statements) await client.query(statement);
}

export async function makeEventWorld(
  cleanup: Cleanup,
  cluster: Cluster,
  dir: string,
  size: WorldSize,
): Promise<EventWorld> {
  const maintain = (...statements: readonly string[]) =>
    withClient(cluster.url('postgres'), async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  await maintain('create database model');
  const url = cluster.url('model');
  migrate(url);
  const receiver = await makeModel(cleanup, url, join(dir, 'data'), size.runsPerQueue);
  await withClient(url, (client) => copyModel(client, size));
  return {
    receiver,
    runs: size.queues * size.runsPerQueue,
    fresh: async (name) => {
      await maintain(
        `drop database if exists ${name} with (force)`,
        `create database ${name} template model`,
        'checkpoint',
      );
      return cluster.url(name);
    },
  };
}
