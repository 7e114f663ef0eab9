import { Button, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { CallError } from '../api/api.ts';
import { QueryResult, Empty, Loading } from '../component/query-result.tsx';
import { Bisections } from '../queue/bisections.tsx';
import { QueueList } from '../queue/queue-list.tsx';
import { DoctorLine } from '../setting/doctor-line.tsx';
import { LiveMark } from '../component/live-mark.tsx';
import { QueueBanners } from '../queue/queue-banner.tsx';
import { QueueControls } from '../queue/queue-control.tsx';
import { Recent } from '../queue/recent.tsx';
import { QueuePill } from '../component/pill.tsx';
import { SubmitDialog } from '../queue/submit-dialog.tsx';
import { formatCount } from '../format.ts';
import { useQueueGraph } from '../graph/graph-query.ts';
import { queueKey, type QueueName, queueOfSearch, queueSearch } from '../name.ts';
import { queuesQuery, useLive, useMay, useQueue, useRunsInProgress } from '../api/query.ts';
import type { StreamState } from '../api/stream.ts';

const route = getRouteApi('/queue');
const Graph = lazy(async () => ({ default: (await import('../graph/graph.tsx')).Graph }));

type QueuePageData = ResponseOf<'getQueue'>;

export function QueuePage() {
  const { repo, branch } = route.useSearch();
  const name = useMemo(() => queueOfSearch({ repo, branch }), [repo, branch]);
  const key = queueKey(name);
  const state = useLive([key], [['queue', key], queuesQuery.queryKey]);
  const queue = useQueue(name, state);
  const mayAdminister = useMay('admin');
  return (
    <Stack key={key} gap="sm">
      <title>{`${name.repo.name} ${name.targetBranch} · Signalbox`}</title>
      {isMissing(queue.error) ? (
        <NoQueue message={queue.error.message} />
      ) : (
        <QueryResult query={queue} loading="Loading the queue">
          {(data) => (
            <>
              <Head name={name} queue={data} state={state} />
              <QueueBanners queue={data} />
              {mayAdminister && <DoctorLine name={name} />}
              <View name={name} queue={data} state={state} />
              <Recent queue={name} state={state} />
            </>
          )}
        </QueryResult>
      )}
    </Stack>
  );
}

const isMissing = (error: Error | null): error is CallError =>
  error instanceof CallError && error.status === 404;

/** Also shown if the queue is deleted while its page is open. */
const NoQueue = ({ message }: { readonly message: string }) => (
  <Empty icon="queue" title="This queue does not exist">
    {message} <Link to="/">All queues</Link>
  </Empty>
);

type ViewProps = { readonly name: QueueName; readonly queue: QueuePageData; readonly state: StreamState };

function View({ name, queue, state }: ViewProps) {
  const isGraph = route.useSearch().view === 'graph';
  const navigate = useNavigate({ from: '/queue' });
  const runs = useRunsInProgress(name, state);
  const isBisecting = runs.data?.some(({ queueType }) => queueType === 'bisection') ?? false;
  const graph = useQueueGraph(name, state, isGraph || isBisecting);
  const choose = (chosen: string) =>
    void navigate({
      search: ({ view: _view, ...rest }) => (chosen === 'graph' ? { ...rest, view: chosen } : rest),
    });
  const controls = (
    <>
      <Summary name={name} queue={queue} />
      <SegmentedControl
        aria-label="View"
        data={[
          { value: 'list', label: 'List' },
          { value: 'graph', label: 'Graph' },
        ]}
        value={isGraph ? 'graph' : 'list'}
        onChange={choose}
      />
    </>
  );
  return (
    <>
      {isGraph && <Group gap="sm">{controls}</Group>}
      {(isGraph || isBisecting) && <Bisections queue={name} bisections={graph.data?.bisections ?? []} />}
      {isGraph ? (
        <QueryResult query={graph} loading="Loading the graph">
          {(data) => (
            <Suspense fallback={<Loading what="Drawing the graph" />}>
              <Graph
                queue={name}
                graph={data}
                notReady={queue.enqueuedPullRequests.filter(isNotReady).length}
              />
            </Suspense>
          )}
        </QueryResult>
      ) : (
        <QueueList queue={name} entries={queue.enqueuedPullRequests} state={state} controls={controls} />
      )}
    </>
  );
}

const isNotReady = ({ state }: QueuePageData['enqueuedPullRequests'][number]): boolean =>
  state === 'not_ready';

const Summary = ({ name, queue }: Pick<ViewProps, 'name' | 'queue'>) => (
  <Text c="dimmed" size="sm" className="grow">
    {name.repo.host} · {formatCount(queue.enqueuedPullRequests.length, 'pull request')} ·{' '}
    {queue.mode === 'parallel' ? 'parallel lanes' : 'single queue'} · up to{' '}
    {formatCount(queue.concurrency, 'concurrent test run')}
    {queue.batch && ` · batches of ${queue.batchingMinSize}`} · {queue.mergeMethod.replace('_', ' ')} ·{' '}
    <Link to="/health" search={queueSearch(name)}>
      Health
    </Link>
  </Text>
);

function Head({ name, queue, state }: ViewProps) {
  const [isSubmitting, setSubmitting] = useState(false);
  const maySubmit = useMay('submit');
  const mayAdminister = useMay('admin');
  return (
    <Group justify="space-between">
      <div>
        <Group gap="sm">
          <Title order={1} size="h2" className="break">
            {name.repo.owner}/{name.repo.name} <span className="branch">{name.targetBranch}</span>
          </Title>
          <QueuePill state={queue.state} />
          <LiveMark state={state} />
        </Group>
      </div>
      <Group gap="xs">
        <Button
          variant="default"
          renderRoot={(props) => <Link to="/settings" search={queueSearch(name)} {...props} />}
        >
          Settings
        </Button>
        {mayAdminister && <QueueControls queue={name} state={queue.state} />}
        {maySubmit && <Button onClick={() => setSubmitting(true)}>Submit pull request</Button>}
      </Group>
      {isSubmitting && (
        <SubmitDialog queue={name} batches={queue.batch} onClose={() => setSubmitting(false)} />
      )}
    </Group>
  );
}
