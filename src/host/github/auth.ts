// What lets us in. An App proves who it is with a token that it signs, and is given one for its installation that lasts
// an hour; that one is kept until shortly before it runs out.
//
// @octokit/auth-app is not used here. It keeps the requests for tokens that are under way in one map of the process,
// by nothing but the number of the installation: two hosts that use the same number would be given each other's tokens.
// It also takes "there is no such installation" for "there is no such pull request", as both are a 404 of one call.

import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { Credentials } from '../connection.ts';
import { HostError } from '../host.ts';
import { type Failure, troubleOf } from './trouble.ts';

/** How an App asks for a token of its installation. */
export type AskToken = (
  installationId: number,
  appToken: string,
) => Promise<
  { readonly token: string; readonly expiresAt: number; readonly at: number } | { readonly failure: Failure }
>;

export type Auth = {
  /** Null: an account, not an App. */
  readonly appId: number | null;
  readonly installationId: number | null;
  /** The token for the API and for git. */
  readonly token: () => Promise<string>;
  /** Of the App itself; null: it is none. */
  readonly appToken: () => string | null;
  /** The token was not accepted: the next is a new one. False: there is no other. */
  readonly renew: (refused: string) => boolean;
  /** What must not be told to anybody. */
  readonly secrets: () => readonly string[];
};

/** A token is not used in its last minutes: a large push takes some. */
const spareMs = 10 * 60_000;
/** Clocks differ: an App's token is dated back, as GitHub advises. */
const datedBackS = 60;
const appTokenS = 9 * 60;

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function signAppToken(appId: number, key: KeyObject, nowMs: number): string {
  const iat = Math.floor(nowMs / 1_000) - datedBackS;
  const claims = { iat, exp: iat + appTokenS, iss: String(appId) };
  const text = `${base64url({ alg: 'RS256', typ: 'JWT' })}.${base64url(claims)}`;
  return `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`;
}

function readKey(privateKey: string): KeyObject {
  try {
    // Keys come through environment variables, where line ends are written out.
    return createPrivateKey(privateKey.replaceAll(String.raw`\n`, '\n'));
  } catch {
    throw new HostError('forbidden', 'The private key of the GitHub App cannot be read: paste it again.');
  }
}

export function createAuth(credentials: Credentials, ask: AskToken, clock: Clock): Auth {
  switch (credentials.kind) {
    case 'token':
      return {
        appId: null,
        installationId: null,
        token: () => Promise.resolve(credentials.token),
        appToken: () => null,
        renew: () => false,
        secrets: () => [credentials.token],
      };
    case 'github-app':
      return createAppAuth(credentials, ask, clock);
    case 'oauth':
      throw new HostError('forbidden', 'GitHub is connected with an App or a token, not with OAuth.');
  }
}

type AppCredentials = Extract<Credentials, { readonly kind: 'github-app' }>;

function createAppAuth(
  { appId, privateKey, installationId }: AppCredentials,
  ask: AskToken,
  clock: Clock,
): Auth {
  const key = readKey(privateKey);
  let kept: { readonly token: string; readonly until: number } | null = null;
  let asking: Promise<string> | null = null;
  // By how much GitHub's clock is ahead of ours. Their clock is what counts, whatever clock we are told to go by.
  let skewMs = 0;
  const appToken = () => signAppToken(appId, key, Date.now() + skewMs);

  const askAnew = async (mayCorrect = true): Promise<string> => {
    const answer = await ask(installationId, appToken());
    if (!('failure' in answer)) {
      const { token, expiresAt, at } = answer;
      kept = { token, until: clock.now().getTime() + (expiresAt - at) - spareMs };
      return token;
    }
    const theirNow = Date.parse(answer.failure.headers['date'] ?? '');
    const differsMs = theirNow - Date.now() - skewMs;
    if (answer.failure.status === 401 && mayCorrect && Math.abs(differsMs) > datedBackS * 500) {
      skewMs += differsMs;
      return askAnew(false);
    }
    const trouble = troubleOf(answer.failure, 'our request for a token', clock.now().getTime());
    throw answer.failure.status === 404
      ? new HostError('forbidden', `The GitHub App ${appId} has no installation ${installationId} any more.`)
      : trouble;
  };

  return {
    appId,
    installationId,
    token: () => {
      if (kept !== null && clock.now().getTime() < kept.until) return Promise.resolve(kept.token);
      asking ??= askAnew().finally(() => (asking = null));
      return asking;
    },
    appToken,
    renew: (refused) => {
      if (kept?.token === refused) kept = null;
      return true;
    },
    secrets: () => (kept === null ? [] : [kept.token]),
  };
}
