import { Alert, Button, Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { HostConnection } from '#contract/host-connection.ts';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { accessKey, AppInstallations, AppReturn } from '../account/app-registration.tsx';
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
  const navigate = useNavigate();
  /** Something was just connected: a queue comes next. */
  const [isNew, setIsNew] = useState(false);
  const connections = useQuery(connectionsQuery);
  const search = useSearch({ from: '/git-hosts' });
  const isReturning = search.code !== undefined || search.setup_action !== undefined;
  const setIsConnecting = (isOpen: boolean) =>
    void navigate({ to: '/git-hosts', search: isOpen ? { connect: true } : {}, replace: true });
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
          isReturning ? (
            <AppReturn search={search} connections={list} onInstalled={() => setIsNew(true)} />
          ) : list.length === 0 ? (
            <Empty icon="link" title="No Git host is connected yet">
              Connect GitHub, Gitea or Forgejo. Then create a queue for one of its repositories.
            </Empty>
          ) : (
            list.map((connection) => <Connection key={connection.id} connection={connection} isNew={isNew} />)
          )
        }
      </QueryResult>
      {search.connect === true && connectable.length > 0 && (
        <ConnectHostDialog
          urls={connectable}
          onConnected={() => setIsNew(true)}
          onClose={() => setIsConnecting(false)}
        />
      )}
    </>
  );
}

const titles: Readonly<Record<string, string>> = { github: 'GitHub', gitea: 'Gitea or Forgejo' };

type ConnectionProps = { readonly connection: HostConnection; readonly isNew: boolean };

function Connection({ connection, isNew }: ConnectionProps) {
  const [open, setOpen] = useState<'credentials' | 'disconnect' | null>(null);
  const { id, host, kind, url } = connection;
  const access = useQuery({
    queryKey: accessKey(id),
    queryFn: () => call('getHostAccess', { connectionId: id }),
    staleTime: 60_000,
  });
  const close = () => setOpen(null);
  const isInstalled = access.data?.app?.installations.some(({ isUsed }) => isUsed) ?? true;
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
        {access.data?.app != null && <AppInstallations connection={connection} app={access.data.app} />}
        {isInstalled &&
          access.data?.missing.map((sentence) => (
            <Alert key={sentence} color="orange" variant="outline" icon={<Icon name="warning" />}>
              {sentence}
            </Alert>
          ))}
        {isInstalled && access.data !== undefined && (
          <Repositories host={host} repositories={access.data.repositories} isNew={isNew} />
        )}
      </Stack>
      {open === 'credentials' && <ConnectHostDialog urls={[url]} kind={kind} onClose={close} />}
      {open === 'disconnect' && <DisconnectHostDialog connection={connection} onClose={close} />}
    </section>
  );
}

type ListedRepository = { readonly owner: string; readonly name: string; readonly defaultBranch: string };

const queueOf = (host: string, { owner, name, defaultBranch }: ListedRepository): QueueName => ({
  repo: { host, owner, name },
  targetBranch: defaultBranch,
});

/** So many are listed; the others are found by their name in the dialog that creates a queue. */
const listedMax = 50;

type RepositoriesProps = {
  readonly host: string;
  readonly repositories: readonly ListedRepository[];
  /** They were just connected: if there is one alone, its queue is proposed at once. */
  readonly isNew: boolean;
};

function Repositories({ host, repositories, isNew }: RepositoriesProps) {
  const queues = useQueues().data;
  const withQueue = new Set(queues?.map(({ repo }) => formatRepoPath(repo).toLowerCase()));
  const [only, ...others] = repositories;
  const isOnly = isNew && only !== undefined && others.length === 0 && queues?.length === 0;
  const [chosen, setChosen] = useState<QueueName | 'none' | null>(null);
  const proposed = chosen ?? (isOnly ? queueOf(host, only) : null);
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
                  onClick={() => setChosen(queueOf(host, reached))}
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
      {proposed !== null && proposed !== 'none' && (
        <CreateQueueDialog proposed={proposed} onClose={() => setChosen('none')} />
      )}
    </>
  );
}
