/** Paths, methods, media types, JSON, request ids, and what is served outside of /v1. */
import { randomUUID } from 'node:crypto';
import { show } from './client.ts';
import { ENDPOINTS } from './endpoint.ts';
import { expectError, expectInvalid, expectOk } from './expect.ts';
import { pick } from './json.ts';
import { freshRepo, post, type World } from './world.ts';

export async function checkPublicPaths(world: World): Promise<void> {
  const { client, recorder } = world;
  const open = { method: 'GET', token: null } as const;
  for (const path of ['/healthz', '/readyz', '/openapi.json'])
    expectOk(world, `${path} answers without a token`, await client.send(path, open));
  const docs = await client.send('/docs', open);
  const isServed = [200, 301, 302, 307, 308].includes(docs.status);
  recorder.check('/docs answers without a token', isServed, `got ${show(docs)}`);
  const document = client.contract?.document;
  const version = String(pick(document, 'openapi'));
  recorder.check('/openapi.json is OpenAPI 3.1', version.startsWith('3.1.'), `openapi: ${version}`);
  for (const { method, path } of ENDPOINTS) {
    const isListed = client.contract?.hasOperation(method, path) === true;
    recorder.check(`/openapi.json documents ${method} ${path}`, isListed, 'no such operation');
  }
  const schemes = Object.values(pick(document, 'components', 'securitySchemes') ?? {});
  const hasHeader = schemes.some(
    (s) => pick(s, 'type') === 'apiKey' && pick(s, 'in') === 'header' && pick(s, 'name') === 'x-api-token',
  );
  recorder.check('/openapi.json declares the x-api-token header', hasHeader, JSON.stringify(schemes));
}

export async function checkRoutes(world: World): Promise<void> {
  const { client, recorder } = world;
  for (const method of ['GET', 'POST', 'DELETE']) {
    const answer = await client.send('/v1/noSuchThing', { method });
    expectError(world, `${method} of an unknown path under /v1`, answer, 404, 'ROUTE_NOT_FOUND');
  }
  const deeper = await client.send('/v1/getQueue/more', { body: {} });
  expectError(world, 'a path below a known one is unknown', deeper, 404, 'ROUTE_NOT_FOUND');
  const outside = await client.send('/no-such-page', { method: 'GET' });
  expectError(world, 'an unknown path outside of /v1', outside, 404, 'ROUTE_NOT_FOUND');
  for (const endpoint of ENDPOINTS) {
    const methods =
      endpoint.method === 'POST' ? ['GET', 'PUT', 'PATCH', 'DELETE'] : ['POST', 'PUT', 'DELETE'];
    for (const method of endpoint.path === '/v1/getQueue' ? methods : methods.slice(0, 1)) {
      const answer = await client.send(endpoint.path, { method });
      const allowed = new Set((answer.headers['allow'] ?? '').split(',').map((part) => part.trim()));
      expectError(world, `${method} ${endpoint.path}`, answer, 405, 'METHOD_NOT_ALLOWED');
      const isNamed = allowed.has(endpoint.method) && !allowed.has(method);
      recorder.check(
        `${method} ${endpoint.path} names the method`,
        isNamed,
        `allow: ${answer.headers['allow']}`,
      );
    }
  }
}

export async function checkMediaTypes(world: World): Promise<void> {
  const { client } = world;
  const known = JSON.stringify({ repo: freshRepo(world, 'ghost'), targetBranch: 'main' });
  const wrong = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'text/json',
    'application/jsonx',
  ];
  for (const contentType of wrong) {
    const answer = await client.send('/v1/getQueue', { raw: known, contentType });
    expectError(world, `a body of ${contentType}`, answer, 415, 'UNSUPPORTED_MEDIA_TYPE');
  }
  for (const contentType of [null, '']) {
    const answer = await client.send('/v1/getQueue', { raw: known, contentType });
    expectError(
      world,
      `a body with ${contentType === null ? 'no' : 'an empty'} content type header`,
      answer,
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    );
  }
  for (const contentType of [
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'Application/JSON',
  ]) {
    const answer = await client.send('/v1/getQueue', { raw: known, contentType });
    expectError(world, `a body of ${contentType} is read`, answer, 404, 'QUEUE_NOT_FOUND');
  }
}

export async function checkJsonBodies(world: World): Promise<void> {
  const { client } = world;
  for (const raw of ['{', '', 'nul', '{"repo":', '{} x', "{'repo':1}"]) {
    const answer = await client.send('/v1/getQueue', { raw, contentType: 'application/json' });
    expectError(world, `the body ${JSON.stringify(raw)}`, answer, 400, 'MALFORMED_JSON');
  }
  for (const raw of ['[]', 'null', '"text"', '7', 'true']) {
    const answer = await client.send('/v1/getQueue', { raw });
    expectError(world, `the body ${raw} is JSON but no object`, answer, 400, 'VALIDATION_FAILED');
  }
  const none = await client.send('/v1/getQueue', {});
  expectError(world, 'no body at all', none, 400, 'VALIDATION_FAILED');
}

export async function checkRequestIds(world: World): Promise<void> {
  const { client, recorder } = world;
  const ask = (id: string) =>
    client.send('/v1/getOrganization', { body: {}, headers: { 'x-request-id': id } });
  const own = `conformance-${randomUUID()}`;
  recorder.equal('a sane request id is echoed on success', (await ask(own)).headers['x-request-id'], own);
  const refused = await client.send('/v1/getQueue', { body: {}, headers: { 'x-request-id': own } });
  recorder.equal('a sane request id is echoed on errors', refused.headers['x-request-id'], own);
  recorder.equal('the error body repeats it', pick(refused.json, 'error', 'requestId'), own);
  const denied = await client.send('/v1/getQueue', {
    body: {},
    token: null,
    headers: { 'x-request-id': own },
  });
  recorder.equal('the body of a 401 repeats it', pick(denied.json, 'error', 'requestId'), own);
  const insane = ['a'.repeat(1000), '<script>alert(1)</script>', 'two words "quoted"', `x;\ty`];
  for (const id of insane) {
    const echoed = (await ask(id)).headers['x-request-id'] ?? '';
    recorder.check(`the request id ${id.slice(0, 30)} is replaced`, echoed !== '' && echoed !== id, echoed);
  }
  const first = (await ask('')).headers['x-request-id'] ?? '';
  const second = (await post(world, 'getOrganization', {})).headers['x-request-id'] ?? '';
  const areFresh = first !== '' && second !== '' && first !== second;
  recorder.check(
    'without one, or with an empty one, each answer gets its own',
    areFresh,
    `${first} ${second}`,
  );
}

export async function checkEmptyHeaders(world: World): Promise<void> {
  const headers = {
    'x-source': '',
    'x-forked-workflow-run-id': '',
    'x-request-id': '',
    'content-encoding': '',
  };
  const answer = await world.client.send('/v1/getOrganization', { body: {}, headers });
  expectOk(world, 'headers that are present but empty count as absent', answer);
  const several = await post(world, 'submitPullRequest', {
    repo: {},
    pr: { number: 0 },
    priority: 256,
    noBatch: 1,
  });
  const paths = ['repo.host', 'repo.owner', 'repo.name', 'targetBranch', 'pr.number', 'priority', 'noBatch'];
  expectInvalid(world, 'seven problems are reported at once', several, ...paths);
}
