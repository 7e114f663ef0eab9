// Tests by what they are called and whose they are: in lists, and among all of an organization.
import { expect, it } from 'vitest';
import type { OrganizationId } from '#base/id.ts';
import { endpoints } from '#contract/endpoint/endpoint.ts';
import type { Tx } from '#db/cell.ts';
import { searchTests } from '#db/health/test-search-view.ts';
import { clientOf, openWorldForTest, widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';

const gadgets = { ...widgets, name: 'gadgets' };
const asked = { repo: widgets, org_url_slug: 'acme' };

const put = (name: string, more: object = {}) => ({ name, status: 'flaky', ...more });

async function openTests() {
  const world = await openWorldForTest();
  const client = await world.client();
  await client.call('sandboxPutTestCases', {
    repo: widgets,
    testCases: [
      put('pays the order', { file: 'test/pay.test.ts', codeowners: ['@acme/pay', '@acme/all'] }),
      put('refunds the order', {
        file: 'test/refund.test.ts',
        classname: 'Refund',
        codeowners: ['@acme/all'],
      }),
      put('ships 100% of it', { file: 'test/ship_one.test.ts', status: 'broken' }),
      put('order is kept', { status: 'healthy' }),
    ],
  });
  await client.call('sandboxPutTestCases', {
    repo: gadgets,
    testCases: [put('orders a gadget', { status: 'healthy' })],
  });
  const names = async (input: object, who = client) =>
    (await who.call('searchTests', { org_url_slug: 'acme', ...input })).tests.map(({ name }) => name);
  return { world, client, names };
}

it('finds tests of any health in all repositories, those that begin so first, then the unhealthy', async () => {
  const { client, names } = await openTests();
  expect(await names({ query: 'ORDER' })).toEqual([
    'order is kept',
    'orders a gadget',
    'pays the order',
    'refunds the order',
  ]);
  expect(await names({ query: 'order', take: 1 })).toEqual(['order is kept']);
  expect(await names({ query: 'order', repo: gadgets })).toEqual(['orders a gadget']);
  expect(await names({ query: 'order', repo: { ...widgets, name: 'nothing' } })).toEqual([]);
  const { tests } = await client.call('searchTests', { org_url_slug: 'acme', query: 'refund' });
  expect(tests).toEqual([
    {
      id: expect.any(String) as string,
      name: 'refunds the order',
      variant: '',
      file_path: 'test/refund.test.ts',
      classname: 'Refund',
      status: 'flaky',
      quarantined: true,
      repository: { html_url: 'https://sandbox.example/acme/widgets', ...widgets },
      html_url: expect.stringMatching(
        /\/app\/tests\/[0-9a-f-]+\?repo=sandbox.example%2Facme%2Fwidgets$/,
      ) as string,
    },
  ]);
});

it('asks for every word, in name, file or class, and takes signs as they are written', async () => {
  const { names } = await openTests();
  expect(await names({ query: 'refund order' })).toEqual(['refunds the order']);
  expect(await names({ query: 'test/pay order' })).toEqual(['pays the order']);
  expect(await names({ query: 'pay refund' })).toEqual([]);
  expect(await names({ query: '100%' })).toEqual(['ships 100% of it']);
  expect(await names({ query: 'ship_one' })).toEqual(['ships 100% of it']);
  expect(await names({ query: 'p_ys' })).toEqual([]);
  expect(await names({ query: '1%f' })).toEqual([]);
  expect(await names({ query: '\\' })).toEqual([]);
});

it('refuses what is no search, who may not read, and another organization', async () => {
  const { world, client, names } = await openTests();
  const query = { org_url_slug: 'acme', query: 'order' };
  const refusal = await client.refusal('searchTests', { ...query, query: '', take: 21 }, 400);
  expect(refusal.details?.map(({ path }) => path).toSorted()).toEqual(['query', 'take']);
  const { path } = endpoints.searchTests;
  const anonymous = clientOf(world.server, '');
  expect((await anonymous.send({ path, body: JSON.stringify(query) })).status).toBe(401);
  const uploader = await world.client('acme', ['upload']);
  expect((await uploader.refusal('searchTests', query, 403)).code).toBe('INSUFFICIENT_SCOPE');
  const stranger = await world.client('globex');
  expect((await stranger.refusal('searchTests', query, 404)).code).toBe('ORGANIZATION_NOT_FOUND');
  expect(await names({ query: 'order', org_url_slug: 'globex' }, stranger)).toEqual([]);
  expect(await names({ query: 'order', org_url_slug: 'globex', repo: widgets }, stranger)).toEqual([]);
});

it('reads no tests of an organization that has most of them', async () => {
  const { world } = await openTests();
  const small = await world.client('globex');
  const own = { ...widgets, owner: 'globex' };
  await small.call('sandboxPutTestCases', { repo: own, testCases: [put('an order')] });
  const { db } = world.cell;
  await sql(db)`insert into test_case (repository_id, id, name)
    select id, gen_random_uuid(), 'test ' || n from repository, generate_series(1, 60000) n
    where owner = 'acme' and name = 'widgets'`;
  await sql(db)`analyze test_case, repository`;
  const [globex] = await sql<{ id: OrganizationId }>(db)`select id from organization where slug = 'globex'`;
  const plans: string[] = [];
  const explaining: Tx = {
    run: async (text, values, options) => {
      const rows = (await db.run(`explain ${text}`, values, options)) as { 'QUERY PLAN': string }[];
      plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
      return db.run(text, values, options);
    },
  };
  const asked = { organizationId: globex!.id, repositoryId: null, text: 'order', take: 5 };
  expect(await searchTests(explaining, asked)).toMatchObject([{ name: 'an order', repository: own }]);
  expect(plans.join('\n')).not.toContain('Seq Scan on test_case');
});

it('narrows the lists by text and by owner, and binds their pages to it', async () => {
  const { client } = await openTests();
  const list = async (more: object) => {
    const answer = await client.call('listUnhealthyTests', {
      ...asked,
      status: 'FLAKY',
      page_query: { page_size: 1 },
      ...more,
    });
    return { names: answer.tests.map(({ name }) => name), page: answer.page };
  };
  expect((await list({ codeowner: '@acme/pay' })).names).toEqual(['pays the order']);
  expect((await list({ codeowner: '@acme/p' })).page.total_rows).toBe(0);
  expect((await list({ search: 'REFUND' })).names).toEqual(['refunds the order']);
  expect((await list({ search: 'refund', codeowner: '@acme/pay' })).page.total_rows).toBe(0);
  expect((await list({ search: '  ' })).page.total_rows).toBe(2);

  const all = { codeowner: '@acme/all' };
  const first = await list(all);
  expect(first.page.total_rows).toBe(2);
  const token = { page_query: { page_size: 1, page_token: first.page.next_page_token } };
  const second = await list({ ...all, ...token });
  expect([...first.names, ...second.names].toSorted()).toEqual(['pays the order', 'refunds the order']);
  const other = { ...asked, status: 'FLAKY', ...token };
  expect((await client.refusal('listUnhealthyTests', other, 400)).code).toBe('INVALID_PAGE_TOKEN');
  const tooLong = { ...asked, page_query: {}, status: 'FLAKY', search: 'x'.repeat(201) };
  expect((await client.refusal('listUnhealthyTests', tooLong, 400)).details?.[0]?.path).toBe('search');
});

it('narrows the quarantined tests alike', async () => {
  const { client } = await openTests();
  await client.call('updateHealthSettings', { ...asked, settings: { quarantine: { enabled: true } } });
  const { tests } = await client.call('searchTests', { org_url_slug: 'acme', query: 'the order' });
  for (const { id } of tests)
    await client.call('setQuarantine', {
      ...asked,
      test_case_id: id,
      quarantine_setting: 'ALWAYS_QUARANTINE',
    });
  const list = async (more: object) => {
    const answer = await client.call('listQuarantinedTests', { ...asked, page_query: {}, ...more });
    return answer.quarantined_tests.map(({ name }) => name).toSorted();
  };
  expect(await list({})).toEqual(['pays the order', 'refunds the order']);
  expect(await list({ codeowner: '@acme/pay' })).toEqual(['pays the order']);
  expect(await list({ search: 'refund' })).toEqual(['refunds the order']);
  const found = await client.call('searchTests', { org_url_slug: 'acme', query: 'pays' });
  expect(found.tests[0]?.quarantined).toBe(true);
});
