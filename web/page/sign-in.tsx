import { Button, Group, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { openSession } from '../api.ts';
import { Problem } from '../component/answer.tsx';
import { SchemeToggle } from '../component/shell.tsx';
import { queryClient } from '../query.ts';

export function SignInPage() {
  const [token, setToken] = useState('');
  const signIn = useMutation({
    mutationFn: openSession,
    onSuccess: (session) => queryClient.setQueryData(['session'], session),
  });
  return (
    <main className="alone">
      <Paper withBorder p="xl" radius="md" className="sign-in">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (token.trim() !== '') signIn.mutate(token.trim());
          }}
        >
          <Stack>
            <Group justify="space-between">
              <Title order={1} size="h3">
                Sign in to Signalbox
              </Title>
              <SchemeToggle />
            </Group>
            <Text c="dimmed" size="sm">
              With an API token. It is sent once, and this browser keeps a session of 12 hours in its place.
              What the token may not do is not offered.
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
            <Button type="submit" loading={signIn.isPending}>
              Sign in
            </Button>
          </Stack>
        </form>
      </Paper>
    </main>
  );
}
