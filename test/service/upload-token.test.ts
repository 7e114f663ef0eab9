// A token whose only scope is upload may be readable by code that nobody reviewed: what it can and cannot do.

import { expect, it } from 'vitest';
import type { Host, HostFor } from '#host/host.ts';
import { hashToken } from '#db/account/scope-view.ts';
import { main, openWorldForTest, pr, widgets, type World } from '../support/harness.ts';
import { sql } from '../support/sql.ts';

const gadgets = { ...widgets, name: 'gadgets' };
const sha = 'a'.repeat(40);
const report = '<testsuite name="s"><testcase name="adds"/></testsuite>';

/** Every function of a host that is called, by name. */
const counting =
  (calls: string[]) =>
  (hostFor: HostFor): HostFor =>
  (cellName, hostName) => {
    const host = hostFor(cellName, hostName);
    if (host === null) return null;
    return new Proxy(host, {
      get: (target, name) => {
        const value = target[name as keyof Host] as unknown;
        if (typeof value === 'function') calls.push(String(name));
        return value;
      },
    });
  };

type Sent = { readonly status: number; readonly body: string; readonly retryAfter: unknown };

async function send(world: World, token: string, repo: typeof widgets, about = sha): Promise<Sent> {
  const query = new URLSearchParams({
    repo: `${repo.host}/${repo.owner}/${repo.name}`,
    org_url_slug: 'acme',
    sha: about,
    branch: 'main',
  });
  const answer = await world.server.inject({
    method: 'POST',
    url: `/v1/flaky-tests/upload?${query.toString()}`,
    headers: { 'x-api-token': token, 'content-type': 'application/xml' },
    payload: report,
  });
  return { status: answer.statusCode, body: answer.body, retryAfter: answer.headers['retry-after'] };
}

async function begin(options: Parameters<typeof openWorldForTest>[0] = {}) {
  const calls: string[] = [];
  const world = await openWorldForTest({ ...options, wrapHosts: counting(calls) });
  const owner = await world.client();
  await owner.call('createQueue', main);
  const made = await owner.call('createToken', {
    name: 'forks',
    scopes: ['upload'],
    repositories: [widgets],
  });
  await world.runJobs();
  calls.length = 0;
  const call = (path: string, body: object) =>
    world.server.inject({
      method: 'POST',
      url: `/v1/${path}`,
      headers: { 'x-api-token': made.value },
      payload: body,
    });
  return { world, owner, token: made.value, made, calls, call };
}

it('is made with the repositories that it is bound to, which must be known', async () => {
  const { owner, made } = await begin();
  expect(made.token.repositories).toEqual([`${widgets.host}/acme/widgets`]);
  const wish = { name: 'x', scopes: ['upload'] };
  expect((await owner.refusal('createToken', wish, 400)).code).toBe('VALIDATION_FAILED');
  const unknown = { ...wish, repositories: [gadgets] };
  expect((await owner.refusal('createToken', unknown, 404)).code).toBe('REPOSITORY_NOT_FOUND');
  const wider = { ...wish, scopes: ['upload', 'submit'], repositories: [widgets] };
  expect((await owner.refusal('createToken', wider, 400)).code).toBe('VALIDATION_FAILED');
});

it('costs no call to a host and makes no row, whichever repository it names', async () => {
  const { world, token, calls, call } = await begin();
  expect((await send(world, token, widgets)).status).toBe(200);
  const others = [gadgets, { ...gadgets, host: 'github.com' }, { ...gadgets, owner: 'globex' }];
  const answers = [];
  for (const repo of others) answers.push(await send(world, token, repo));
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
  const targets = { repo: gadgets, targetBranch: 'main', pr: { number: 1, sha }, impactedTargets: [] };
  expect((await call('setImpactedTargets', targets)).statusCode).toBe(404);
  const noSha = { ...main, pr: { number: 99 }, impactedTargets: [] };
  expect((await call('setImpactedTargets', noSha)).statusCode).toBe(404);
  expect(calls).toEqual([]);
  const rows = await sql<{ name: string }>(world.cell.db)`select name from repository`;
  expect(rows.map(({ name }) => name)).not.toContain('gadgets');
});

it('does not name another repository of its organization', async () => {
  const { world, owner, token } = await begin();
  await owner.call('createQueue', { repo: gadgets, targetBranch: 'main' });
  expect((await send(world, token, gadgets)).status).toBe(404);
});

it('from before tokens were bound names repositories that are known, and no others', async () => {
  const { world, token, calls } = await begin();
  await sql(world.cell.db)`update api_token set repository_ids = null where hash = ${hashToken(token)}`;
  expect((await send(world, token, widgets)).status).toBe(200);
  expect((await send(world, token, gadgets)).status).toBe(404);
  expect(calls).toEqual([]);
});

it('is told to wait for the next day when its quota is used up', async () => {
  const upload = { bytesMax: 1e6, addressMs: 60_000, quota: { uploads: 2, bytes: 1e6 } };
  const { world, owner, token } = await begin({ config: { upload } });
  for (const about of ['a', 'b'])
    expect((await send(world, token, widgets, about.repeat(40))).status).toBe(200);
  const refused = await send(world, token, widgets, 'c'.repeat(40));
  expect(refused.status).toBe(429);
  expect(Number(refused.retryAfter)).toBeGreaterThan(0);
  expect(Number(refused.retryAfter)).toBeLessThanOrEqual(86_400);
  const trusted = await owner.call('createToken', { name: 'ci', scopes: ['upload', 'submit'] });
  expect((await send(world, trusted.value, widgets, 'c'.repeat(40))).status).toBe(200);
  world.clock.advance(86_400_000);
  expect((await send(world, token, widgets, 'd'.repeat(40))).status).toBe(200);
});

it('has impacted targets counted against its quota as well', async () => {
  const upload = { bytesMax: 1e6, addressMs: 60_000, quota: { uploads: 9, bytes: 25 } };
  const { call } = await begin({ config: { upload } });
  const say = (impactedTargets: unknown) =>
    call('setImpactedTargets', { ...main, pr: { number: 1, sha }, impactedTargets });
  for (const at of [1, 2]) expect((await say([`//some/target:${at}`])).statusCode).toBe(200);
  expect((await say(['//some/target:3'])).statusCode).toBe(429);
});

it('only widens the targets of a pull request', async () => {
  const { world, owner, call } = await begin();
  await owner.call('updateQueue', { ...main, mode: 'parallel' });
  const targetsOf = async () => {
    const rows = await sql<{ impacts_all: boolean; target_count: number }>(
      world.cell.db,
    )`select impacts_all, target_count from impacted_targets`;
    return rows.map(({ impacts_all: all, target_count: count }) => (all ? 'ALL' : count));
  };
  const say = (impactedTargets: unknown) =>
    call('setImpactedTargets', { ...main, pr: { number: 1, sha }, impactedTargets });
  await say(['a']);
  expect(await targetsOf()).toEqual([1]);
  await owner.call('setImpactedTargets', { ...pr(1), pr: { number: 1, sha }, impactedTargets: ['a', 'b'] });
  await say([]);
  expect(await targetsOf()).toEqual([2]);
  await say(['b', 'c']);
  expect(await targetsOf()).toEqual([3]);
  await owner.call('setImpactedTargets', { ...pr(1), pr: { number: 1, sha }, impactedTargets: 'ALL' });
  await say(['c']);
  expect(await targetsOf()).toEqual(['ALL']);
  await owner.call('setImpactedTargets', { ...pr(1), pr: { number: 1, sha }, impactedTargets: ['c'] });
  expect(await targetsOf()).toEqual([1]);
});
