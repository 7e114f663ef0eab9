import { Alert, Button, Divider, Group, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useLocation, useRouter } from '@tanstack/react-router';
import { useState } from 'react';
import { ownPathOf, type SignInWays } from '#contract/session.ts';
import { openSession, readSignInWays } from '../api.ts';
import { Problem } from '../component/answer.tsx';
import { Icon } from '../component/icon.tsx';
import { SchemeToggle } from '../component/shell.tsx';
import { givenToken } from '../given-token.ts';
import { queryClient } from '../query.ts';
import { problemIn, type SignInSearch } from '../sign-in-problem.ts';

export function SignInPage() {
  const told = useLocation().search as SignInSearch;
  const ways = useQuery({ queryKey: ['sign-in'], queryFn: readSignInWays, staleTime: 60_000 });
  const { oidc = null } = ways.data ?? {};
  const path = ownPathOf(told.return ?? `${location.pathname}${location.search}`);
  return (
    <main className="alone">
      <title>Sign in · Signalbox</title>
      <Paper withBorder p="xl" radius="md" className="sign-in">
        <Stack>
          <Group justify="space-between" wrap="nowrap">
            <Title order={1} size="h3">
              Sign in to Signalbox
            </Title>
            <SchemeToggle />
          </Group>
          <SignInProblem told={told} />
          {oidc !== null && <ProviderWay {...oidc} path={path} />}
          <TokenWay isFirst={oidc === null} path={path} />
        </Stack>
      </Paper>
    </main>
  );
}

/** Why the provider's way did not lead in. */
export function SignInProblem({ told }: { readonly told: SignInSearch }) {
  const problem = problemIn(told);
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
        {told.request !== undefined && (
          <Text size="xs" c="dimmed" className="break">
            In the log: {told.request}
          </Text>
        )}
      </Stack>
    </Alert>
  );
}

type ProviderWayProps = NonNullable<SignInWays['oidc']> & { readonly path: string };

const ProviderWay = ({ label, start_url: startUrl, path }: ProviderWayProps) => (
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

type TokenWayProps = { readonly isFirst: boolean; readonly path: string };

function TokenWay({ isFirst, path }: TokenWayProps) {
  const [token, setToken] = useState(givenToken);
  const { history } = useRouter();
  const signIn = useMutation({
    mutationFn: openSession,
    onSuccess: (session) => {
      // From where the provider's way ended, to the page that was asked for.
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
          {isFirst && 'With an API token. '}The token is sent once, and this browser keeps a session of 12
          hours in its place. What the token may not do is not offered.
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
        {signIn.error !== null && <Problem error={signIn.error} />}
        <Button type="submit" variant={isFirst ? 'filled' : 'default'} loading={signIn.isPending}>
          Sign in
        </Button>
      </Stack>
    </form>
  );
}
