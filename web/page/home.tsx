import { Button, Group, NativeSelect, SimpleGrid, Stack, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { call } from '../api/api.ts';
import { QueryResult, Empty } from '../component/query-result.tsx';
import { LiveMark } from '../component/live-mark.tsx';
import { queueKey } from '../name.ts';
import { queuesQuery, useLive, useMay } from '../api/query.ts';
import { QueueCard } from '../home/queue-card.tsx';
import { sortQueues, queueSorts, type QueueSort, sortLabels } from '../home/queue-order.ts';
import { type HomeSearch, ToFixList } from '../home/to-fix-list.tsx';

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
    queryFn: ({ pageParam }) =>
      call('listQueues', { take: 100, query, cursor: pageParam, includeLastDay: true }),
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
      <title>Home · Signalbox</title>
      <Group justify="space-between">
        <Group>
          <Title order={1} size="h2">
            Home
          </Title>
          {known.length > 0 && <LiveMark state={state} />}
        </Group>
        {known.length > 0 && create}
      </Group>
      {(known.length > 0 || q !== undefined) && <ToFixList />}
      <Group justify="space-between" align="flex-end" mt="xs">
        <Title order={2} size="h4">
          Queues
        </Title>
        {(known.length > 1 || q !== undefined) && <QueueFilter query={q ?? ''} sort={sort} />}
      </Group>
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

const buildQueueSearch =
  (query: string, sort: QueueSort) =>
  ({ q: _q, sort: _sort, ...rest }: HomeSearch): HomeSearch => ({
    ...rest,
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
        w={280}
        maw="100%"
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
