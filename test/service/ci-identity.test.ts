// CI jobs that prove who they are, with tokens that a certified OpenID provider signs: which are let in, and what they may do.

import { createHmac, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type OidcProvider, startOidcProvider } from '../fixture/oidc-provider.ts';
import { main, openWorldForTest, widgets } from '../support/harness.ts';
import { sql } from '../support/sql.ts';

const audience = 'http://localhost:7777';
const sha = 'a'.repeat(40);
const fullWidgets = `${widgets.owner}/${widgets.name}`;
const webhook = { allow: { networks: ['127.0.0.1/32'], hosts: [] }, timeoutMs: 1_000 };
const own = 5;
const fork = 6;

type Change = Readonly<Record<string, unknown>>;
type World = Awaited<ReturnType<typeof openWorldForTest>>;

async function openIssuer(): Promise<OidcProvider> {
  const provider = await startOidcProvider({ redirectUri: 'http://127.0.0.1/', accounts: {} });
  onTestFinished(provider.stop);
  return provider;
}

/** What GitHub says about a job that a push to main started. */
function pushClaims(world: World, issuer: string, change: Change = {}): Change {
  const now = Math.floor(world.clock.now().getTime() / 1_000);
  return {
    iss: issuer,
    aud: audience,
    sub: `repo:${fullWidgets}:ref:refs/heads/main`,
    iat: now,
    exp: now + 300,
    repository: fullWidgets,
    ref: 'refs/heads/main',
    sha,
    event_name: 'push',
    ...change,
  };
}

const ofPullRequest = (number: number): Change => ({
  event_name: 'pull_request',
  ref: `refs/pull/${number}/merge`,
  sha: 'f'.repeat(40),
});

async function open() {
  const world = await openWorldForTest({ config: { webhook, publicUrl: audience, isPublicUrlGiven: true } });
  const provider = await openIssuer();
  const owner = await world.client();
  await owner.call('createQueue', main);
  for (const [number, from] of [
    [own, undefined],
    [fork, 'stranger/widgets'],
  ] as const)
    await owner.call('sandboxCreatePullRequest', {
      ...main,
      pr: { number },
      ...(from === undefined ? {} : { fork: from }),
    });
  const trust = (more: object = {}) =>
    owner.call('trustCi', {
      name: 'ci',
      provider: 'github_actions',
      issuer: provider.issuer,
      repositories: [widgets],
      ...more,
    });
  const exchange = async (claims: Change, more: Change = {}, sign = provider.signToken) => {
    const answer = await world.server.inject({
      method: 'POST',
      url: '/v1/exchangeCiToken',
      payload: { organization: 'acme', repo: widgets, idToken: sign(claims), ...more },
    });
    type Answer = Readonly<Record<string, unknown>> & { readonly error?: { readonly code: string } };
    return { status: answer.statusCode, body: answer.json<Answer>() };
  };
  const codeOf = async (claims: Change, more: Change = {}, sign = provider.signToken) => {
    const { status, body } = await exchange(claims, more, sign);
    return status === 200 ? (body['isTrusted'] === true ? 'trusted' : 'not trusted') : body.error?.code;
  };
  const claims = (change: Change = {}) => pushClaims(world, provider.issuer, change);
  return { world, provider, owner, trust, exchange, codeOf, claims };
}

const report = '<testsuite name="s"><testcase name="adds"/></testsuite>';

function upload(world: World, token: string, change: Readonly<Record<string, string>> = {}) {
  const query = new URLSearchParams({
    repo: `${widgets.host}/${fullWidgets}`,
    org_url_slug: 'acme',
    sha,
    branch: 'main',
    ...change,
  });
  return world.server.inject({
    method: 'POST',
    url: `/v1/flaky-tests/upload?${query.toString()}`,
    headers: { 'x-api-token': token, 'content-type': 'application/xml' },
    payload: report,
  });
}

