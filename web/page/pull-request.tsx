import { Group, Stack, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { QueryResult } from '../component/query-result.tsx';
import { EventList } from '../pull-request/event-list.tsx';
import { LandingAttestationCard } from '../pull-request/landing-attestation.tsx';
import { LiveMark } from '../component/live-mark.tsx';
import { PullRequestSide } from '../pull-request/pull-request-side.tsx';
import { type PullRequestRecord, PullRequestStatus } from '../pull-request/pull-request-status.tsx';
import { EntryPill } from '../component/pill.tsx';
import { Traces } from '../trace/trace.tsx';
import { useTestRuns } from '../trace/run-query.ts';
import { QueueBreadcrumbs } from '../component/breadcrumbs.tsx';
import { WhatFailed } from '../pull-request/what-failed.tsx';
import { queueKey, type QueueName, queueOfSearch } from '../name.ts';
import { useLive, usePullRequest } from '../api/query.ts';
import type { StreamState } from '../api/stream.ts';

const route = getRouteApi('/pull-request');

export function PullRequestPage() {
  const search = route.useSearch();
  const queue = queueOfSearch(search);
  const key = queueKey(queue);
  const state = useLive([key], [['queue', key]]);
  const record = usePullRequest(queue, search.number, state);
  return (
    <Stack key={`${key}#${search.number}`} gap="sm">
      <title>{`#${search.number} · Signalbox`}</title>
      <QueueBreadcrumbs queue={queue} />
      <QueryResult query={record} loading={`Loading #${search.number}`}>
        {(data) => <Body queue={queue} record={data} state={state} />}
      </QueryResult>
    </Stack>
  );
}

type PullRequestBodyProps = {
  readonly queue: QueueName;
  readonly record: PullRequestRecord;
  readonly state: StreamState;
};

function Body({ queue, record, state }: PullRequestBodyProps) {
  const { prNumber: number, timeSpent: attempts = [], timeline = [], failedTests } = record;
  const runs = useTestRuns(queue, attempts[0]);
  return (
    <>
      <Head record={record} state={state} />
      <PullRequestStatus queue={queue} record={record} />
      <div className="main-and-side">
        <Stack gap="md" className="shrink">
          <Traces queue={queue} number={number} attempts={attempts} runs={runs} />
          <WhatFailed queue={queue} number={number} failedTests={failedTests} runs={runs} />
          {record.state === 'merged' && <LandingAttestationCard queue={queue} number={number} />}
          <EventList events={timeline} />
        </Stack>
        <PullRequestSide queue={queue} record={record} latestRun={runs.values().next().value} />
      </div>
    </>
  );
}

const Head = ({ record, state }: Omit<PullRequestBodyProps, 'queue'>) => (
  <Group gap="sm">
    <Title order={1} size="h2" className="break">
      {record.prTitle} <span className="number dimmed">#{record.prNumber}</span>
    </Title>
    <EntryPill state={record.state} />
    {record.isCurrentlySubmittedToQueue && <LiveMark state={state} />}
  </Group>
);
