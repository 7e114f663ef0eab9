// The session of the dashboard, and how to sign in. Not part of /v1, which accepts tokens only.

import { z } from 'zod';
import { type Role, roles } from '#core/person.ts';
import { InstantOut, type Scope, scopes } from './common.ts';

export const SignInRequest = z.object({ token: z.string().min(1).max(512) });

export const Session = z.object({
  organization: z.object({ slug: z.string(), name: z.string() }),
  /** The kind of sign-in: an API token, or an account at the identity provider. */
  kind: z.enum(['token', 'person']),
  /** Of the token or the person. */
  name: z.string(),
  scopes: z.array(z.enum(scopes)),
  role: z.enum(roles),
  expires_at: InstantOut,
  /** Whether the sandbox host is on: its pull requests and landings are not real. */
  is_sandbox: z.boolean(),
});
export type Session = z.output<typeof Session>;

/** What the sign-in page offers. */
export const SignInWays = z.object({
  /** Null: with a token only. */
  oidc: z.object({ label: z.string(), start_url: z.string() }).nullable(),
});
export type SignInWays = z.output<typeof SignInWays>;

/** The role of a person with these scopes. */
export function roleForScopes(held: readonly Scope[]): Role {
  if (held.includes('admin')) return 'admin';
  return held.includes('submit') ? 'submitter' : 'viewer';
}

/** Why a sign-in at the provider failed; the sign-in page has the texts. */
export const signInProblems = [
  /** The person cancelled, or the provider refused. */
  'refused',
  /** None of the person's values gives a role. */
  'no-role',
  /** Started in another browser, too long ago, or used already. */
  'stale',
  /** The clocks of Signalbox and the provider differ. */
  'clock',
  'unreachable',
  /** The provider's answer is not valid, or the provider rejects Signalbox. */
  'failed',
  /** The configured organization does not exist. */
  'no-organization',
  'busy',
] as const;
export type SignInProblem = (typeof signInProblems)[number];

const home = '/app/';
const ownOrigin = 'http://own.invalid';
/** It travels in a cookie, which browsers keep up to 4 KB. */
const pathLengthMax = 1_500;

/** The page after signing in: always one of the dashboard, whatever the request names. */
export function safeRedirectPath(text: string): string {
  const url = URL.parse(text, ownOrigin);
  if (url?.origin !== ownOrigin || !/^\/app\/(?!api(\/|$))/.test(url.pathname)) return home;
  const path = `${url.pathname}${url.search}${url.hash}`;
  return path.length > pathLengthMax ? home : path;
}
