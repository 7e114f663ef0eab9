/** 401 and 403: every endpoint, every kind of missing token, every scope, and that they come before all else. */
import { show } from './client.ts';
import { ENDPOINTS, validBody, type Endpoint, type Scope } from './endpoint.ts';
import { expectError, expectOk } from './expect.ts';
import { pick } from './json.ts';
import { freshRepo, post, type Repo, type World } from './world.ts';

const UNKNOWN_TOKEN = 'sbx_conformance_no_such_token';

export async function checkAuthentication(world: World): Promise<void> {
  const repo = freshRepo(world, 'ghost');
  for (const endpoint of ENDPOINTS) {
    const missing = await ask(world, endpoint, repo, null);
    expectError(world, `${endpoint.path} without a token`, missing, 401, 'AUTHENTICATION_REQUIRED');
    const unknown = await ask(world, endpoint, repo, UNKNOWN_TOKEN);
    expectError(world, `${endpoint.path} with an unknown token`, unknown, 401, 'INVALID_TOKEN');
    const empty = await ask(world, endpoint, repo, '');
    expectError(world, `${endpoint.path} with an empty token`, empty, 401, 'AUTHENTICATION_REQUIRED');
  }
  await checkOtherSchemes(world);
  await checkPrecedenceOf401(world);
  await checkOrganization(world);
}

function ask(world: World, endpoint: Endpoint, repo: Repo, token: string | null) {
  return world.client.send(endpoint.path, {
    method: endpoint.method,
    token,
    ...(endpoint.method === 'POST' ? { body: validBody(endpoint, repo, world.slug) } : {}),
  });
}

async function checkOtherSchemes(world: World): Promise<void> {
  const { client, options } = world;
  const bearer = await client.send('/v1/getOrganization', {
    token: null,
    headers: { authorization: `Bearer ${options.token}` },
    body: {},
  });
  expectError(world, 'a bearer token is no authentication', bearer, 401, 'AUTHENTICATION_REQUIRED');
  const query = await client.send('/v1/getOrganization', {
    token: null,
    query: { 'x-api-token': options.token },
    body: {},
  });
  expectError(world, 'a token in the address is no authentication', query, 401, 'AUTHENTICATION_REQUIRED');
  const cut = await post(world, 'getOrganization', {}, { token: options.token.slice(0, -1) });
  expectError(world, 'a token without its last character is unknown', cut, 401, 'INVALID_TOKEN');
}

async function checkPrecedenceOf401(world: World): Promise<void> {
  const { client } = world;
  const none = { token: null } as const;
  const malformed = await client.send('/v1/getQueue', { ...none, raw: '{' });
  expectError(world, '401 comes before 400 malformed JSON', malformed, 401, 'AUTHENTICATION_REQUIRED');
  const invalid = await client.send('/v1/getQueue', { ...none, body: {} });
  expectError(world, '401 comes before 400 validation', invalid, 401, 'AUTHENTICATION_REQUIRED');
  const media = await client.send('/v1/getQueue', { ...none, raw: 'x', contentType: 'text/plain' });
  expectError(world, '401 comes before 415', media, 401, 'AUTHENTICATION_REQUIRED');
  const large = Buffer.alloc(20 * 1_048_576 + 1, 0x20);
  const body = await client.send('/v1/getQueue', { ...none, raw: large, socket: 'sized' });
  expectError(world, '401 comes before 413', body, 401, 'AUTHENTICATION_REQUIRED');
  const path = await client.send('/v1/noSuchThing', { ...none, body: {} });
  expectError(world, '401 comes before 404 for an unknown path', path, 401, 'AUTHENTICATION_REQUIRED');
}

async function checkOrganization(world: World): Promise<void> {
  const answer = await post(world, 'getOrganization', {});
  expectOk(world, 'getOrganization answers', answer);
  const scopes = pick(answer.json, 'token', 'scopes');
  const isComplete = (['read', 'submit', 'admin', 'upload'] as const).every(
    (scope) => Array.isArray(scopes) && scopes.includes(scope),
  );
  world.recorder.check('--token holds every scope', isComplete, `got ${show(answer)}`);
}

const LIMITED: readonly { scope: Scope; option: string; key: 'readToken' | 'submitToken' | 'uploadToken' }[] =
  [
    { scope: 'read', option: '--read-token', key: 'readToken' },
    { scope: 'submit', option: '--submit-token', key: 'submitToken' },
    { scope: 'upload', option: '--upload-token', key: 'uploadToken' },
  ];

export async function checkScopes(world: World): Promise<void> {
  for (const { scope, option, key } of LIMITED) {
    const token = world.options[key];
    if (!token) {
      for (const endpoint of ENDPOINTS)
        world.recorder.skip(`${endpoint.path} with only the scope ${scope}`, option);
      continue;
    }
    await checkScopeWalk(world, scope, token);
    await checkPrecedenceOf403(world, scope, token);
  }
}

async function checkScopeWalk(world: World, scope: Scope, token: string): Promise<void> {
  const repo = freshRepo(world, `ghost-${scope}`);
  for (const endpoint of ENDPOINTS) {
    const answer = await ask(world, endpoint, repo, token);
    const name = `${endpoint.path} with only the scope ${scope}`;
    const isAllowed = endpoint.scopes.length === 0 || endpoint.scopes.includes(scope);
    if (!isAllowed) expectError(world, `${name} is refused`, answer, 403, 'INSUFFICIENT_SCOPE');
    else {
      // What is asked for does not exist, so an allowed call finds either nothing or an empty list.
      const isLetIn = answer.status === 200 || answer.status === 404;
      const detail = `asked ${answer.asked}; expected 200 or 404, got ${show(answer)}`;
      world.recorder.check(`${name} is let in`, isLetIn, detail);
    }
  }
  const own = await post(world, 'getOrganization', {}, { token });
  world.recorder.equal(`the ${scope} token has just that scope`, pick(own.json, 'token', 'scopes'), [scope]);
  if (!world.hasSandbox) return world.recorder.skip('sandbox calls need admin', 'no sandbox');
  const control = await world.client.send('/sandbox/v1/getPullRequest', {
    token,
    body: { repo, pr: { number: 1 } },
  });
  expectError(world, `the sandbox refuses the scope ${scope}`, control, 403, 'INSUFFICIENT_SCOPE');
}

async function checkPrecedenceOf403(world: World, scope: Scope, token: string): Promise<void> {
  // No limited token may create queues.
  const { client } = world;
  const invalid = await client.send('/v1/createQueue', { token, body: {} });
  expectError(world, `403 comes before 400 validation (${scope})`, invalid, 403, 'INSUFFICIENT_SCOPE');
  const malformed = await client.send('/v1/createQueue', { token, raw: '{' });
  expectError(world, `403 comes before 400 malformed JSON (${scope})`, malformed, 403, 'INSUFFICIENT_SCOPE');
  const media = await client.send('/v1/createQueue', { token, raw: 'x', contentType: 'text/plain' });
  expectError(world, `403 comes before 415 (${scope})`, media, 403, 'INSUFFICIENT_SCOPE');
}
