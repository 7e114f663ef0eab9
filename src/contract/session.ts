// Who is signed in to the dashboard, and how one gets there. These are no part of /v1, which knows tokens alone.

import { z } from 'zod';
import { type Role, roles } from '#core/person.ts';
import { InstantOut, type Scope, scopes } from './common.ts';

export const SignInRequest = z.object({ token: z.string().min(1).max(512) });

export const Session = z.object({
  organization: z.object({ slug: z.string(), name: z.string() }),
  /** What was signed in with: an API token, or an account at the identity provider. */
  kind: z.enum(['token', 'person']),
  /** Of the token or the person. */
  name: z.string(),
  scopes: z.array(z.enum(scopes)),
  role: z.enum(roles),
  expires_at: InstantOut,
  /** Whether the sandbox host serves: pull requests and landings that it answers with are not real. */
  is_sandbox: z.boolean(),
});
export type Session = z.output<typeof Session>;

/** What the sign-in page offers. */
export const SignInWays = z.object({
  /** Null: with a token only. */
  oidc: z.object({ label: z.string(), start_url: z.string() }).nullable(),
});
export type SignInWays = z.output<typeof SignInWays>;

/** What a person with these scopes may do, in one word. */
export function roleOf(held: readonly Scope[]): Role {
  if (held.includes('admin')) return 'admin';
  return held.includes('submit') ? 'submitter' : 'viewer';
}

/** Why a sign-in at the provider did not end well; the sign-in page has the words. */
export const signInProblems = [
  /** The provider says that the person, or the provider itself, said no. */
  'refused',
  /** None of the person's values gives a role. */
  'no-role',
  /** Begun in another browser, too long ago, or used already. */
  'stale',
  /** The clocks of the two disagree. */
  'clock',
  'unreachable',
  /** The provider's answer is not one that can be believed, or it does not accept us. */
  'failed',
  /** The organization that people are to sign in to is not there. */
  'no-organization',
  'busy',
] as const;
export type SignInProblem = (typeof signInProblems)[number];

const home = '/app/';
const ownOrigin = 'http://own.invalid';
/** It travels in a cookie, which browsers keep up to 4 KB. */
const pathLengthMax = 1_500;

/** The page to go to after signing in: one of the dashboard's own, whatever was asked for. */
export function ownPathOf(text: string): string {
  const url = URL.parse(text, ownOrigin);
  if (url?.origin !== ownOrigin || !/^\/app\/(?!api(\/|$))/.test(url.pathname)) return home;
  const path = `${url.pathname}${url.search}${url.hash}`;
  return path.length > pathLengthMax ? home : path;
}
