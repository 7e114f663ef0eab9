// Who is asking. The token alone decides, or the session, which speaks for a token or for a person: its cell, its
// organization, its scopes.

import type { FastifyRequest } from 'fastify';
import { appError } from '#base/error.ts';
import type { Endpoint } from '#contract/endpoint.ts';
import type { Cell, Cells } from '#db/cell.ts';
import {
  type Credential,
  hashToken,
  type Principal,
  readScope,
  type Scope,
  type ScopeKey,
} from '#db/scope-view.ts';
import type { RateLimiter } from './rate-limit.ts';

/** A token or a session that was presented, not yet believed. */
export type Caller = Credential & { readonly cell: Cell };

/** Longest header that is looked at. */
const tokenLengthMax = 512;

export function callerOf(cells: Cells, request: FastifyRequest): Caller {
  const header = request.headers['x-api-token'];
  return callerWith(cells, Array.isArray(header) ? header[0] : header);
}

export function callerWith(cells: Cells, token: string | undefined): Caller {
  if (token === undefined || token === '')
    throw appError('AUTHENTICATION_REQUIRED', {
      public: 'Send your API token in the x-api-token header.',
    });
  // A token that is not of our form (a bootstrap token) lives in the first cell.
  const cell = token.startsWith('sbx_') ? cells.find(token.split('_')[1] ?? '') : cells.first;
  if (cell === undefined || token.length > tokenLengthMax) throw notBelieved('token');
  return { kind: 'token', cell, hash: hashToken(token) };
}

export const notBelieved = (kind: Caller['kind']) =>
  appError('INVALID_TOKEN', {
    public:
      kind === 'token'
        ? 'The API token is unknown, revoked or expired. Ask an administrator for a new one.'
        : 'The session has ended. Sign in again.',
  });

/** Reads what the request is about together with its token; refuses a token that may not. */
export async function authorize(
  caller: Caller,
  endpoint: Pick<Endpoint, 'scopes'>,
  key: ScopeKey,
): Promise<Scope> {
  const scope = await readScope(caller.cell.reader, caller, key);
  if (scope === null) throw notBelieved(caller.kind);
  requireScope(scope.principal, endpoint);
  return scope;
}

function requireScope(principal: Principal, { scopes }: Pick<Endpoint, 'scopes'>): void {
  if (scopes.length === 0 || scopes.some((needed) => principal.scopes.includes(needed))) return;
  const held = principal.scopes.join(', ');
  throw appError('INSUFFICIENT_SCOPE', {
    public:
      principal.kind === 'token'
        ? `This call needs a token with the scope ${scopes.join(' or ')}; this one has ${held}.`
        : `This call needs the scope ${scopes.join(' or ')}; your role has ${held}. Ask an administrator for another role.`,
  });
}

/** Who did it, for timelines and audit. Names of tokens and of people may be the same, so the kind is told with them. */
export function actorOf({ kind }: Pick<Caller, 'kind'>, principal: Pick<Principal, 'kind' | 'name'>): string {
  if (principal.kind === 'person') return `person:${principal.name}`;
  return `${kind === 'token' ? 'api' : 'app'}:${principal.name}`;
}

/**
 * Limits per organization, one for its tokens and one for its people: pages that are open must not keep scripts waiting. The organization of a token is learnt from its first request, so that a later one over the
 * limit is refused before it costs the database anything.
 */
export type Throttle = {
  /** Refuses at once if the token's organization is known; answers whether it was. */
  readonly early: (caller: Caller, nowMs: number) => boolean;
  /** Learns the token's organization, and refuses if `early` could not know it. */
  readonly late: (caller: Caller, principal: Principal, wasEarly: boolean, nowMs: number) => void;
  /** A token that is no longer good must not spend the limit of the organization it had. */
  readonly forget: (caller: Caller) => void;
};

/** Tokens whose organization is remembered. */
const knownMax = 10_000;

export function createThrottle(limits: Readonly<Record<Caller['kind'], RateLimiter>>): Throttle {
  const organizations = new Map<string, string>();
  const keyOf = (caller: Caller) => caller.hash.toString('latin1');
  const take = ({ kind }: Caller, organizationId: string, nowMs: number) => {
    const retryAfterSeconds = limits[kind].take(organizationId, nowMs);
    if (retryAfterSeconds !== null)
      throw appError('RATE_LIMITED', {
        public: `Your organization sends more requests than it may. Try again in ${retryAfterSeconds} s.`,
        retryAfterSeconds,
      });
  };
  return {
    early: (caller, nowMs) => {
      const organizationId = organizations.get(keyOf(caller));
      if (organizationId === undefined) return false;
      take(caller, organizationId, nowMs);
      return true;
    },
    late: (caller, principal, wasEarly, nowMs) => {
      if (wasEarly) return;
      if (organizations.size >= knownMax) organizations.clear();
      organizations.set(keyOf(caller), principal.organizationId);
      take(caller, principal.organizationId, nowMs);
    },
    forget: (caller) => void organizations.delete(keyOf(caller)),
  };
}
