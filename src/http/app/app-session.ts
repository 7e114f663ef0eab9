// Signs in to the dashboard with an API token, and out again. The token is stored neither here nor in the
// browser. app-oidc.ts signs in a person at an identity provider.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { roleForScopes, type Session, SignInRequest, type SignInWays } from '#contract/session.ts';
import type { Scope } from '#contract/common.ts';
import type { Principal } from '#db/account/scope-view.ts';
import { createSession, deleteSession } from '#db/account/session-store.ts';
import { dropSession, putSession, readSessionCaller } from './app-cookie.ts';
import { authorize, type Caller, callerWith, invalidCredentialError } from '../guard/auth.ts';
import type { EndpointTools } from '../endpoint/endpoint.ts';
import { parseInput } from '../endpoint/validate.ts';

const sessionPath = '/app/api/session';
/** Where signing in at the identity provider begins. */
export const oidcStartPath = '/app/api/oidc/start';

/** Reads the principal of a caller, which counts as one request of its organization. */
export async function readPrincipal(
  { throttleFor, strangers }: EndpointTools,
  request: FastifyRequest,
  caller: Caller,
  scopes: readonly Scope[] = [],
): Promise<Principal> {
  const throttle = throttleFor('getOrganization');
  const wasThrottled = throttle.early(caller, performance.now());
  const authorized = () => authorize(caller, { scopes }, {});
  const { principal } = await (wasThrottled ? authorized() : strangers.admit(request.ip, authorized)).catch(
    (error: unknown) => {
      throttle.forget(caller);
      throw error;
    },
  );
  throttle.late(caller, principal, wasThrottled, performance.now());
  return principal;
}

function presentSession(principal: Principal, expiresAt: Date, isSandbox: boolean): Session {
  const scopes = principal.scopes as Scope[];
  return {
    organization: { slug: principal.organizationSlug, name: principal.organizationName },
    kind: principal.kind,
    name: principal.name,
    scopes,
    role: roleForScopes(scopes),
    expires_at: expiresAt.toISOString(),
    is_sandbox: isSandbox,
  };
}

const send = (reply: FastifyReply, body: object): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(JSON.stringify(body));

/** A token and little more, from a caller that is still unknown. */
const signInBytesMax = 8 * 1024;

export function addSessionRoutes(app: FastifyInstance, tools: EndpointTools): void {
  const { deps } = tools;

  app.post(sessionPath, { bodyLimit: signInBytesMax }, async (request, reply) => {
    const parsed = parseInput(SignInRequest, request.body ?? {});
    if (parsed.kind === 'invalid') throw parsed.error;
    const caller = callerWith(deps.cells, parsed.value.token.trim());
    const principal = await readPrincipal(tools, request, caller);
    const session = await createSession(caller.cell, caller.hash);
    if (session === null) throw invalidCredentialError('token');
    await endSession(tools, request);
    putSession(reply, deps, session);
    const isSandbox = deps.isSandboxServing(caller.cell.name);
    return send(reply, presentSession(principal, session.expiresAt, isSandbox));
  });

  app.get(sessionPath, async (request, reply) => {
    const caller = readSessionCaller(deps.cells, request);
    const principal = await readPrincipal(tools, request, caller);
    const isSandbox = deps.isSandboxServing(caller.cell.name);
    return send(reply, presentSession(principal, principal.sessionExpiresAt!, isSandbox));
  });

  // Needs no session: the answer says how to get one.
  app.get('/app/api/sign-in', (_request, reply) => {
    const { oidc, publicUrl } = deps.config;
    const ways: SignInWays = {
      // The full URL: the provider redirects the browser to that origin, where its cookie must be.
      oidc: oidc === null ? null : { label: oidc.label, start_url: `${publicUrl}${oidcStartPath}` },
    };
    return send(reply, ways);
  });

  app.delete(sessionPath, async (request, reply) => {
    await endSession(tools, request);
    dropSession(reply, deps);
    return send(reply, {});
  });
}

/** Ends the session that the request came with, if it came with one. */
export async function endSession({ deps }: EndpointTools, request: FastifyRequest): Promise<void> {
  let caller: Caller;
  try {
    caller = readSessionCaller(deps.cells, request);
  } catch {
    return;
  }
  await deleteSession(caller.cell.db, caller.hash);
}
