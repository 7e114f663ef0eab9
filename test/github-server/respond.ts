// One request of the API: the caller, limits, the route, and the check of what goes out against GitHub's description.

import { createHash, type KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type Answer, Refusal, refused } from './answer.ts';
import { principalOf } from './auth.ts';
import type { Limiter } from './limit.ts';
import type { Edition, Principal, Site } from './model.ts';
import { mutationCount } from './mutation.ts';
import type { Found, Route } from './route.ts';
import { enterpriseVersion } from './route/app.ts';
import { checkAnswer, checkQuery, checkRequest, findOperation } from './validate.ts';
import type { AppHook } from './webhook.ts';

export type Tools = {
  readonly site: Site;
  readonly key: KeyObject;
  readonly appHook: AppHook;
  readonly limiter: Limiter;
  /** What a test puts between a route and its answer. */
  readonly tamper: { alter: ((operation: string, answer: Answer) => Answer) | null };
};

/** A request of the API, by the address it was sent to. */
export type ApiRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** `/api/v3`, or nothing. */
  readonly prefix: string;
};

/** As an Enterprise Server under its prefix, as GitHub itself without. */
const editionOf = (prefix: string): Edition => (prefix === '' ? 'api.github.com' : 'ghes-3.19');

function bodyOf({ body }: ApiRequest): unknown {
  if (body.length === 0) return undefined;
  try {
    return JSON.parse(body.toString()) as unknown;
  } catch {
    throw new Refusal(refused(400, 'Problems parsing JSON'));
  }
}

async function perform(
  tools: Tools,
  found: Found,
  request: ApiRequest,
  principal: Principal,
): Promise<Answer> {
  const { site, appHook, limiter } = tools;
  const { route, params } = found;
  const edition = editionOf(request.prefix);
  const { operation } = route;
  const query = request.url.searchParams;
  const odd = checkQuery(edition, operation, query.keys());
  if (odd !== null) return failed(site, odd);
  const body = bodyOf(request);
  const wrong = checkRequest(edition, operation, body);
  if (wrong !== null) return refused(422, `Invalid request.\n\n${wrong}`);
  const address = `${request.url.origin}${request.url.pathname}`;
  const call = { site, appHook, limiter, principal, params, query, body, address };
  return route.handle(call);
}

/** The run has failed: whoever sees the answer is told why. */
function failed(site: Site, reason: string): Answer {
  site.failures.push(reason);
  return refused(500, reason);
}

const etagOf = ({ body, headers }: Answer): string =>
  `W/"${createHash('sha256')
    .update(JSON.stringify([body, headers ?? null]))
    .digest('hex')}"`;

/** A read that was answered so before is not sent again. */
function conditional(request: ApiRequest, answer: Answer): Answer {
  if (request.method !== 'GET' || answer.status !== 200) return answer;
  const etag = etagOf(answer);
  const headers = { ...answer.headers, etag, 'cache-control': 'private, max-age=60, s-maxage=60' };
  const known = (request.headers['if-none-match'] ?? '').split(/,\s*/);
  return known.includes(etag) ? { status: 304, headers } : { ...answer, headers };
}

function caller({ site, key }: Tools, request: ApiRequest): Principal | Answer {
  try {
    return principalOf(site, key, request.headers.authorization);
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error;
  }
}

async function answerOf(
  tools: Tools,
  found: Found,
  request: ApiRequest,
  principal: Principal,
): Promise<Answer> {
  try {
    return await perform(tools, found, request, principal);
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    return failed(tools.site, error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

const commonHeaders = ({ site }: Tools, route: Route | null, prefix: string): Record<string, string> => ({
  date: site.clock.now().toUTCString(),
  'x-github-media-type': 'github.v3; format=json',
  'x-github-request-id': site.nextId().toString(16).toUpperCase(),
  ...(route?.accepts === undefined ? {} : { 'x-accepted-github-permissions': route.accepts }),
  ...(prefix === '' ? {} : { 'x-github-enterprise-version': enterpriseVersion }),
});

export async function respond(tools: Tools, found: Found | null, request: ApiRequest): Promise<Answer> {
  const common = commonHeaders(tools, found?.route ?? null, request.prefix);
  const principal = caller(tools, request);
  if (!('kind' in principal)) return { ...principal, headers: common };
  if (found === null || !isThere(found.route, request))
    return { ...refused(404, 'Not Found'), headers: common };
  const ticket = tools.limiter.begin(principal, {
    method: request.method,
    isFree: found.route.isFree === true,
    operation: found.route.operation,
    mutations: found.route.isUndescribed === true ? mutationCount(request.body) : 0,
  });
  const answer = ticket.refusal ?? (await checked(tools, found, request, principal));
  const final = conditional(request, answer);
  return { ...final, headers: { ...common, ...ticket.end(final.status), ...final.headers } };
}

/** Not everything that GitHub has is on an Enterprise Server. */
const isThere = ({ isUndescribed, operation }: Route, { prefix }: ApiRequest): boolean =>
  isUndescribed === true || findOperation(editionOf(prefix), operation) !== null;

async function checked(
  tools: Tools,
  found: Found,
  request: ApiRequest,
  principal: Principal,
): Promise<Answer> {
  const { operation } = found.route;
  const own = await answerOf(tools, found, request, principal);
  const answer = tools.tamper.alter?.(operation, own) ?? own;
  if (answer.status >= 500 || found.route.isUndescribed === true) return answer;
  const wrong = checkAnswer(editionOf(request.prefix), operation, answer.status, answer.body);
  return wrong === null ? answer : failed(tools.site, wrong);
}
