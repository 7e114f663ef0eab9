// The identity provider, as a relying party sees it: authorization code with PKCE, state and nonce, and an ID
// token whose signature is checked against the provider's keys. The library is loaded at the first sign-in.

import type * as Library from 'openid-client';
import { hourMs } from '#base/duration.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import type { OidcConfig } from '#config/oidc.ts';
import type { SignInProblem } from '#contract/session.ts';
import type { Claims } from '#core/person.ts';

/** Created for one sign-in, and must come back with it. */
type Secrets = { readonly state: string; readonly nonce: string; readonly verifier: string };

export type Provider = {
  /** The URL where the browser signs in. */
  readonly begin: () => Promise<{ readonly url: string; readonly secrets: Secrets }>;
  /** The provider's claims about the person who came back with this query. */
  readonly finish: (search: string, secrets: Secrets) => Promise<Claims>;
};

/** Timeout of a request to the provider. */
const timeoutSeconds = 10;
/** How long the provider's metadata is cached; its keys are fetched as they are needed. */
const discoveredMs = hourMs;
const clockToleranceSeconds = 60;

type Discovered = { readonly library: typeof Library; readonly server: Library.Configuration };

export class SignInError extends Error {
  readonly problem: SignInProblem;
  /** For the log: short, and without secrets. */
  readonly reason: string;

  constructor(problem: SignInProblem, reason: string) {
    super(`${problem}: ${reason}`);
    this.problem = problem;
    this.reason = reason;
  }
}

export function createProvider(config: OidcConfig, redirectUri: string): Provider {
  const cache = createTtlCache<Discovered>({ ttlMs: discoveredMs, max: 1 });
  const discovered = () => cache.load('provider', () => discover(config));
  return {
    begin: async () => {
      const { library, server } = await discovered();
      const verifier = library.randomPKCECodeVerifier();
      const secrets = { state: library.randomState(), nonce: library.randomNonce(), verifier };
      const url = library.buildAuthorizationUrl(server, {
        redirect_uri: redirectUri,
        scope: config.scopes,
        state: secrets.state,
        nonce: secrets.nonce,
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return { url: url.href, secrets };
    },
    finish: async (search, { state, nonce, verifier }) => {
      const { library, server } = await discovered();
      const tokens = await library.authorizationCodeGrant(server, new URL(`${redirectUri}${search}`), {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
      });
      const claims = tokens.claims()!;
      // Many providers keep the ID token small and return the other claims from the userinfo endpoint.
      const isWhole =
        Object.hasOwn(claims, config.roles.claim) && Object.hasOwn(claims, 'preferred_username');
      if (isWhole || server.serverMetadata().userinfo_endpoint === undefined) return claims;
      const more = await library.fetchUserInfo(server, tokens.access_token, claims.sub);
      return { ...more, ...claims };
    },
  };
}

async function discover({ issuer, clientId, clientSecret }: OidcConfig): Promise<Discovered> {
  const library = await import('openid-client');
  const isPlain = issuer.startsWith('http:');
  const server = await library.discovery(
    new URL(issuer),
    clientId,
    { [library.clockTolerance]: clockToleranceSeconds },
    clientSecret === null ? library.None() : bySecret(library, clientSecret),
    {
      timeout: timeoutSeconds,
      // Without this, the connection alone would vouch for the signature.
      execute: [library.enableNonRepudiationChecks, ...(isPlain ? [library.allowInsecureRequests] : [])],
    },
  );
  // If an issuer serves many tenants, people of every tenant could sign in.
  if (new URL(server.serverMetadata().issuer).href !== new URL(issuer).href)
    throw new SignInError('failed', 'the provider names another issuer');
  return { library, server };
}

/** Form encoding, and no more: providers that do not decode it still see dashes and dots unchanged. */
const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

/** Uses the method that the provider offers; the header, if it does not say. */
function bySecret(library: typeof Library, secret: string): Library.ClientAuth {
  const inBody = library.ClientSecretPost(secret);
  return (server, client, body, headers) => {
    const offered = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    if (!offered.includes('client_secret_basic')) return inBody(server, client, body, headers);
    const pair = `${formEncoded(client.client_id)}:${formEncoded(secret)}`;
    return headers.set('authorization', `Basic ${Buffer.from(pair).toString('base64')}`);
  };
}

const unreachable = new Set(['OAUTH_TIMEOUT', 'OAUTH_RESPONSE_IS_NOT_CONFORM', 'OAUTH_RESPONSE_IS_NOT_JSON']);

const byProviderError: Readonly<Record<string, SignInProblem>> = {
  access_denied: 'refused',
  invalid_grant: 'stale',
  server_error: 'unreachable',
  temporarily_unavailable: 'unreachable',
};

/** Describes the error with a text of Signalbox; of the provider's text only the error name is kept. */
export function toSignInError(error: unknown): SignInError {
  if (error instanceof SignInError) return error;
  const { code, error: providerError } = error as { readonly code?: unknown; readonly error?: unknown };
  if (typeof providerError === 'string')
    return new SignInError(
      byProviderError[providerError] ?? 'failed',
      providerError.replaceAll(/[^\w.-]/g, '?').slice(0, 64),
    );
  if (code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED') return new SignInError('clock', code);
  if (typeof code === 'string')
    return new SignInError(unreachable.has(code) ? 'unreachable' : 'failed', code);
  // What fetch throws when there is no connection.
  const cause =
    error instanceof TypeError ? (error.cause as { readonly code?: unknown } | undefined) : undefined;
  if (cause !== undefined)
    return new SignInError('unreachable', typeof cause.code === 'string' ? cause.code : 'no connection');
  throw error;
}
