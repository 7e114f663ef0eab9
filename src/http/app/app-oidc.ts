// Signs a person in to the dashboard at the identity provider.
//
//   GET /app/api/oidc/start?return=/app/queue…
//       stores what must come back, and redirects the browser to the provider
//   GET /app/api/oidc/callback?code=…&state=…
//       checks what came back, creates a session, and redirects the browser to the page it asked for
//
// What must come back (state, nonce, PKCE verifier, page) is encrypted into a cookie of this browser: nothing
// is stored for sign-ins that are never finished, and a sign-in that another browser began cannot be finished
// here. Other sites may lead to both URLs, so this cookie is Lax. The session cookie stays Strict: it is set
// by the callback and first sent by the fetches of the page, which loads without a session.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { OidcConfig } from '#config/oidc.ts';
import { safeRedirectPath, type SignInProblem } from '#contract/session.ts';
import { type Claims, nameFrom, roleFrom, scopesOfRole } from '#core/person.ts';
import { findOrganization } from '#db/account/organization-store.ts';
import { ensurePerson } from '#db/account/person-store.ts';
import { seal, unseal } from '#db/seal.ts';
import { createPersonSession, type NewSession } from '#db/account/session-store.ts';
import { cookieIn, putCookie, putSession } from './app-cookie.ts';
import { endSession, oidcStartPath } from './app-session.ts';
import { cellKeys } from '../guard/cell-key.ts';
import type { Deps } from '../deps.ts';
import type { EndpointTools } from '../endpoint/endpoint.ts';
import { createProvider, toSignInError, SignInError } from './oidc-provider.ts';
import { createRateLimiter } from '../guard/rate-limit.ts';

const callbackPath = '/app/api/oidc/callback';
const cookie = { name: 'signalbox_oidc', path: '/app/api/oidc', sameSite: 'Lax' } as const;

/** How long a person may take at the provider. */
const begunMs = 600_000;
/** Anyone may start and finish a sign-in, which may call the provider: limits per process. */
const limit = { perSecond: 20, burst: 100 };
const subjectLengthMax = 512;

const Begun = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  path: z.string(),
  at: z.int(),
});
type Begun = z.output<typeof Begun>;

type SignInStateStore = {
  readonly put: (reply: FastifyReply, begun: Begun) => Promise<void>;
  /** Null: no cookie, one that Signalbox did not issue, or one that is too old. */
  readonly read: (request: FastifyRequest) => Promise<Begun | null>;
  readonly drop: (reply: FastifyReply) => void;
};

function keptInCookie(deps: Deps): SignInStateStore {
  const keyOf = cellKeys(deps, 'oidc');
  const { first } = deps.cells;
  return {
    put: async (reply, begun) => {
      const value = seal(await keyOf(first), cookie.name, JSON.stringify(begun)).toString('base64url');
      putCookie(reply, deps, { ...cookie, value, expiresAt: new Date(begun.at + begunMs) });
    },
    read: async (request) => {
      const bytes = Buffer.from(cookieIn(request, cookie.name) ?? '', 'base64url');
      const text = unseal(await keyOf(first), cookie.name, bytes);
      const begun = text === null ? null : Begun.parse(JSON.parse(text));
      return begun !== null && deps.clock.now().getTime() < begun.at + begunMs ? begun : null;
    },
    drop: (reply) => putCookie(reply, deps, { ...cookie, value: '', expiresAt: new Date(0) }),
  };
}

/** Creates the session of the person in the claims; refuses a person without a role. */
async function admit(
  { deps: { cells } }: EndpointTools,
  { issuer, organization, roles }: OidcConfig,
  claims: Claims,
): Promise<{ readonly session: NewSession; readonly personId: string; readonly role: string }> {
  const subject = claims['sub'];
  if (typeof subject !== 'string' || subject === '' || subject.length > subjectLengthMax)
    throw new SignInError('failed', 'the subject is missing or too long');
  const role = roleFrom(claims, roles);
  if (role === null)
    throw new SignInError(
      'no-role',
      Object.hasOwn(claims, roles.claim)
        ? 'no value of the claim maps to a role'
        : `the claim ${roles.claim} is missing`,
    );
  for (const cell of cells.all) {
    const organizationId = await findOrganization(cell.db, organization);
    if (organizationId === null) continue;
    const identity = { issuer, subject, name: nameFrom(claims) };
    const personId = await ensurePerson(cell.db, organizationId, identity);
    const scopes = scopesOfRole[role];
    return { session: await createPersonSession(cell, { organizationId, personId, scopes }), personId, role };
  }
  throw new SignInError('no-organization', `there is no organization ${organization}`);
}

const problemPath = (problem: SignInProblem, path: string, requestId: string): string =>
  `/app/sign-in?${new URLSearchParams({ problem, return: path, request: requestId }).toString()}`;

export async function addOidcRoutes(server: FastifyInstance, tools: EndpointTools): Promise<void> {
  const { deps } = tools;
  const { oidc, publicUrl } = deps.config;
  if (oidc === null) return;
  const provider = createProvider(oidc, `${publicUrl}${callbackPath}`);
  const kept = keptInCookie(deps);
  const limiter = createRateLimiter(limit.perSecond, limit.burst);

  /** Redirects to where the step leads, or else to the sign-in page, which says what went wrong. */
  const step = async (
    request: FastifyRequest,
    reply: FastifyReply,
    path: string,
    take: () => Promise<string>,
  ): Promise<FastifyReply> => {
    try {
      if (limiter.take('all', performance.now()) !== null)
        throw new SignInError('busy', 'too many sign-ins at once');
      return await reply.redirect(await take(), 303);
    } catch (error) {
      const { problem, reason } = toSignInError(error);
      deps.log.warn({ requestId: request.id, problem, reason }, 'sign-in failed');
      return reply.redirect(problemPath(problem, path, request.id), 303);
    }
  };

  await server.register((scope, _options, done) => {
    scope.addHook('onRequest', (_request, reply, next) => {
      reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
      next();
    });

    scope.get(oidcStartPath, (request, reply) => {
      const wanted = (request.query as Readonly<Record<string, unknown>>)['return'];
      const path = safeRedirectPath(typeof wanted === 'string' ? wanted : '');
      return step(request, reply, path, async () => {
        const { url, secrets } = await provider.begin();
        await kept.put(reply, { ...secrets, path, at: deps.clock.now().getTime() });
        return url;
      });
    });

    scope.get(callbackPath, async (request, reply) => {
      const begun = await kept.read(request);
      return step(request, reply, begun?.path ?? safeRedirectPath(''), async () => {
        const { state } = request.query as Readonly<Record<string, unknown>>;
        // The sign-in in progress stays valid: another site may send the browser here with any state.
        if (begun === null || state !== begun.state)
          throw new SignInError(
            'stale',
            begun === null ? 'no sign-in was started' : 'the state does not match',
          );
        kept.drop(reply);
        const { search } = new URL(request.url, publicUrl);
        const claims = await provider.finish(search, begun);
        const { session, personId, role } = await admit(tools, oidc, claims);
        await endSession(tools, request);
        putSession(reply, deps, session);
        deps.log.info({ requestId: request.id, personId, role }, 'user signed in');
        return begun.path;
      });
    });
    done();
  });
}
