// What lets us in. A token of an account is used as it is. One of an OAuth application runs out: it is renewed shortly
// before, once at a time per connection, and kept. Another process may have been quicker: what it kept is used then.

import type { Clock } from '#base/clock.ts';
import type { Connections, Credentials, HostConnection } from '../connection.ts';
import { HostError } from '../host.ts';
import { RenewedToken } from './schema.ts';

type OAuth = Extract<Credentials, { kind: 'oauth' }>;

type CredentialOptions = {
  readonly connections: Connections;
  readonly clock: Clock;
  readonly timeoutMs: number;
};

export type TokenOf = (
  connection: HostConnection,
  /** The host does not accept this one, whatever we think of its age. */
  refused?: string,
) => Promise<string>;

/** A token that is about to run out may have done so when it arrives. */
const marginMs = 60_000;

export function createTokenOf(options: CredentialOptions): TokenOf {
  const { clock } = options;
  const underWay = new Map<string, Promise<OAuth>>();
  /** By the refresh token that was used up: whoever still reads the old row must not use it twice. */
  const renewed = new Map<string, OAuth>();

  const renewOnce = (connection: HostConnection, old: OAuth): Promise<OAuth> => {
    const known = underWay.get(connection.id);
    if (known !== undefined) return known;
    const renewal = renew(options, connection, old)
      .then((credentials) => {
        if (renewed.size > 1_000) renewed.clear();
        renewed.set(old.refreshToken, credentials);
        return credentials;
      })
      .finally(() => underWay.delete(connection.id));
    underWay.set(connection.id, renewal);
    return renewal;
  };

  return async (connection, refused) => {
    const { credentials } = connection;
    switch (credentials.kind) {
      case 'token':
        return credentials.token;
      case 'oauth': {
        const current = renewed.get(credentials.refreshToken) ?? credentials;
        const isFresh = clock.now().getTime() < current.expiresAt - marginMs;
        if (isFresh && current.accessToken !== refused) return current.accessToken;
        return (await renewOnce(connection, current)).accessToken;
      }
      case 'github-app':
        throw new HostError('forbidden', `${connection.host} has no GitHub Apps. Connect it with a token.`);
    }
  };
}

async function renew(
  { connections, clock, timeoutMs }: CredentialOptions,
  connection: HostConnection,
  old: OAuth,
): Promise<OAuth> {
  const { clientId, clientSecret, refreshToken } = old;
  const { host, url } = connection;
  let answer: Response;
  let body: unknown;
  try {
    answer = await fetch(`${url}/login/oauth/access_token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({
        client_id: clientId,
        client_secret: clientSecret,
        grant_type: 'refresh_token',
        refresh_token: refreshToken,
      }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    body = await answer.json().catch(() => null);
  } catch {
    // Without the cause: it may hold what was sent.
    throw new HostError('unavailable', `${host} cannot be reached to renew our access.`);
  }
  if (answer.status === 429 || answer.status >= 500)
    throw new HostError(
      'unavailable',
      `${host} answered ${answer.status} when our access was to be renewed.`,
    );
  const token = RenewedToken.safeParse(body);
  if (answer.ok && token.success) {
    const { access_token, refresh_token, expires_in } = token.data;
    const expiresAt = clock.now().getTime() + expires_in * 1_000;
    const fresh: OAuth = { ...old, accessToken: access_token, refreshToken: refresh_token, expiresAt };
    await connections.save(connection, fresh);
    return fresh;
  }
  const now = (await connections.find(connection.organizationId, host))?.credentials;
  if (now?.kind === 'oauth' && now.refreshToken !== refreshToken) return now;
  throw new HostError('forbidden', `${host} does not renew our access. Connect it again.`);
}
