// Checks identity tokens of CI jobs: signed with a key of their issuer, meant for this installation, and not expired. Issuers are
// URLs that administrators of organizations typed, so their documents are read with the precautions of webhooks.

import { createRemoteJWKSet, customFetch, decodeJwt, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { z } from 'zod';
import { hourMs } from '#base/duration.ts';
import { appError } from '#base/error.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import type { WebhookAllow } from '#config/webhook.ts';
import type { Claims } from '#core/person.ts';
import { fetchDocument } from '#event/webhook-send.ts';

export type IdTokens = {
  /** The claims of a token of this issuer; refuses any other. */
  readonly verify: (token: string, issuer: string, now: Date) => Promise<Claims>;
};

type IdTokenOptions = {
  /** Whom the token must be meant for: the URL of this installation. */
  readonly audience: string;
  readonly allow: WebhookAllow;
};

/** Only signatures with a public key: only the issuer can make one. */
const algorithms = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];
const clockToleranceSeconds = 60;
const timeoutMs = 5_000;
const documentBytesMax = 256 * 1024;
const issuersMax = 1_000;
/** An unknown key has the keys read again, at most so often. */
const cooldownMs = 30_000;

const Metadata = z.object({ issuer: z.string(), jwks_uri: z.url({ protocol: /^https?$/ }) });

const invalid = (why: string) => appError('ID_TOKEN_INVALID', { public: why });

const unreachable = (issuer: string) =>
  appError('ISSUER_UNREACHABLE', {
    public: `The keys of ${issuer} could not be read. Try again; if it stays so, check that Signalbox reaches it.`,
  });

/** The issuer that an unchecked token names. */
export function readIssuer(token: string): string {
  try {
    const { iss } = decodeJwt(token);
    if (iss !== undefined && iss !== '') return iss;
  } catch {
    // Refused below.
  }
  throw invalid('This is not an identity token: it must be a signed JWT with the claim iss.');
}

export function createIdTokens({ audience, allow }: IdTokenOptions): IdTokens {
  const read = (url: string): Promise<string> =>
    fetchDocument({ url, timeoutMs, bytesMax: documentBytesMax, allowed: allow });
  const keysOf = createTtlCache<JWTVerifyGetKey>({ ttlMs: hourMs, max: issuersMax });

  const discover = async (issuer: string): Promise<JWTVerifyGetKey> => {
    const text = await read(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const found = Metadata.parse(JSON.parse(text));
    if (found.issuer !== issuer) throw new Error(`${issuer} calls itself ${found.issuer.slice(0, 200)}`);
    return createRemoteJWKSet(new URL(found.jwks_uri), {
      cooldownDuration: cooldownMs,
      timeoutDuration: timeoutMs,
      [customFetch]: async (url) => new Response(await read(url)),
    });
  };

  return {
    verify: async (token, issuer, now) => {
      const keys = await keysOf
        .load(issuer, () => discover(issuer))
        .catch(() => {
          throw unreachable(issuer);
        });
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer,
          audience,
          algorithms,
          clockTolerance: clockToleranceSeconds,
          currentDate: now,
          requiredClaims: ['exp', 'iat'],
        });
        return payload;
      } catch (error) {
        if (error instanceof errors.JWTExpired)
          throw invalid('The identity token has expired. Ask the CI system for a new one.');
        if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'aud')
          throw invalid(
            `The identity token is meant for another service. Ask for one with the audience ${audience}.`,
          );
        if (error instanceof errors.JWTClaimValidationFailed)
          throw invalid(`The claim ${error.claim} of the identity token is missing or not valid.`);
        if (
          error instanceof errors.JWKSNoMatchingKey ||
          error instanceof errors.JWSSignatureVerificationFailed
        )
          throw invalid(`${issuer} has not signed this identity token.`);
        if (error instanceof errors.JOSEAlgNotAllowed)
          throw invalid('The identity token must be signed with a public key, such as by RS256.');
        if (error instanceof errors.JWTInvalid || error instanceof errors.JWSInvalid)
          throw invalid('The identity token is not a valid signed JWT.');
        throw unreachable(issuer);
      }
    },
  };
}
