import { Button, Group, NativeSelect, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import { call } from '../api.ts';
import { Answer, Empty } from '../component/answer.tsx';
import { CreateQueueDialog } from '../component/create-queue.tsx';
import { Icon } from '../component/icon.tsx';
import { LiveMark } from '../component/live-mark.tsx';
import { Pill, QueuePill } from '../component/state.tsx';
import { Since } from '../component/time.tsx';
import { countOf, percentOf, spanOf } from '../format.ts';
import { pathOf, queueKey, queueSearch } from '../name.ts';
import { type QueueOverview, queuesQuery, useLive, useMay } from '../query.ts';
import { failingRate, inQueueOrder, queueSorts, type QueueSort, sortLabels } from '../queue-order.ts';

const route = getRouteApi('/');

/** Asked again now and then as well: a stall is told by time alone. */
const refetchMs = 30_000;

const useQueuePages = (query: string | undefined) =>
  useInfiniteQuery({
    // Below the key of all queues, so that whatever renews those renews these.
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
  const create = mayAdminister && <Button onClick={() => setCreating(true)}>Create a queue</Button>;
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
      {(known.length > 1 || q !== undefined) && <Narrowing query={q ?? ''} sort={sort} />}
      <Answer query={queues} loading="Reading the queues">
        {() =>
          known.length === 0 ? (
            <NoQueue query={q}>{create}</NoQueue>
          ) : (
            <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }} component="ul" className="plain">
              {inQueueOrder(known, sort).map((queue) => (
                <QueueCard key={queueKey(queue)} queue={queue} />
              ))}
            </SimpleGrid>
          )
        }
      </Answer>
      {queues.hasNextPage && (
        <Group justify="center">
          <Button
            variant="default"
            loading={queues.isFetchingNextPage}
            onClick={() => void queues.fetchNextPage()}
          >
            Load more than these {known.length}
          </Button>
        </Group>
      )}
      {isCreating && <CreateQueueDialog onClose={() => setCreating(false)} />}
    </Stack>
  );
}

type NoQueueProps = { readonly query: string | undefined; readonly children: ReactNode };

const NoQueue = ({ query, children }: NoQueueProps) =>
  query === undefined ? (
    <Empty icon="line" title="There is no queue yet">
      <Stack align="center">
        A queue needs a repository and a branch. It is created here by an administrator, or with createQueue
        of the API.
        {children}
      </Stack>
    </Empty>
  ) : (
    <Empty icon="line" title={`No queue has “${query}” in its repository or branch`}>
      <Link to="/">Show all queues</Link>
    </Empty>
  );

const settleMs = 250;

const searchOf = (query: string, sort: QueueSort) => ({
  ...(query !== '' && { q: query }),
  ...(sort !== 'name' && { sort }),
});

function Narrowing({ query, sort }: { readonly query: string; readonly sort: QueueSort }) {
  const navigate = route.useNavigate();
  const [text, setText] = useState(query);
  const [settled] = useDebouncedValue(text, settleMs);
  useEffect(() => {
    if (settled !== query) void navigate({ search: searchOf(settled, sort), replace: true });
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
        label="Order"
        data={queueSorts.map((value) => ({ value, label: sortLabels[value] }))}
        value={sort}
        onChange={(event) => {
          const chosen = event.currentTarget.value as QueueSort;
          void navigate({ search: searchOf(query, chosen), replace: true });
        }}
      />
    </Group>
  );
}

const Figure = ({ name, value }: { readonly name: string; readonly value: string }) => (
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
  const failing = failingRate(queue);
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
              {queue.repo.host}, {queue.mode === 'parallel' ? 'parallel lanes' : 'one line'}
            </Text>
          </div>
          <Group gap="xs">
            {queue.isHostAway && <Pill icon="warning" word="Host away" tone="bad" />}
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
        <dl className="figures">
          <Figure name="In the queue" value={String(queue.depth)} />
          <Figure name="Under test" value={String(queue.testing)} />
          <Figure name="Not ready" value={String(queue.notReady)} />
          <Figure name="Time in queue, P50" value={p50 === null ? 'no data' : spanOf(p50)} />
          <Figure name="Merged in 24 h" value={String(queue.mergedLast24h)} />
          <Figure name="Failing in 24 h" value={failing === null ? 'no data' : percentOf(failing)} />
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
        'Nobody waits.'
      ) : (
        <Since at={queue.oldestEntryAt} prefix="The oldest has waited " />
      )}
    </Text>
    <Group gap="md">
      <Link
        to="/settings"
        search={queueSearch(queue)}
        aria-label={`Settings of ${pathOf(queue.repo)} ${queue.targetBranch}`}
      >
        Settings
      </Link>
      <Link to="/tests" search={{ repo: pathOf(queue.repo) }} aria-label={`Tests of ${pathOf(queue.repo)}`}>
        Tests
      </Link>
    </Group>
    {queue.depth > 0 && (
      <span className="visually-hidden">{countOf(queue.depth, 'pull request')} in the queue</span>
    )}
  </Group>
);