describe('a job that proves who it is', () => {
  it('is let in as its repository, pull request, fork, branch and audience say', async () => {
    const { provider, world, trust, codeOf, claims } = await open();
    const repo = { ...widgets, name: 'gadgets' };
    // Nobody is trusted yet.
    expect(await codeOf(claims())).toBe('CI_JOB_REFUSED');
    await trust();
    const { privateKey: foreign } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const now = Math.floor(world.clock.now().getTime() / 1_000);
    const unsigned = (part: Change) =>
      `${Buffer.from('{"alg":"none"}').toString('base64url')}.${Buffer.from(JSON.stringify(part)).toString('base64url')}.`;
    const byPassword = (part: Change) => {
      const text = `${Buffer.from('{"alg":"HS256","kid":"test"}').toString('base64url')}.${Buffer.from(JSON.stringify(part)).toString('base64url')}`;
      return `${text}.${createHmac('sha256', 'public').update(text).digest('base64url')}`;
    };
    const cases: readonly (readonly [string, unknown, string])[] = [
      ['a push to main', await codeOf(claims()), 'trusted'],
      [
        'a test branch of the queue',
        await codeOf(claims({ ref: 'refs/heads/signalbox/main/pr-7/1' })),
        'trusted',
      ],
      ['several audiences', await codeOf(claims({ aud: ['other', audience] })), 'trusted'],
      ['a pull request of the repository', await codeOf(claims(ofPullRequest(own))), 'trusted'],
      ['a pull request of a fork', await codeOf(claims(ofPullRequest(fork))), 'not trusted'],
      ['a pull request that does not exist', await codeOf(claims(ofPullRequest(404))), 'CI_JOB_REFUSED'],
      [
        'an event that may run the code of a fork',
        await codeOf(claims({ event_name: 'pull_request_target' })),
        'not trusted',
      ],
      ['a workflow after another', await codeOf(claims({ event_name: 'workflow_run' })), 'not trusted'],
      ['a tag', await codeOf(claims({ ref: 'refs/tags/main' })), 'not trusted'],
      ['another repository', await codeOf(claims({ repository: 'acme/gadgets' })), 'CI_JOB_REFUSED'],
      ['the fork itself', await codeOf(claims({ repository: 'stranger/widgets' })), 'CI_JOB_REFUSED'],
      ['a repository that is not trusted', await codeOf(claims(), { repo }), 'CI_JOB_REFUSED'],
      ['another organization', await codeOf(claims(), { organization: 'globex' }), 'CI_JOB_REFUSED'],
      ['another issuer', await codeOf(claims({ iss: 'https://id.example' })), 'CI_JOB_REFUSED'],
      ['another audience', await codeOf(claims({ aud: 'https://other.example' })), 'ID_TOKEN_INVALID'],
      ['no audience', await codeOf(claims({ aud: undefined })), 'ID_TOKEN_INVALID'],
      ['an expired token', await codeOf(claims({ exp: now - 61 })), 'ID_TOKEN_INVALID'],
      ['a token without an end', await codeOf(claims({ exp: undefined })), 'ID_TOKEN_INVALID'],
      ['a token of tomorrow', await codeOf(claims({ nbf: now + 86_400 })), 'ID_TOKEN_INVALID'],
      [
        'another key',
        await codeOf(claims(), {}, (part) => provider.signToken(part, foreign)),
        'ID_TOKEN_INVALID',
      ],
      ['no signature', await codeOf(claims(), {}, unsigned), 'ID_TOKEN_INVALID'],
      ['a signature by password', await codeOf(claims(), {}, byPassword), 'ID_TOKEN_INVALID'],
      ['no JWT', await codeOf(claims(), {}, () => 'sbx_main_x_y'), 'ID_TOKEN_INVALID'],
      ['no claims of GitHub', await codeOf(claims({ event_name: undefined })), 'CI_JOB_REFUSED'],
      ['another commit', await codeOf(claims(), { sha: 'b'.repeat(40) }), 'CI_JOB_REFUSED'],
      [
        'a commit that is no head of its pull request',
        await codeOf(claims(ofPullRequest(own)), { sha: 'b'.repeat(40) }),
        'CI_JOB_REFUSED',
      ],
    ];
    expect(cases.map(([name, code]) => `${name}: ${String(code)}`)).toEqual(
      cases.map(([name, , wanted]) => `${name}: ${wanted}`),
    );
  });

  it('is let in only from the branches that are named', async () => {
    const { trust, codeOf, claims } = await open();
    await trust({ branches: ['main', 'release/*'] });
    expect(await codeOf(claims())).toBe('trusted');
    expect(await codeOf(claims({ ref: 'refs/heads/release/1' }))).toBe('trusted');
    expect(await codeOf(claims({ ref: 'refs/heads/feature' }))).toBe('CI_JOB_REFUSED');
    expect(await codeOf(claims(ofPullRequest(own)))).toBe('CI_JOB_REFUSED');
  });

  it('is not let in for a new repository that took the name of another', async () => {
    const { world, trust, codeOf, claims } = await open();
    await trust();
    await sql(world.cell.db)`update repository set host_id = '1001' where name = ${widgets.name}`;
    expect(await codeOf(claims({ repository_id: '1001' }))).toBe('trusted');
    expect(await codeOf(claims({ repository_id: '2002' }))).toBe('CI_JOB_REFUSED');
  });

  it('is refused with the reason if the keys of its issuer cannot be read', async () => {
    const { provider, trust, codeOf, claims } = await open();
    await trust();
    await provider.stop();
    expect(await codeOf(claims())).toBe('ISSUER_UNREACHABLE');
  });
});

