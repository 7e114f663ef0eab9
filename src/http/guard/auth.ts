// Who is calling. Only the token decides, or the session, which acts for a token or for a person: its cell,
// its organization, its scopes.

import type { FastifyRequest } from 'fastify';
import { appError } from '#base/error.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import type { Endpoint } from '#contract/endpoint/endpoint-type.ts';
import type { Cell, Cells } from '#db/cell.ts';
import {
  type Credential,
  hashToken,
  jobTokenPrefix,
  type Principal,
  readScope,
  type RequestScope,
  type ScopeKey,
} from '#db/account/scope-view.ts';
import type { RateLimiter } from './rate-limit.ts';

/** A presented token or session that is not verified yet. */
export type Caller = Credential & { readonly cell: Cell };

/** A longer token is refused without a read of the database. */
const tokenLengthMax = 512;

export function readTokenCaller(
  cells: Cells,
  { headers }: FastifyRequest,
  { takesBearer }: Pick<Endpoint, 'takesBearer'>,
): Caller {
  const header = headers['x-api-token'];
  const token = Array.isArray(header) ? header[0] : header;
  return callerWith(cells, token ?? (takesBearer === true ? bearerToken(headers.authorization) : undefined));
}

const bearerToken = (header = ''): string | undefined => /^bearer ([^ ]+)$/i.exec(header)?.[1];

export function callerWith(cells: Cells, token: string | undefined): Caller {
  if (token === undefined || token === '')
    throw appError('AUTHENTICATION_REQUIRED', {
      public: 'Send your API token in the x-api-token header.',
    });
  // A token of another form (a bootstrap token) is in the first cell.
  const isJob = token.startsWith(jobTokenPrefix);
  const namesCell = isJob || token.startsWith('sbx_');
  const cell = namesCell ? cells.find(token.split('_')[1] ?? '') : cells.first;
  if (cell === undefined || token.length > tokenLengthMax) throw invalidCredentialError('token');
  return { kind: isJob ? 'job' : 'token', cell, hash: hashToken(token) };
}

export const invalidCredentialError = (kind: Caller['kind']) =>
  appError('INVALID_TOKEN', {
    public:
      kind === 'session'
        ? 'The session has ended. Sign in again.'
        : 'The API token is unknown, revoked or expired. Ask an administrator for a new one.',
  });

/** Reads the objects of the request together with its token; refuses a token without the needed scope. */
export async function authorize(
  caller: Caller,
  endpoint: Pick<Endpoint, 'scopes'>,
  key: ScopeKey,
): Promise<RequestScope> {
  const scope = await readScope(caller.cell.reader, caller, key);
  if (scope === null) throw invalidCredentialError(caller.kind);
  requireScope(scope.principal, endpoint);
  return scope;
}

function requireScope(principal: Principal, { scopes }: Pick<Endpoint, 'scopes'>): void {
  if (scopes.length === 0 || scopes.some((needed) => principal.scopes.includes(needed))) return;
  const held = principal.scopes.join(', ');
  throw appError('INSUFFICIENT_SCOPE', {
    public:
      principal.kind === 'token'
        ? `This call needs a token with the scope ${scopes.join(' or ')}; this one has ${held}. Ask an administrator for another token.`
        : `This call needs the scope ${scopes.join(' or ')}; your role has ${held}. Ask an administrator for another role.`,
  });
}

/** The actor for timelines and audit, with its kind: a token and a person may have the same name. */
export function actorName(
  { kind }: Pick<Caller, 'kind'>,
  principal: Pick<Principal, 'kind' | 'name'>,
): string {
  if (principal.kind === 'person') return `person:${principal.name}`;
  return `${kind === 'session' ? 'app' : 'api'}:${principal.name}`;
}

/**
 * Rate limits per organization, one for its tokens and one for its people: open pages must not delay scripts.
 * The organization of a token is known from its first request, so that a later request over the limit is
 * refused before it costs a read of the database.
 */
export type Throttle = {
  /** Refuses at once if the token's organization is known; returns whether it was. */
  readonly early: (caller: Caller, nowMs: number) => boolean;
  /** Records the token's organization, and refuses if `early` did not know it. */
  readonly late: (caller: Caller, principal: Principal, wasEarly: boolean, nowMs: number) => void;
  /** A token that is no longer valid must not use up the limit of its former organization. */
  readonly forget: (caller: Caller) => void;
};

/** Tokens whose organization is cached. */
const knownMax = 10_000;

export function createThrottle(limits: Readonly<Record<Caller['kind'], RateLimiter>>): Throttle {
  const organizations = createTtlCache<string>({ max: knownMax });
  const callerKey = (caller: Caller) => caller.hash.toString('latin1');
  const take = ({ kind }: Caller, organizationId: string, nowMs: number) => {
    const retryAfterSeconds = limits[kind].take(organizationId, nowMs);
    if (retryAfterSeconds !== null)
      throw appError('RATE_LIMITED', {
        public: `Your organization has reached its rate limit. Try again in ${retryAfterSeconds} s.`,
        retryAfterSeconds,
      });
  };
  return {
    early: (caller, nowMs) => {
      const organizationId = organizations.get(callerKey(caller));
      if (organizationId === undefined) return false;
      take(caller, organizationId, nowMs);
      return true;
    },
    late: (caller, principal, wasEarly, nowMs) => {
      if (wasEarly) return;
      organizations.set(callerKey(caller), principal.organizationId);
      take(caller, principal.organizationId, nowMs);
    },
    forget: (caller) => organizations.delete(callerKey(caller)),
  };
}
