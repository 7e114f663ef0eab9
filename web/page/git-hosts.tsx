import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { HostConnection } from '#contract/host-connection.ts';
import { ConnectHostDialog, DisconnectHostDialog } from '../account/git-host-dialog.tsx';
import { call } from '../api/api.ts';
import { useMay, useQueues } from '../api/query.ts';
import { Icon } from '../component/icon.tsx';
import { Empty, ErrorAlert, Loading, QueryResult } from '../component/query-result.tsx';
import { formatRepoPath, type QueueName } from '../name.ts';
import { CreateQueueDialog } from '../queue/create-queue.tsx';

export function GitHostsPage() {
  const isAdmin = useMay('admin');
  return (
    <Stack>
      <title>Git hosts · Signalbox</title>
      {isAdmin ? (
        <GitHosts />
      ) : (
        <>
          <Title order={1} size="h2">
            Git hosts
          </Title>
          <Empty icon="shield" title="Git hosts are for administrators">
            Ask an administrator of your organization to connect one.
          </Empty>
        </>
      )}
    </Stack>
  );
}

const connectionsQuery = {
  queryKey: ['git-hosts'],
  queryFn: () => call('listHostConnections', {}),
};

function GitHosts() {
  const [isConnecting, setIsConnecting] = useState(false);
  const connections = useQuery(connectionsQuery);
  const connectable = connections.data?.connectable ?? [];
  return (
    <>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Git hosts
        </Title>
        <Button onClick={() => setIsConnecting(true)} disabled={connectable.length === 0}>
          Connect a Git host
        </Button>
      </Group>
      <Text c="dimmed" maw={720}>
        Signalbox reads pull requests and merges them with the credentials that you give it here. It checks
        them before it stores them, encrypted, and sets its webhook itself.
      </Text>
      <QueryResult query={connections} loading="Loading the connections">
        {({ connections: list }) =>
          list.length === 0 ? (
            <Empty icon="link" title="No Git host is connected yet">
              Connect GitHub, Gitea or Forgejo. Then create a queue for one of its repositories.
            </Empty>
          ) : (
            list.map((connection) => <Connection key={connection.id} connection={connection} />)
          )
        }
      </QueryResult>
      {isConnecting && <ConnectHostDialog urls={connectable} onClose={() => setIsConnecting(false)} />}
    </>
  );
}

const titles: Readonly<Record<string, string>> = { github: 'GitHub', gitea: 'Gitea or Forgejo' };

function Connection({ connection }: { readonly connection: HostConnection }) {
  const [open, setOpen] = useState<'credentials' | 'disconnect' | null>(null);
  const { id, host, kind, url } = connection;
  const access = useQuery({
    queryKey: ['git-hosts', id],
    queryFn: () => call('getHostAccess', { connectionId: id }),
    staleTime: 60_000,
  });
  const close = () => setOpen(null);
  return (
    <section aria-label={host}>
      <Group justify="space-between" align="flex-start">
        <div>
          <Title order={2} size="h4" className="break">
            {host}
          </Title>
          <Text size="sm" c="dimmed" className="break">
            {access.data === undefined
              ? (titles[kind] ?? kind)
              : `${access.data.version} · Signalbox acts as ${access.data.account ?? 'an unknown account'}`}
          </Text>
        </div>
        <Group gap="xs">
          <Button variant="default" size="xs" onClick={() => setOpen('credentials')}>
            Replace the credentials
          </Button>
          <Button variant="default" size="xs" onClick={() => setOpen('disconnect')}>
            Disconnect
          </Button>
        </Group>
      </Group>
      <Stack gap="xs" mt="xs">
        {access.error !== null && <ErrorAlert error={access.error} onRetry={() => void access.refetch()} />}
        {access.isPending && <Loading what={`Asking ${host}`} />}
        {access.data?.missing.map((sentence) => (
          <Alert key={sentence} color="orange" variant="outline" icon={<Icon name="warning" />}>
            {sentence}
          </Alert>
        ))}
        {access.data !== undefined && <Repositories host={host} repositories={access.data.repositories} />}
      </Stack>
      {open === 'credentials' && <ConnectHostDialog urls={[url]} kind={kind} onClose={close} />}
      {open === 'disconnect' && <DisconnectHostDialog connection={connection} onClose={close} />}
    </section>
  );
}

type ListedRepository = { readonly owner: string; readonly name: string; readonly defaultBranch: string };

/** So many are listed; the others are found by their name in the dialog that creates a queue. */
const listedMax = 50;

function Repositories({
  host,
  repositories,
}: {
  readonly host: string;
  readonly repositories: readonly ListedRepository[];
}) {
  const [proposed, setProposed] = useState<QueueName | null>(null);
  const queues = useQueues().data ?? [];
  const withQueue = new Set(queues.map(({ repo }) => formatRepoPath(repo).toLowerCase()));
  if (repositories.length === 0)
    return (
      <Text size="sm">
        Signalbox may not write in any repository there yet. Give its account write access, or install the App
        on a repository, then load this page again.
      </Text>
    );
  return (
    <>
      <ul className="plain">
        {repositories.slice(0, listedMax).map((reached) => {
          const { owner, name, defaultBranch } = reached;
          const repo = { host, owner, name };
          const hasQueue = withQueue.has(formatRepoPath(repo).toLowerCase());
          return (
            <li className="row" key={`${owner}/${name}`}>
              <div className="shrink">
                <Text className="break">
                  {owner}/{name}
                </Text>
                <Text size="sm" c="dimmed">
                  {hasQueue ? 'has a queue' : `default branch ${defaultBranch}`}
                </Text>
              </div>
              {!hasQueue && (
                <Button
                  variant="default"
                  size="xs"
                  aria-label={`Create a queue for ${owner}/${name}`}
                  onClick={() => setProposed({ repo, targetBranch: defaultBranch })}
                >
                  Create a queue
                </Button>
              )}
            </li>
          );
        })}
      </ul>
      {repositories.length > listedMax && (
        <Text size="sm" c="dimmed">
          And {repositories.length - listedMax} more: create their queues on the page Queues.
        </Text>
      )}
      {proposed !== null && <CreateQueueDialog proposed={proposed} onClose={() => setProposed(null)} />}
    </>
  );
}
