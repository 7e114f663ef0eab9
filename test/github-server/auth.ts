// Who asks: a JSON web token signed by the App's key, an installation's token, a person's, or nobody. And whether they may.

import { type KeyObject, randomBytes, verify } from 'node:crypto';
import { Refusal, refused } from './answer.ts';
import {
  type Access,
  type Account,
  type App,
  atLeast,
  type PermissionLevel,
  type Principal,
  type Repository,
  type Site,
} from './model.ts';

const unauthorized = (message: string) => new Refusal(refused(401, message));

/** Seconds that a web token may live. */
const webTokenSecondsMax = 600;
/** Seconds that another machine's clock may be ahead. */
const driftSeconds = 60;

function decode(part: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  } catch {
    throw unauthorized('A JSON web token could not be decoded');
  }
}

function appOf(site: Site, key: KeyObject, jwt: string): App {
  const [head = '', body = '', seal = ''] = jwt.split('.');
  const signed = Buffer.from(`${head}.${body}`);
  if (decode(head)['alg'] !== 'RS256' || !verify('RSA-SHA256', signed, key, Buffer.from(seal, 'base64url')))
    throw unauthorized('A JSON web token could not be decoded');
  const { iss, iat, exp } = decode(body);
  const now = site.clock.now().getTime() / 1_000;
  if (!site.registration.isRegistered) throw new Refusal(refused(404, 'Integration not found'));
  if (iss !== site.app.id && iss !== String(site.app.id) && iss !== site.app.clientId)
    throw new Refusal(refused(404, 'Integration not found'));
  if (typeof iat !== 'number' || iat > now + driftSeconds)
    throw unauthorized(
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    );
  if (typeof exp !== 'number' || exp <= now)
    throw unauthorized(
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    );
  if (exp > now + webTokenSecondsMax + driftSeconds)
    throw unauthorized("'Expiration time' claim ('exp') is too far in the future");
  return site.app;
}

/** What stands in the header: `Bearer x`, `token x`, or a user name and password of which the password counts. */
function secretOf(authorization: string | undefined): string | null {
  if (authorization === undefined) return null;
  const [, scheme = '', value = ''] = /^(\w+)\s+(\S+)$/.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== 'basic') return value;
  const text = Buffer.from(value, 'base64').toString();
  return text.slice(text.indexOf(':') + 1);
}

export function principalOf(site: Site, key: KeyObject, authorization: string | undefined): Principal {
  const secret = secretOf(authorization);
  if (secret === null) return { kind: 'anonymous' };
  if (secret.split('.').length === 3) return { kind: 'app', app: appOf(site, key, secret) };
  const token = site.tokens.get(secret);
  if (token === undefined || (token.expiresAt !== null && token.expiresAt <= site.clock.now()))
    throw unauthorized('Bad credentials');
  return token.principal;
}

export function newToken(site: Site, principal: Principal, prefix: string, expiresAt: Date | null): string {
  const secret = `${prefix}_${randomBytes(18).toString('hex')}`;
  site.tokens.set(secret, { principal, expiresAt });
  return secret;
}

/** As whom a principal writes. */
export function accountOf(principal: Principal): Account {
  switch (principal.kind) {
    case 'anonymous':
      throw unauthorized('Requires authentication');
    case 'app':
      return principal.app.bot;
    case 'installation':
      return principal.installation.app.bot;
    case 'user':
      return principal.account;
  }
}

export const viaOf = (principal: Principal): App | null =>
  principal.kind === 'installation' ? principal.installation.app : null;

export function accessOfAccount(repository: Repository, { login }: Account): Access {
  const given = repository.access.get(login.toLowerCase()) ?? 'none';
  const own: Access = login === repository.owner.login ? 'admin' : 'none';
  const all: Access = repository.isPrivate ? 'none' : 'read';
  return [given, own, all].reduce((best, next) => (atLeast(best, next) ? best : next));
}

export function isInstalledOn(principal: Principal, { owner, id }: Repository): boolean {
  if (principal.kind !== 'installation') return false;
  const { installation, repositoryIds } = principal;
  return installation.account === owner && (repositoryIds === null || repositoryIds.includes(id));
}

export function maySee(repository: Repository, principal: Principal): boolean {
  if (!repository.isPrivate) return principal.kind !== 'app';
  if (principal.kind === 'installation') return isInstalledOn(principal, repository);
  return principal.kind === 'user' && accessOfAccount(repository, principal.account) !== 'none';
}

const levels: readonly PermissionLevel[] = ['read', 'write', 'admin'];

/** What a route asks for: any of these permissions of an App, or this access of a person. */
export type Needs = {
  readonly permissions: readonly string[];
  readonly level: PermissionLevel;
  readonly access: Access;
};

/** Null: it may; otherwise GitHub's words. */
export function objection(repository: Repository, principal: Principal, needs: Needs): string | null {
  const { permissions, level, access } = needs;
  switch (principal.kind) {
    case 'anonymous':
      return access === 'read' ? null : 'Requires authentication';
    case 'app':
      return 'Resource not accessible by integration';
    case 'installation': {
      // The metadata of what everybody can see are not asked for.
      const isOpen = !repository.isPrivate && level === 'read' && access === 'read';
      const has = permissions.some((name) => {
        const given = principal.permissions[name];
        return given !== undefined && levels.indexOf(given) >= levels.indexOf(level);
      });
      return isOpen || (isInstalledOn(principal, repository) && has)
        ? null
        : 'Resource not accessible by integration';
    }
    case 'user':
      return atLeast(accessOfAccount(repository, principal.account), access)
        ? null
        : access === 'admin'
          ? 'Must have admin rights to Repository.'
          : 'Resource not accessible by personal access token';
  }
}
