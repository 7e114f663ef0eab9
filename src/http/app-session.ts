// Signing in to the dashboard with an API token, and out again. The token is not kept: not here, not in the browser.
// Signing in as a person at an identity provider is in app-oidc.ts.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { roleOf, type Session, SignInRequest, type SignInWays } from '#contract/session.ts';
import type { Scope } from '#contract/common.ts';
import type { Principal } from '#db/scope-view.ts';
import { createSession, deleteSession } from '#db/session-store.ts';
import { dropSession, putSession, sessionOf } from './app-cookie.ts';
import { authorize, type Caller, callerWith, notBelieved } from './auth.ts';
import type { EndpointTools } from './endpoint.ts';
import { parseInput } from './validate.ts';

const sessionPath = '/app/api/session';
/** Where signing in at the identity provider begins. */
export const oidcStartPath = '/app/api/oidc/start';

/** Reads who a caller is, at the cost of one request of its organization. */
export async function principalOf(
  { throttleFor, strangers }: EndpointTools,
  request: FastifyRequest,
  caller: Caller,
  scopes: readonly Scope[] = [],
): Promise<Principal> {
  const throttle = throttleFor('getOrganization');
  const wasThrottled = throttle.early(caller, Date.now());
  const authorized = () => authorize(caller, { scopes }, {});
  const { principal } = await (wasThrottled ? authorized() : strangers.admit(request.ip, authorized)).catch(
    (error: unknown) => {
      throttle.forget(caller);
      throw error;
    },
  );
  throttle.late(caller, principal, wasThrottled, Date.now());
  return principal;
}

function presentSession(principal: Principal, expiresAt: Date, isSandbox: boolean): Session {
  const scopes = principal.scopes as Scope[];
  return {
    organization: { slug: principal.organizationSlug, name: principal.organizationName },
    kind: principal.kind,
    name: principal.name,
    scopes,
    role: roleOf(scopes),
    expires_at: expiresAt.toISOString(),
    is_sandbox: isSandbox,
  };
}

const send = (reply: FastifyReply, body: object): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(JSON.stringify(body));

/** A token and little more, from a caller that is not known yet. */
const signInBytesMax = 8 * 1024;

export function addSessionRoutes(app: FastifyInstance, tools: EndpointTools): void {
  const { deps } = tools;

  app.post(sessionPath, { bodyLimit: signInBytesMax }, async (request, reply) => {
    const parsed = parseInput(SignInRequest, request.body ?? {});
    if (parsed.kind === 'invalid') throw parsed.error;
    const caller = callerWith(deps.cells, parsed.value.token.trim());
    const principal = await principalOf(tools, request, caller);
    const session = await createSession(caller.cell, caller.hash);
    if (session === null) throw notBelieved('token');
    await endSession(tools, request);
    putSession(reply, deps, session);
    const isSandbox = deps.isSandboxServing(caller.cell.name);
    return send(reply, presentSession(principal, session.expiresAt, isSandbox));
  });

  app.get(sessionPath, async (request, reply) => {
    const caller = sessionOf(deps.cells, request);
    const principal = await principalOf(tools, request, caller);
    const isSandbox = deps.isSandboxServing(caller.cell.name);
    return send(reply, presentSession(principal, principal.sessionExpiresAt!, isSandbox));
  });

  // Without a session: it says how to get one.
  app.get('/app/api/sign-in', (_request, reply) => {
    const { oidc, publicUrl } = deps.config;
    const ways: SignInWays = {
      // The whole address: the provider sends the browser back to that one, where its cookie must be.
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
    caller = sessionOf(deps.cells, request);
  } catch {
    return;
  }
  await deleteSession(caller.cell.db, caller.hash);
}
