// The sign-in page's address, for somebody who is signed in: on to where they wanted to go, unless something went wrong.

import { Stack } from '@mantine/core';
import { getRouteApi, Link, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { ownPathOf } from '#contract/session.ts';
import { problemIn } from '../sign-in-problem.ts';
import { SignInProblem } from './sign-in.tsx';

const route = getRouteApi('/sign-in');

export function SignedInPage() {
  const told = route.useSearch();
  const { history } = useRouter();
  const isWell = problemIn(told) === null;
  const path = ownPathOf(told.return ?? '');
  useEffect(() => {
    if (isWell) history.replace(path);
  }, [isWell, history, path]);
  if (isWell) return null;
  return (
    <Stack align="flex-start">
      <title>Sign in · Signalbox</title>
      <SignInProblem told={told} />
      <Link to="/">All queues</Link>
    </Stack>
  );
}