describe('the token of a job', () => {
  it('uploads reports of its own commit, whatever they say, and does nothing else', async () => {
    const { world, owner, trust, exchange, claims } = await open();
    await trust();
    const { body } = await exchange(claims());
    const token = String(body['value']);
    expect(body).toMatchObject({ isTrusted: true, sha, branch: 'main', prNumber: null });
    const answer = await upload(world, token, { sha: 'b'.repeat(40), branch: 'other', pr: '7' });
    expect(answer.statusCode).toBe(200);
    const { uploads } = await owner.call('listUploads', {
      repo: widgets,
      org_url_slug: 'acme',
      page_query: { page_size: 10 },
    });
    expect(uploads).toMatchObject([{ sha, branch: 'main', pr: null, trust: 'full' }]);
    const call = (path: string, payload: object) =>
      world.server.inject({ method: 'POST', url: `/v1/${path}`, headers: { 'x-api-token': token }, payload });
    for (const [path, payload] of [
      ['getQueue', main],
      ['submitPullRequest', { ...main, pr: { number: own } }],
      ['createToken', { name: 'more', scopes: ['admin'] }],
      ['updateQueue', { ...main, state: 'PAUSED' }],
    ] as const)
      expect([path, (await call(path, payload)).statusCode]).toEqual([path, 403]);
    const asked = { method: 'GET', url: '/v1/exchangeCiToken', headers: { 'x-api-token': token } } as const;
    expect((await world.server.inject(asked)).headers['allow']).toBe('POST');
    const gadgets = { ...main.repo, name: 'gadgets' };
    await owner.call('createQueue', { ...main, repo: gadgets });
    const elsewhere = { ...main, repo: gadgets, pr: { number: 1, sha }, impactedTargets: [] };
    expect((await call('setImpactedTargets', elsewhere)).statusCode).toBe(404);
  });

  it('of a fork uploads what decides nothing, and sets no targets of another pull request', async () => {
    const { world, owner, trust, exchange, claims } = await open();
    await trust();
    const { body } = await exchange(claims(ofPullRequest(fork)));
    expect(body).toMatchObject({ isTrusted: false, prNumber: fork, branch: null });
    const answer = await upload(world, String(body['value']));
    expect(answer.statusCode).toBe(200);
    const { uploads } = await owner.call('listUploads', {
      repo: widgets,
      org_url_slug: 'acme',
      page_query: { page_size: 10 },
    });
    expect(uploads).toMatchObject([{ sha: body['sha'], pr: fork, trust: 'untrusted' }]);
    const say = (number: number) =>
      world.server.inject({
        method: 'POST',
        url: '/v1/setImpactedTargets',
        headers: { 'x-api-token': String(body['value']) },
        payload: { ...main, pr: { number }, impactedTargets: ['//a'] },
      });
    expect((await say(own)).statusCode).toBe(403);
    expect((await say(fork)).statusCode).toBe(200);
  });

  it('ends after an hour, and at once when the trust is revoked; the audit log has who gave it', async () => {
    const { world, owner, trust, exchange, codeOf, claims } = await open();
    const { token: trusted } = await trust();
    expect(trusted).toMatchObject({
      scopes: ['upload'],
      identity: { provider: 'github_actions', pipeline: null, branches: null },
    });
    const first = String((await exchange(claims())).body['value']);
    expect((await upload(world, first)).statusCode).toBe(200);
    const rows = await sql<{ left: number }>(
      world.cell.db,
    )`select extract(epoch from expires_at - created_at)::int as left from job_token`;
    expect(rows[0]!.left).toBeGreaterThan(3_500);
    await sql(world.cell.db)`update job_token set expires_at = now() - interval '1 second'`;
    expect((await upload(world, first)).statusCode).toBe(401);
    const second = String((await exchange(claims())).body['value']);
    expect((await upload(world, second)).statusCode).toBe(200);
    await owner.call('revokeToken', { tokenId: trusted.id });
    expect((await upload(world, second)).statusCode).toBe(401);
    expect(await codeOf(claims())).toBe('CI_JOB_REFUSED');
    const audit = await sql<{ action: string; after: { identity?: unknown } }>(
      world.cell.db,
    )`select action, after from audit where action like 'token.%' order by seq`;
    expect(audit.map(({ action }) => action)).toEqual(['token.create', 'token.revoke']);
    expect(audit[0]!.after.identity).toMatchObject({ provider: 'github_actions' });
  });
});

it('lets in jobs of an issuer that Signalbox may call, and of a named pipeline where the CI system has its own names', async () => {
  const world = await openWorldForTest({ config: { publicUrl: audience, isPublicUrlGiven: true } });
  const owner = await world.client();
  await owner.call('createQueue', main);
  const refusal = async (input: object, status = 400) =>
    (await owner.refusal('trustCi', { name: 'ci', repositories: [widgets], ...input }, status)).code;
  expect(await refusal({ provider: 'forgejo_actions' })).toBe('VALIDATION_FAILED');
  expect(await refusal({ provider: 'gitlab_ci' })).toBe('VALIDATION_FAILED');
  expect(await refusal({ provider: 'github_actions', pipeline: 'acme/widgets' })).toBe('VALIDATION_FAILED');
  for (const issuer of ['http://169.254.169.254', 'https://localhost'])
    expect(await refusal({ provider: 'forgejo_actions', issuer })).toBe('WEBHOOK_URL_REFUSED');
  const unknown = { provider: 'github_actions', repositories: [{ ...widgets, name: 'gadgets' }] };
  expect(await refusal(unknown, 404)).toBe('REPOSITORY_NOT_FOUND');
});
