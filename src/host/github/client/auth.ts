// Credentials. An App authenticates with a token that it signs and gets an installation token that is valid
// for an hour and cached until shortly before it expires.
//
// @octokit/auth-app is not used here. It keeps pending token requests in one map per process, keyed by the
// installation number alone: two hosts that use the same number would get each other's tokens. It also
// mistakes "there is no such installation" for "there is no such pull request", as both are a 404 of one
// call.

import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Clock } from '#base/clock.ts';
import type { Credentials } from '../../connection.ts';
import { HostError } from '../../host.ts';
import { type Failure, toHostError } from './trouble.ts';

/** How an App requests an installation token. */
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
  /** The token of the App itself; null: this is not an App. */
  readonly appToken: () => string | null;
  /** The token was not accepted: the next call gets a new one. False: there is no other. */
  readonly renew: (refused: string) => boolean;
  /** Values that must not appear in messages. */
  readonly secrets: () => readonly string[];
};

/** A token is not used in its last minutes: a large push takes some of them. */
const spareMs = 10 * 60_000;
/** Clocks differ: the token of an App is backdated, as GitHub advises. */
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
    // Keys come from environment variables, where line breaks are escaped.
    return createPrivateKey(privateKey.replaceAll(String.raw`\n`, '\n'));
  } catch {
    throw new HostError('forbidden', 'The private key of the GitHub App cannot be read. Paste it again.');
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
    default:
      throw new HostError(
        'forbidden',
        `GitHub does not take credentials of the kind ${credentials.kind}. Connect it with an App or a token.`,
      );
  }
}

/**
 * GitHub's own clock, by which it checks the tokens that an App signs: the clock of this machine plus the
 * difference that GitHub's answers have shown. It is not the clock of the service, which follows the
 * database.
 */
function createTheirClock() {
  let aheadMs = 0;
  return {
    now: () => Date.now() + aheadMs,
    /** Applies the time that GitHub reports; false if the difference explains nothing. */
    correct: (theirNow: number): boolean => {
      const differsMs = theirNow - Date.now() - aheadMs;
      if (!(Math.abs(differsMs) > datedBackS * 500)) return false;
      aheadMs += differsMs;
      return true;
    },
  };
}

export type GithubAppCredentials = Extract<Credentials, { readonly kind: 'github-app' }>;

function createAppAuth(
  { appId, privateKey, installationId }: GithubAppCredentials,
  ask: AskToken,
  clock: Clock,
): Auth {
  const key = readKey(privateKey);
  let kept: { readonly token: string; readonly until: number } | null = null;
  let asking: Promise<string> | null = null;
  const theirs = createTheirClock();
  const appToken = () => signAppToken(appId, key, theirs.now());

  const requestToken = async (mayCorrect = true): Promise<string> => {
    if (installationId === null)
      throw new HostError(
        'forbidden',
        `The GitHub App ${appId} is not installed yet. The page “Git hosts” has a link that installs it.`,
      );
    const answer = await ask(installationId, appToken());
    if (!('failure' in answer)) {
      const { token, expiresAt, at } = answer;
      kept = { token, until: clock.now().getTime() + (expiresAt - at) - spareMs };
      return token;
    }
    const { status, headers } = answer.failure;
    if (status === 401 && mayCorrect && theirs.correct(Date.parse(headers['date'] ?? '')))
      return requestToken(false);
    const trouble = toHostError(answer.failure, 'the request for a token', clock.now().getTime());
    throw answer.failure.status === 404
      ? new HostError(
          'forbidden',
          `The GitHub App ${appId} no longer has installation ${installationId}. Install it again, or connect another installation.`,
        )
      : trouble;
  };

  return {
    appId,
    installationId,
    token: () => {
      if (kept !== null && clock.now().getTime() < kept.until) return Promise.resolve(kept.token);
      asking ??= requestToken().finally(() => (asking = null));
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
