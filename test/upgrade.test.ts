// A release works on the schema of the next one: `signalbox migrate` runs while its processes do.
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { main, openWorldForTest, pr, type World } from './harness.ts';

/** A pull request is submitted, tested and landed, and everything about it is read. */
async function landOne(world: World, number: number): Promise<void> {
  const client = await world.client();
  await client.call('submitPullRequest', pr(number));
  await world.runJobs();
  await world.makeJobsDue();
  await world.runJobs();
  expect(await client.call('getSubmittedPullRequest', pr(number))).toMatchObject({ state: 'merged' });
  await client.call('getQueue', main);
  await client.call('getLanding', { ...main, pr: { number } });
  await client.call('listQueues', {});
  await client.call('getMergeQueueTestingDetails', main);
  await client.call('listPullRequests', main);
  await client.call('getQueueGraph', main);
  await client.call('getMergeQueueMetrics', {});
}

it('a new column in every table is no trouble for a process that runs', { timeout: 60_000 }, async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('sandboxConfigureRepository', { repo: main.repo, ci: { mode: 'auto', durationMs: 0 } });
  await client.call('createQueue', main);
  await world.runJobs();
  // Twice: PostgreSQL keeps the plans of statements that were run before.
  await landOne(world, 1);
  await landOne(world, 2);
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace
      and relkind in ('r', 'p') and not relispartition and relname not like 'kysely%'`.execute(world.cell.db);
  expect(rows.length).toBeGreaterThan(40);
  for (const { name } of rows)
    await sql`alter table ${sql.table(name)} add column of_the_next_release boolean not null default false`.execute(
      world.cell.db,
    );
  await landOne(world, 3);
  expect(world.jobErrors).toEqual([]);
});

const statementsBefore = readFileSync('test/fixture/statements-before.jsonl', 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as string);

it('the statements of the release before can be prepared on the schema of this one', async () => {
  const world = await openWorldForTest();
  const client = await world.cell.pool.connect();
  const refused: string[] = [];
  for (const [index, text] of statementsBefore.entries())
    await client
      .query(`prepare before_${index} as ${text}`)
      .catch((error: unknown) => refused.push(`${(error as Error).message}: ${text}`));
  client.release();
  expect(statementsBefore.length).toBeGreaterThan(200);
  expect(refused).toEqual([]);
});

it('the release before writes entries and attempts on the schema of this one', async () => {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('sandboxConfigureRepository', { repo: main.repo, ci: { mode: 'auto', durationMs: 0 } });
  await client.call('createQueue', main);
  await world.runJobs();
  await landOne(world, 1);
  const save = statementsBefore.find((text) => /^with\s+saved as/.test(text))!;
  const { rows } = await sql<{ entry: object; trip: object }>`
    select to_jsonb(e) - array['pr_fork', 'head_review', 'commit_identity'] || '{"pr_number": 2}' as entry,
      to_jsonb(t) || '{"pr_number": 2}' as trip
    from entry e join trip t on t.queue_id = e.queue_id and t.pr_number = e.pr_number`.execute(world.cell.db);
  const [row] = rows;
  await world.cell.pool.query(save, [JSON.stringify([row!.entry]), JSON.stringify([row!.trip]), '[]']);
  await world.cell.pool.query(save, [JSON.stringify([row!.entry]), '[]', '[]']);
  expect(await client.call('getSubmittedPullRequest', pr(2))).toMatchObject({ state: 'merged' });
});
