import { Button, Group, NativeSelect, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { call } from '../api/api.ts';
import { QueryResult, Empty } from '../component/query-result.tsx';
import { Icon } from '../component/icon.tsx';
import { LiveMark } from '../component/live-mark.tsx';
import { Pill, QueuePill } from '../component/pill.tsx';
import { Since } from '../component/time.tsx';
import { formatCount, formatPercent, formatDuration } from '../format.ts';
import { formatRepoPath, queueKey, queueSearch } from '../name.ts';
import { type QueueOverview, queuesQuery, useLive, useMay } from '../api/query.ts';
import { failureRate, sortQueues, queueSorts, type QueueSort, sortLabels } from '../queue/queue-order.ts';

const route = getRouteApi('/');

/** Not part of the first load: few people create a queue, and seldom. */
const CreateQueueDialog = lazy(async () => ({
  default: (await import('../queue/create-queue.tsx')).CreateQueueDialog,
}));

/** Queues are also polled: a queue becomes stalled as time passes, without an event. */
const refetchMs = 30_000;

const useQueuePages = (query: string | undefined) =>
  useInfiniteQuery({
    // Below the key of all queues, so that refetching those refetches these.
    queryKey: [...queuesQuery.queryKey, 'pages', query],
    queryFn: ({ pageParam }) => call('listQueues', { take: 100, query, cursor: pageParam }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    refetchInterval: refetchMs,
    placeholderData: keepPreviousData,
  });

export function HomePage() {
  const { q, sort = 'name' } = route.useSearch();
  const [isCreating, setCreating] = useState(false);
  const mayAdminister = useMay('admin');
  const queues = useQueuePages(q);
  const known = queues.data?.pages.flatMap((page) => page.queues) ?? [];
  const state = useLive(known.map(queueKey), [queuesQuery.queryKey]);
  const create = mayAdminister && (
    <Button variant={known.length === 0 ? 'default' : 'filled'} onClick={() => setCreating(true)}>
      Create a queue
    </Button>
  );
  return (
    <Stack>
      <title>Queues · Signalbox</title>
      <Group justify="space-between">
        <Group>
          <Title order={1} size="h2">
            Queues
          </Title>
          {known.length > 0 && <LiveMark state={state} />}
        </Group>
        {known.length > 0 && create}
      </Group>
      {(known.length > 1 || q !== undefined) && <QueueFilter query={q ?? ''} sort={sort} />}
      <QueryResult query={queues} loading="Loading the queues">
        {() =>
          known.length === 0 ? (
            <NoQueue query={q} isAdmin={mayAdminister}>
              {create}
            </NoQueue>
          ) : (
            <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }} component="ul" className="plain">
              {sortQueues(known, sort).map((queue) => (
                <QueueCard key={queueKey(queue)} queue={queue} />
              ))}
            </SimpleGrid>
          )
        }
      </QueryResult>
      {queues.hasNextPage && (
        <Group justify="center">
          <Button
            variant="default"
            loading={queues.isFetchingNextPage}
            onClick={() => void queues.fetchNextPage()}
          >
            Load more queues ({known.length} shown)
          </Button>
        </Group>
      )}
      {isCreating && (
        <Suspense>
          <CreateQueueDialog onClose={() => setCreating(false)} />
        </Suspense>
      )}
    </Stack>
  );
}

type NoQueueProps = {
  readonly query: string | undefined;
  readonly isAdmin: boolean;
  /** Creates a queue in a repository of a Git host that is connected. */
  readonly children: ReactNode;
};

const NoQueue = ({ query, isAdmin, children }: NoQueueProps) =>
  query === undefined ? (
    <Empty icon="queue" title="There is no queue yet">
      {isAdmin ? (
        <Stack align="center">
          Connect the Git host of your repositories first. If it is connected, create a queue for a repository
          and a branch.
          <Group justify="center">
            <Button renderRoot={(props) => <Link to="/git-hosts" search={{ connect: true }} {...props} />}>
              Connect a Git host
            </Button>
            {children}
          </Group>
        </Stack>
      ) : (
        'An administrator of your organization creates it here, or with the API operation createQueue.'
      )}
    </Empty>
  ) : (
    <Empty icon="queue" title={`No repository or branch matches “${query}”`}>
      <Link to="/">Show all queues</Link>
    </Empty>
  );

