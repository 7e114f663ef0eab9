// Why signing in at the identity provider did not work, and what to do next.

import { type SignInProblem, signInProblems } from '#contract/session.ts';

const problemTexts: Readonly<Record<SignInProblem, string>> = {
  refused: 'The identity provider denied access, or you cancelled there. Try again, or use another account.',
  'no-role': 'You signed in, but your account has no Signalbox role. Ask an administrator.',
  stale:
    'This sign-in was started in another browser, took longer than 10 minutes, or was already used. Sign in again.',
  clock:
    'The clocks of the identity provider and of Signalbox differ. Ask an administrator to set the clock of the server.',
  unreachable: 'The identity provider is unreachable. Try again in a minute.',
  failed:
    'The response of the identity provider is not valid. Ask an administrator to read the server log, which has the reason.',
  'no-organization':
    'The organization in SIGNALBOX_OIDC_ORGANIZATION does not exist. Ask an administrator to correct it.',
  busy: 'Too many people are signing in. Try again in a few seconds.',
};

export type SignInSearch = { readonly problem?: string; readonly return?: string; readonly request?: string };

/** The problem that the URL of the sign-in page names; null if there is none. */
export function findSignInProblem({ problem }: SignInSearch): string | null {
  const known = signInProblems.find((each) => each === problem);
  return known === undefined ? null : problemTexts[known];
}
