import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { historyStatement, lineStatement } from '#db/history/estimate-view.ts';
import { graphStatement } from '#db/history/graph-view.ts';
import { enqueuedStatement } from '#db/queue/queue-view.ts';
import { loadEntryStatement } from '#db/queue/entry-store.ts';
import { hashToken, scopeStatement } from '#db/account/scope-view.ts';
import { type Client, main, openWorld, pr, widgets, type World } from '../support/harness.ts';
import { identifier, sql } from '../support/sql.ts';

const liveCount = 10_000;

describe('10,000 live pull requests in one queue', () => {
  let world: World & { close: () => Promise<void> };
  let team: Client;
  let queueId: string;

  beforeAll(async () => {
    world = await openWorld();
    team = await world.client();
    await team.call('createQueue', main);
    const [queue] = await sql<{ id: string }>(world.cell.db)`select id from queue`;
    queueId = queue!.id;
    // Live entries, and ten times as many that have ended: history must not slow down the present.
    await sql(world.cell.db)`
      insert into queue_entry (queue_id, pr_number, id, state, seniority, concluded_at, line_rank, line_major, line_minor,
        pr_title, pr_sha, pr_base_branch, pr_author, pr_url, pr_mergeability)
      select ${queueId}, n, gen_random_uuid(), case when n <= ${liveCount} then 'pending' else 'merged' end, n,
        case when n <= ${liveCount} then null else now() end, case when n <= ${liveCount} then 1 end,
        case when n <= ${liveCount} then 100 end, case when n <= ${liveCount} then n end,
        'Change ' || n, md5(n::text), 'main', 'author', 'https://sandbox.example/' || n, 'mergeable'
      from generate_series(1, ${liveCount * 11}::int) n`;
    // Many other organizations, so that no table is so small that scanning it is the best plan.
    await sql(world.cell.db)`insert into organization (id, slug, name)
      select gen_random_uuid(), 'org-' || n, 'Org' from generate_series(1, 5000) n`;
    await sql(world.cell.db)`insert into api_token (id, organization_id, hash, name, scopes)
      select slug, id, sha256(slug::bytea), 'token', '{read}' from organization`;
    await sql(
      world.cell.db,
    )`insert into repository (id, organization_id, host, owner, name, host_key, owner_key, name_key)
      select gen_random_uuid(), id, 'h', slug, 'r', 'h', slug, 'r' from organization`;
    await sql(world.cell.db)`insert into queue (id, repository_id, branch, settings)
      select gen_random_uuid(), id, 'main', '{}' from repository where host = 'h'`;
    await sql(world.cell.db)`insert into impacted_targets (repository_id, pr_number, head_sha)
      select id, n, md5(n::text) from repository, generate_series(1, 20) n`;
    // Runs of three days in this queue, a few in each of the others, and the trips of the last two hours.
    await sql(
      world.cell.db,
    )`insert into test_run (queue_id, id, status, created_at, concluded_at, test_branch)
      select q.id, gen_random_uuid(), 'succeeded', now() - n * interval '1 minute',
        now() - n * interval '1 minute' + interval '10 minutes', 'branch'
      from queue q, generate_series(11, case when q.id = ${queueId} then 5000 else 12 end) n`;
    await sql(
      world.cell.db,
    )`insert into attempt (queue_id, concluded_at, pr_number, attempt, conclusion, submitted_at)
      select queue_id, concluded_at, row_number() over (), 1, 'merged', created_at
      from test_run where concluded_at > now() - interval '2 hours'`;
    for (const table of [
      'queue_entry',
      'organization',
      'api_token',
      'repository',
      'queue',
      'impacted_targets',
      'test_run',
      'attempt',
    ])
      await sql(world.cell.db)`vacuum analyze ${identifier(table)}`;
  });
  afterAll(() => world.close());

  const explain = async (text: string, args: readonly unknown[]) => {
    const client = await world.cell.pool.connect();
    try {
      const { rows } = await client.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${text}`, [...args]);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    } finally {
      client.release();
    }
  };

  it.each([
    [
      'getSubmittedPullRequest',
      scopeStatement,
      () => [hashToken('x'), 'sandbox.example', 'acme', 'widgets', 'main', 5],
    ],
    ['getQueue', enqueuedStatement, () => [queueId]],
    ['getQueueGraph', graphStatement, () => [queueId]],
    ['a command on one of them', loadEntryStatement, () => [queueId, 5]],
    ['the line that is estimated', lineStatement, () => [queueId, true]],
  ])('are found by index, not by scanning, in %s', async (_name, text, args) => {
    const plan = await explain(text, args());
    expect(plan).toMatch(/Index.* Scan/);
    expect(plan).not.toMatch(/Seq Scan/);
  });

  it('are counted ahead of the last one by an index alone', async () => {
    const plan = await explain(scopeStatement, [
      hashToken('x'),
      'sandbox.example',
      'acme',
      'widgets',
      'main',
      liveCount,
    ]);
    expect(plan).toMatch(/Index Only Scan using queue_entry_line on queue_entry ahead/);
    expect((await team.call('getSubmittedPullRequest', pr(liveCount))).queuePosition).toBe(liveCount - 1);
  });

  it('are estimated from the newest runs and trips, by index', async () => {
    const plan = await explain(historyStatement, [queueId, new Date(Date.now() - 3_600_000)]);
    expect(plan).toMatch(/Index Scan using test_run_newest/);
    // Partitions of months to come are empty, and read as a whole.
    expect(plan.match(/Seq Scan on (\w+)/g) ?? []).not.toContain(`Seq Scan on test_run`);
    const estimateOf = async (number: number) =>
      Date.parse((await team.call('getSubmittedPullRequest', pr(number))).estimatedMergeAt!);
    const [first, middle, last] = [await estimateOf(1), await estimateOf(5_000), await estimateOf(liveCount)];
    expect(first).toBeGreaterThan(Date.now());
    expect(middle).toBeGreaterThan(first);
    expect(last).toBeGreaterThan(middle);
  });

  it('are listed in order, all of them', async () => {
    const { enqueuedPullRequests } = await team.call('getQueue', main);
    expect(enqueuedPullRequests).toHaveLength(liveCount);
    expect(enqueuedPullRequests.at(-1)!.prNumber).toBe(liveCount);
  });

  it('are paged through newest first, each once', async () => {
    const seen = new Set<number>();
    let cursor: string | undefined;
    for (let page = 0; page < 30; page++) {
      const answer = await team.call('listPullRequests', {
        ...main,
        take: 100,
        ...(cursor ? { cursor } : {}),
      });
      for (const { prNumber } of answer.pullRequests) seen.add(prNumber);
      cursor = answer.nextCursor;
      if (cursor === undefined) break;
    }
    expect(seen.size).toBe(3_000);
  });
});

describe('100,000 unhealthy tests in one repository', () => {
  it('are paged by key: the last page seeks, and forward and back meet', async () => {
    const world = await openWorld();
    const team = await world.client();
    await team.call('sandboxPutTestCases', {
      repo: widgets,
      testCases: [{ name: 'first', status: 'healthy' }],
    });
    await sql(world.cell.db)`
      insert into test_case (repository_id, id, name, status, pull_requests_impacted_7d)
      select (select id from repository), gen_random_uuid(), 'test ' || n, 'flaky', n % 500
      from generate_series(1, 100000) n`;
    await sql(world.cell.db)`vacuum analyze test_case`;
    const ask = (page_token: string) =>
      team.call('listUnhealthyTests', {
        repo: widgets,
        org_url_slug: 'acme',
        status: 'flaky',
        page_query: { page_size: 100, page_token },
      });
    const first = await ask('');
    expect(first.page).toMatchObject({
      total_rows: 100_000,
      total_pages: 1_000,
      page_index: 0,
      prev_page_token: '',
    });
    const last = await ask(first.page.last_page_token);
    expect(last.page).toMatchObject({ page_index: 999, next_page_token: '' });
    const beforeLast = await ask(last.page.prev_page_token);
    expect(beforeLast.page.page_index).toBe(998);
    expect((await ask(beforeLast.page.next_page_token)).tests).toEqual(last.tests);
    const second = await ask(first.page.next_page_token);
    expect((await ask(second.page.prev_page_token)).tests).toEqual(first.tests);
    await world.close();
  });
});
