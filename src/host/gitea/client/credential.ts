// Credentials. The token of an account is used as it is. A token of an OAuth application expires: it is
// renewed shortly before, once at a time per connection, and stored. If another process was faster, its token
// is used.

import type { Clock } from '#base/clock.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import type { Connections, Credentials, ConnectionWithCredentials } from '../../connection.ts';
import { HostError } from '../../host.ts';
import { RenewedToken } from '../schema.ts';

type OAuth = Extract<Credentials, { kind: 'oauth' }>;

type CredentialOptions = {
  readonly connections: Connections;
  readonly clock: Clock;
  readonly timeoutMs: number;
};

export type TokenOf = (
  connection: ConnectionWithCredentials,
  /** A token that the host does not accept, whatever its age. */
  refused?: string,
) => Promise<string>;

/** A token that is about to expire may be expired when it arrives. */
const marginMs = 60_000;

export function createTokenProvider(options: CredentialOptions): TokenOf {
  const { clock } = options;
  const underWay = new Map<string, Promise<OAuth>>();
  /** By the refresh token that was used up: a caller that read the old row must not use it again. */
  const renewed = createTtlCache<OAuth>({ max: 1_000 });

  const renewOnce = (connection: ConnectionWithCredentials, old: OAuth): Promise<OAuth> => {
    const known = underWay.get(connection.id);
    if (known !== undefined) return known;
    const renewal = renew(options, connection, old)
      .then((credentials) => {
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
      default:
        throw new HostError(
          'forbidden',
          `${connection.host} does not take credentials of the kind ${credentials.kind}. Connect it with a token or an OAuth application.`,
        );
    }
  };
}

async function renew(
  { connections, clock, timeoutMs }: CredentialOptions,
  connection: ConnectionWithCredentials,
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
    // Without the cause: it may contain the request.
    throw new HostError('unavailable', `${host} is unreachable, so Signalbox cannot renew its access.`);
  }
  if (answer.status === 429 || answer.status >= 500)
    throw new HostError(
      'unavailable',
      `${host} answered ${answer.status} when Signalbox renewed its access.`,
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
  throw new HostError('forbidden', `${host} does not renew the access of Signalbox. Connect it again.`);
}
