// Shown in place of content: while it loads, if there is none, and after an error.

import { Alert, Button, Center, Loader, Stack, Text, Title } from '@mantine/core';
import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { CallError } from '../api/api.ts';
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

export function ErrorAlert({ error, onRetry }: { readonly error: unknown; readonly onRetry?: () => void }) {
  const details = error instanceof CallError ? error.details : [];
  return (
    <Alert
      color="red"
      variant="outline"
      role="alert"
      icon={<Icon name="warning" />}
      title="The request failed"
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

type QueryResultProps<Data> = {
  readonly query: UseQueryResult<Data>;
  readonly loading: string;
  readonly children: (data: Data) => ReactNode;
};

/** Content once it is loaded. While the server is unreachable, it stays below an error message. */
export function QueryResult<Data>({ query, loading, children }: QueryResultProps<Data>) {
  const problem =
    query.error === null ? null : <ErrorAlert error={query.error} onRetry={() => void query.refetch()} />;
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
      This page does not exist
    </Title>
    <Link to="/">All queues</Link>
  </Stack>
);
