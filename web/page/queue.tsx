import { Button, Group, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { ResponseOf } from '#contract/endpoint.ts';
import { CallError } from '../api.ts';
import { Answer, Empty, Loading } from '../component/answer.tsx';
import { Bisections } from '../component/bisections.tsx';
import { Line } from '../component/line.tsx';
import { LiveMark } from '../component/live-mark.tsx';
import { QueueBanners } from '../component/queue-banner.tsx';
import { QueueControls } from '../component/queue-control.tsx';
import { Recent } from '../component/recent.tsx';
import { QueuePill } from '../component/state.tsx';
import { SubmitDialog } from '../component/submit-dialog.tsx';
import { Trail } from '../component/trail.tsx';
import { countOf } from '../format.ts';
import { useQueueGraph } from '../graph-query.ts';
import { queueKey, type QueueName, queueOfSearch, queueSearch } from '../name.ts';
import { queuesQuery, useLive, useMay, useQueue, useRunsUnderWay } from '../query.ts';
import type { StreamState } from '../stream.ts';

const route = getRouteApi('/queue');
const Graph = lazy(async () => ({ default: (await import('../component/graph.tsx')).Graph }));

type Queue = ResponseOf<'getQueue'>;

export function QueuePage() {
  const { repo, branch } = route.useSearch();
  const name = useMemo(() => queueOfSearch({ repo, branch }), [repo, branch]);
  const key = queueKey(name);
  const state = useLive([key], [['queue', key], queuesQuery.queryKey]);
  const queue = useQueue(name, state);
  return (
    <Stack key={key}>
      <title>{`${name.repo.name} ${name.targetBranch} · Signalbox`}</title>
      <Trail from="/">
        <Text>{name.repo.host}</Text>
      </Trail>
      {isMissing(queue.error) ? (
        <NoQueue message={queue.error.message} />
      ) : (
        <Answer query={queue} loading="Reading the queue">
          {(data) => (
            <>
              <Head name={name} queue={data} state={state} />
              <QueueBanners queue={data} />
              <View name={name} queue={data} state={state} />
              <Recent queue={name} state={state} />
            </>
          )}
        </Answer>
      )}
    </Stack>
  );
}

const isMissing = (error: Error | null): error is CallError =>
  error instanceof CallError && error.status === 404;

/** Also where it was deleted while somebody looked at it. */
const NoQueue = ({ message }: { readonly message: string }) => (
  <Empty icon="line" title="There is no such queue">
    {message} <Link to="/">All queues</Link>
  </Empty>
);

type ViewProps = { readonly name: QueueName; readonly queue: Queue; readonly state: StreamState };

function View({ name, queue, state }: ViewProps) {
  const isGraph = route.useSearch().view === 'graph';
  const navigate = useNavigate({ from: '/queue' });
  const runs = useRunsUnderWay(name, state);
  const isSearching = runs.data?.some(({ queueType }) => queueType === 'bisection') ?? false;
  const graph = useQueueGraph(name, state, isGraph || isSearching);
  const choose = (chosen: string) =>
    void navigate({
      search: ({ view: _view, ...rest }) => (chosen === 'graph' ? { ...rest, view: chosen } : rest),
    });
  return (
    <>
      <Group>
        <SegmentedControl
          aria-label="View"
          data={[
            { value: 'line', label: 'Line' },
            { value: 'graph', label: 'Graph' },
          ]}
          value={isGraph ? 'graph' : 'line'}
          onChange={choose}
        />
      </Group>
      {(isGraph || isSearching) && <Bisections queue={name} bisections={graph.data?.bisections ?? []} />}
      {isGraph ? (
        <Answer query={graph} loading="Reading the graph">
          {(data) => (
            <Suspense fallback={<Loading what="Drawing the graph" />}>
              <Graph
                queue={name}
                graph={data}
                notReady={queue.enqueuedPullRequests.filter(isNotReady).length}
              />
            </Suspense>
          )}
        </Answer>
      ) : (
        <Line queue={name} entries={queue.enqueuedPullRequests} state={state} />
      )}
    </>
  );
}

const isNotReady = ({ state }: Queue['enqueuedPullRequests'][number]): boolean => state === 'not_ready';

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
        <Text c="dimmed" size="sm">
          {countOf(queue.enqueuedPullRequests.length, 'pull request')} ·{' '}
          {queue.mode === 'parallel' ? 'parallel lanes' : 'one line'} · up to{' '}
          {countOf(queue.concurrency, 'test run')} at once
          {queue.batch && ` · batches of ${queue.batchingMinSize}`} · {queue.mergeMethod.replace('_', ' ')} ·{' '}
          <Link to="/health" search={queueSearch(name)}>
            Health
          </Link>
        </Text>
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
