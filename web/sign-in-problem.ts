// Why signing in at the identity provider did not work, and what to do next.

import { type SignInProblem, signInProblems } from '#contract/session.ts';

const words: Readonly<Record<SignInProblem, string>> = {
  refused: 'The provider did not let you in, or you said no there. Try again, or use another account.',
  'no-role':
    'The provider knows you, but nothing that it says of you gives you a role here. Ask an administrator of Signalbox for one.',
  stale:
    'This sign-in was begun in another browser, took longer than 10 minutes, or was used already. Sign in again.',
  clock:
    'The clocks of the provider and of Signalbox disagree. Ask an administrator to set the clock of the server.',
  unreachable: 'The provider does not answer. Try again in a minute.',
  failed:
    'What the provider answered cannot be used. Ask an administrator to look at the log of the server: it says what is wrong.',
  'no-organization':
    'The organization that people sign in to is not there. Ask an administrator to check SIGNALBOX_OIDC_ORGANIZATION.',
  busy: 'Too many people sign in at once. Try again in a few seconds.',
};

export type SignInSearch = { readonly problem?: string; readonly return?: string; readonly request?: string };

/** What the address of the sign-in page says; null where nothing went wrong. */
export function problemIn({ problem }: SignInSearch): string | null {
  const known = signInProblems.find((each) => each === problem);
  return known === undefined ? null : words[known];
}
