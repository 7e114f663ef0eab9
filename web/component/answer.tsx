// What stands in place of content: nothing yet, nothing at all, and what went wrong.

import { Alert, Button, Center, Loader, Stack, Text, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CallError } from '../api.ts';
import { Icon, type IconName } from './icon.tsx';

export const Loading = ({ what }: { readonly what: string }) => (
  <Center py="xl" role="status">
    <Stack align="center" gap="xs">
      <Loader size="sm" />
      <Text c="dimmed">{what} …</Text>
    </Stack>
  </Center>
);

type EmptyProps = { readonly icon: IconName; readonly title: string; readonly children?: ReactNode };

export const Empty = ({ icon, title, children }: EmptyProps) => (
  <Center py={48} className="empty">
    <Stack align="center" gap="xs" maw={480} ta="center">
      <Icon name={icon} size={32} />
      <Text fw={600}>{title}</Text>
      {children !== undefined && (
        <Text c="dimmed" component="div">
          {children}
        </Text>
      )}
    </Stack>
  </Center>
);

export function Problem({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const details = error instanceof CallError ? error.details : [];
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      icon={<Icon name="warning" />}
      title="That did not work"
    >
      <Stack gap="xs" align="flex-start">
        <Text>{error instanceof Error ? error.message : String(error)}</Text>
        {details.map(({ path, message }) => (
          <Text key={path} size="sm">
            {path}: {message}
          </Text>
        ))}
        {onRetry !== undefined && (
          <Button variant="default" size="xs" onClick={onRetry}>
            Try again
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

type AnswerProps<Data> = {
  readonly query: UseQueryResult<Data>;
  readonly loading: string;
  readonly children: (data: Data) => ReactNode;
};

/** Content once it is there. What was shown stays while the server is away, below a word about it. */
export function Answer<Data>({ query, loading, children }: AnswerProps<Data>) {
  const problem =
    query.error === null ? null : <Problem error={query.error} onRetry={() => void query.refetch()} />;
  if (query.data === undefined) return problem ?? <Loading what={loading} />;
  return (
    <>
      {problem}
      {children(query.data)}
    </>
  );
}

export const NotFound = () => (
  <Stack align="center" py="xl">
    <Title order={1} size="h3">
      There is no such page
    </Title>
    <Link to="/">All queues</Link>
  </Stack>
);
