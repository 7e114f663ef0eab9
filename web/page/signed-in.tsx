// The sign-in page if the user is signed in: redirects to the page they wanted, unless sign-in failed.

import { Stack } from '@mantine/core';
import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { safeRedirectPath } from '#contract/session.ts';
import { findSignInProblem } from '../account/sign-in-problem.ts';
import { SignInProblem } from './sign-in.tsx';

const route = getRouteApi('/sign-in');

export function SignedInPage() {
  const searchParams = route.useSearch();
  const { history } = useRouter();
  const isSignedIn = findSignInProblem(searchParams) === null;
  const path = safeRedirectPath(searchParams.return ?? '');
  useEffect(() => {
    if (isSignedIn) history.replace(path);
  }, [isSignedIn, history, path]);
  if (isSignedIn) return null;
  return (
    <Stack align="flex-start">
      <title>Sign in · Signalbox</title>
      <SignInProblem search={searchParams} />
      <Link to="/">All queues</Link>
    </Stack>
  );
}
