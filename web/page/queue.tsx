import { Alert, Anchor, Breadcrumbs, Button, Group, Stack, Text, Title } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ResponseOf } from '#contract/endpoint.ts';
import { Answer } from '../component/answer.tsx';
import { Icon } from '../component/icon.tsx';
import { Line } from '../component/line.tsx';
import { LiveMark } from '../component/live-mark.tsx';
import { QueueControls } from '../component/queue-control.tsx';
import { Recent } from '../component/recent.tsx';
import { QueuePill } from '../component/state.tsx';
import { SubmitDialog } from '../component/submit-dialog.tsx';
import { countOf } from '../format.ts';
import { queueKey, type QueueName, queueOfSearch } from '../name.ts';
import { queuesQuery, useLive, useMay, useQueue, useQueues } from '../query.ts';
import type { StreamState } from '../stream.ts';

const route = getRouteApi('/queue');

type Queue = ResponseOf<'getQueue'>;

export function QueuePage() {
  const name = queueOfSearch(route.useSearch());
  const key = queueKey(name);
  const state = useLive([key], [['queue', key], queuesQuery.queryKey]);
  const queue = useQueue(name, state);
  return (
    <Stack key={key}>
      <title>{`${name.repo.name} ${name.targetBranch} · Signalbox`}</title>
      <Breadcrumbs>
        <Anchor component={Link} to="/">
          Queues
        </Anchor>
        <Text>{name.repo.host}</Text>
      </Breadcrumbs>
      <Answer query={queue} loading="Reading the queue">
        {(data) => (
          <>
            <Head name={name} queue={data} state={state} />
            <Banners name={name} queue={data} />
            <Line queue={name} entries={data.enqueuedPullRequests} state={state} />
            <Recent queue={name} state={state} />
          </>
        )}
      </Answer>
    </Stack>
  );
}

type HeadProps = { readonly name: QueueName; readonly queue: Queue; readonly state: StreamState };

function Head({ name, queue, state }: HeadProps) {
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
          {queue.batch && ` · batches of ${queue.batchingMinSize}`} · {queue.mergeMethod.replace('_', ' ')}
        </Text>
      </div>
      <Group gap="xs">
        {mayAdminister && <QueueControls queue={name} state={queue.state} />}
        {maySubmit && <Button onClick={() => setSubmitting(true)}>Submit pull request</Button>}
      </Group>
      {isSubmitting && (
        <SubmitDialog queue={name} batches={queue.batch} onClose={() => setSubmitting(false)} />
      )}
    </Group>
  );
}

const bannerOf: Readonly<Record<Exclude<Queue['state'], 'RUNNING'>, string>> = {
  PAUSED:
    'The queue is paused. Tests under way finish; nothing new is tested or merged, and the order is kept.',
  DRAINING:
    'The queue is draining. What is in line is tested and merged; what is submitted now waits until it is resumed.',
  SWITCHING_MODES: 'The queue is switching modes. It goes on as before once nothing is under test any more.',
};

function Banners({ name, queue }: { readonly name: QueueName; readonly queue: Queue }) {
  const overview = useQueues().data?.find((each) => queueKey(each) === queueKey(name));
  return (
    <>
      {overview?.isHostAway === true && (
        <Alert color="red" variant="outline" icon={<Icon name="warning" />} title="The host does not answer">
          Nothing is concluded and no clock runs until {name.repo.host} answers again. It is asked by itself;
          nothing is lost meanwhile.
        </Alert>
      )}
      {queue.state !== 'RUNNING' && (
        <Alert color="yellow" variant="outline" icon={<Icon name="pause" />} title={bannerOf[queue.state]}>
          {queue.stateReason}
        </Alert>
      )}
    </>
  );
}
