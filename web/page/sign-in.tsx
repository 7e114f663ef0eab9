import { Alert, Button, Divider, Group, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useLocation, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { safeRedirectPath, type SignInWays } from '#contract/session.ts';
import { openSession, readSignInWays } from '../api/api.ts';
import { ErrorAlert } from '../component/query-result.tsx';
import { Icon } from '../component/icon.tsx';
import { SchemeToggle } from '../shell/scheme-toggle.tsx';
import { tokenFromUrl } from '../account/url-token.ts';
import { queryClient } from '../api/query.ts';
import { findSignInProblem, type SignInSearch } from '../account/sign-in-problem.ts';

export function SignInPage() {
  const searchParams = useLocation().search as SignInSearch;
  const ways = useQuery({ queryKey: ['sign-in'], queryFn: readSignInWays, staleTime: 60_000 });
  const { oidc = null } = ways.data ?? {};
  const path = safeRedirectPath(searchParams.return ?? `${location.pathname}${location.search}`);
  return (
    <main className="centered-page">
      <title>Sign in · Signalbox</title>
      <Paper withBorder p="xl" radius="md" className="sign-in">
        <Stack>
          <Group justify="space-between" wrap="nowrap">
            <Title order={1} size="h3">
              Sign in to Signalbox
            </Title>
            <SchemeToggle />
          </Group>
          <SignInProblem search={searchParams} />
          {oidc !== null && <ProviderSignIn {...oidc} path={path} />}
          <TokenSignIn isFirst={oidc === null} path={path} />
        </Stack>
      </Paper>
    </main>
  );
}

/** Why signing in at the provider failed. */
export function SignInProblem({ search: searchParams }: { readonly search: SignInSearch }) {
  const problem = findSignInProblem(searchParams);
  if (problem === null) return null;
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      icon={<Icon name="warning" />}
      title="You are not signed in"
    >
      <Stack gap="xs">
        <Text>{problem}</Text>
        {searchParams.request !== undefined && (
          <Text size="xs" c="dimmed" className="break">
            Request ID in the server log: {searchParams.request}
          </Text>
        )}
      </Stack>
    </Alert>
  );
}

type ProviderSignInProps = NonNullable<SignInWays['oidc']> & { readonly path: string };

const ProviderSignIn = ({ label, start_url: startUrl, path }: ProviderSignInProps) => (
  <>
    <Button
      component="a"
      href={`${startUrl}?${new URLSearchParams({ return: path }).toString()}`}
      leftSection={<Icon name="shield" />}
    >
      {label}
    </Button>
    <Divider label="or with an API token" />
  </>
);

type TokenSignInProps = { readonly isFirst: boolean; readonly path: string };

function TokenSignIn({ isFirst, path }: TokenSignInProps) {
  const [token, setToken] = useState(tokenFromUrl);
  const { history } = useRouter();
  const signIn = useMutation({
    mutationFn: openSession,
    onSuccess: (session) => {
      // From the URL where the provider's sign-in ended to the requested page.
      if (path !== `${location.pathname}${location.search}`) history.replace(path);
      queryClient.setQueryData(['session'], session);
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (token.trim() !== '') signIn.mutate(token.trim());
      }}
    >
      <Stack>
        <Text c="dimmed" size="sm">
          {isFirst && 'Sign in with an API token. '}The token is sent once and exchanged for a session of 12
          hours. You see only the actions that the token allows.
        </Text>
        <PasswordInput
          label="API token"
          autoFocus
          required
          autoComplete="off"
          value={token}
          onChange={(event) => setToken(event.currentTarget.value)}
          visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the token', tabIndex: 0 }}
        />
        {signIn.error !== null && <ErrorAlert error={signIn.error} />}
        <Button type="submit" variant={isFirst ? 'filled' : 'default'} loading={signIn.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
