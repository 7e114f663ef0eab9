// Questions that CI and people wait for, asked of a repository with a million tests.

import type { Client } from 'pg';
import type { Figure } from '../soak/report.ts';
import { goal, percentile } from './figure.ts';
import type { Call } from './deployment.ts';
import { org, type Place } from './ingest-client.ts';

const failedTests = 1_000;
const unhealthyTests = 100_000;
const questions = 100;

/** Makes a part of the tests unhealthy and another quarantined, as if that had been classified. */
async function makeUnhealthy(client: Client, repo: Place): Promise<void> {
  const of = 'repository_id = (select id from repository where owner = $1 and name = $2)';
  await client.query(
    `update test_case set status = 'flaky', status_reason = 'For the benchmark.', pull_requests_impacted_7d = ordinal % 50,
       quarantined_at = case when ordinal % 20 = 3 then now() end
     where ${of} and ordinal % 10 = 3`,
    [repo.owner, repo.name],
  );
  await client.query(
    `insert into health_settings (repository_id, settings)
     select id, '{"quarantine": {"enabled": true}}' from repository where owner = $1 and name = $2
     on conflict (repository_id) do update set settings = excluded.settings`,
    [repo.owner, repo.name],
  );
  await client.query('vacuum analyze test_case');
}

async function timed(times: number, question: (n: number) => Promise<unknown>): Promise<readonly number[]> {
  const spent: number[] = [];
  for (let n = 0; n < times; n++) {
    const startedAt = performance.now();
    await question(n);
    spent.push(performance.now() - startedAt);
  }
  return spent;
}

export async function measureLookups(client: Client, call: Call, repo: Place): Promise<readonly Figure[]> {
  await makeUnhealthy(client, repo);
  const { rows: known } = await client.query<{ id: string; name: string; file: string; classname: string }>(
    `select c.id, c.name, c.file_path as file, c.classname from test_case c join repository r on r.id = c.repository_id
     where r.owner = $1 and r.name = $2 and c.ordinal % 97 = 0 order by c.ordinal limit ${failedTests}`,
    [repo.owner, repo.name],
  );
  const testIdentifiers = known.map(({ id, name, file, classname }) => ({
    id,
    name,
    file,
    className: classname,
    parentName: 'everything',
    variant: '',
  }));
  const quarantine = await timed(questions, () =>
    call('getQuarantineConfig', { repo, remoteUrls: [], orgUrlSlug: org, testIdentifiers }),
  );
  let token = '';
  const pages = await timed(questions, async (n) => {
    const answer = await call('listUnhealthyTests', {
      repo,
      org_url_slug: org,
      status: 'FLAKY',
      page_query: { page_size: 100, page_token: n % 10 === 0 ? '' : token },
    });
    token = answer.page.next_page_token;
  });
  // The first questions of a process are answered while it warms up, as they are for nobody after it.
  const settled = (spent: readonly number[]) => spent.slice(10);
  return [
    { name: 'tests asked about', value: testIdentifiers.length },
    goal(
      `quarantine of ${failedTests} failed tests, p50, ms`,
      percentile(settled(quarantine), 0.5),
      '<=',
      20,
    ),
    {
      name: `quarantine of ${failedTests} failed tests, p99, ms`,
      value: percentile(settled(quarantine), 0.99),
    },
    goal(`a page of ${unhealthyTests} unhealthy tests, p50, ms`, percentile(settled(pages), 0.5), '<=', 50),
    { name: `a page of ${unhealthyTests} unhealthy tests, p99, ms`, value: percentile(settled(pages), 0.99) },
  ];
}