const settleMs = 250;

const buildQueueSearch = (query: string, sort: QueueSort) => ({
  ...(query !== '' && { q: query }),
  ...(sort !== 'name' && { sort }),
});

function QueueFilter({ query, sort }: { readonly query: string; readonly sort: QueueSort }) {
  const navigate = route.useNavigate();
  const [text, setText] = useState(query);
  const [settled] = useDebouncedValue(text, settleMs);
  useEffect(() => {
    if (settled !== query) void navigate({ search: buildQueueSearch(settled, sort), replace: true });
  }, [settled, query, sort, navigate]);
  return (
    <Group align="flex-end">
      <TextInput
        label="Repository or branch"
        type="search"
        className="grow"
        maw={420}
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <NativeSelect
        label="Sort by"
        data={queueSorts.map((value) => ({ value, label: sortLabels[value] }))}
        value={sort}
        onChange={(event) => {
          const chosen = event.currentTarget.value as QueueSort;
          void navigate({ search: buildQueueSearch(query, chosen), replace: true });
        }}
      />
    </Group>
  );
}

const Metric = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div>
    <Text component="dt" size="xs" c="dimmed">
      {name}
    </Text>
    <Text component="dd" m={0} fw={600}>
      {value}
    </Text>
  </div>
);

function QueueCard({ queue }: { readonly queue: QueueOverview }) {
  const failures = failureRate(queue);
  const p50 = queue.timeInQueueP50Seconds;
  return (
    <li className="card" data-stalled={queue.stall !== null}>
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start">
          <div className="shrink">
            <Link to="/queue" search={queueSearch(queue)} className="card-title">
              {queue.repo.owner}/{queue.repo.name} <span className="branch">{queue.targetBranch}</span>
            </Link>
            <Text size="sm" c="dimmed">
              {queue.repo.host}, {queue.mode === 'parallel' ? 'parallel lanes' : 'single queue'}
            </Text>
          </div>
          <Group gap="xs">
            {queue.isHostAway && <Pill icon="warning" label="Git host unreachable" tone="bad" />}
            <QueuePill state={queue.state} />
          </Group>
        </Group>
        {queue.stall !== null && (
          <Text size="sm" className="stall" data-tone="warn">
            <Icon name="warning" />
            <span>
              <strong>Stalled.</strong> {queue.stall}
            </span>
          </Text>
        )}
        <dl className="metrics">
          <Metric name="In queue" value={String(queue.depth)} />
          <Metric name="Testing" value={String(queue.testing)} />
          <Metric name="Not ready" value={String(queue.notReady)} />
          <Metric name="Time in queue (P50)" value={p50 === null ? 'no data' : formatDuration(p50)} />
          <Metric name="Merged, last 24 h" value={String(queue.mergedLast24h)} />
          <Metric
            name="Failure rate, last 24 h"
            value={failures === null ? 'no data' : formatPercent(failures)}
          />
        </dl>
        <CardFoot queue={queue} />
      </Stack>
    </li>
  );
}

const CardFoot = ({ queue }: { readonly queue: QueueOverview }) => (
  <Group justify="space-between">
    <Text size="sm" c="dimmed">
      {queue.oldestEntryAt === null ? (
        'No pull request is waiting.'
      ) : (
        <Since at={queue.oldestEntryAt} prefix="Longest wait: " />
      )}
    </Text>
    <Group gap="md">
      <Link
        to="/settings"
        search={queueSearch(queue)}
        aria-label={`Settings of ${formatRepoPath(queue.repo)} ${queue.targetBranch}`}
      >
        Settings
      </Link>
      <Link
        to="/tests"
        search={{ repo: formatRepoPath(queue.repo) }}
        aria-label={`Tests of ${formatRepoPath(queue.repo)}`}
      >
        Tests
      </Link>
    </Group>
    {queue.depth > 0 && (
      <span className="visually-hidden">{formatCount(queue.depth, 'pull request')} in the queue</span>
    )}
  </Group>
);
