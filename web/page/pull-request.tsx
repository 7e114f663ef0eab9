import { Group, Stack, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { QueryResult } from '../component/query-result.tsx';
import { EntryActions } from '../queue/entry-action.tsx';
import { type NamedFact, Facts } from '../component/facts.tsx';
import { FailedTests } from '../queue/failed-tests.tsx';
import { LandingAttestationCard } from '../queue/landing-attestation.tsx';
import { LiveMark } from '../component/live-mark.tsx';
import { Runs } from '../queue/runs.tsx';
import { EntryPill } from '../component/pill.tsx';
import { TimeSpent } from '../history/time-spent.tsx';
import { Eta, Since } from '../component/time.tsx';
import { Timeline } from '../queue/timeline.tsx';
import { QueueBreadcrumbs } from '../component/breadcrumbs.tsx';
import { shortSha } from '../format.ts';
import { queueKey, type QueueName, queueOfSearch } from '../name.ts';
import { useLive, useMay, usePullRequest } from '../api/query.ts';
import { reasonText } from '#contract/text/reason-text.ts';
import type { StreamState } from '../api/stream.ts';

const route = getRouteApi('/pull-request');

type PullRequestRecord = ResponseOf<'getSubmittedPullRequest'>;

export function PullRequestPage() {
  const search = route.useSearch();
  const queue = queueOfSearch(search);
  const key = queueKey(queue);
  const state = useLive([key], [['queue', key]]);
  const record = usePullRequest(queue, search.number, state);
  return (
    <Stack key={`${key}#${search.number}`}>
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
  const timeline = record.timeline ?? [];
  return (
    <>
      <Head queue={queue} record={record} state={state} />
      <PullRequestStatus record={record} />
      {record.failedTests !== null && record.failedTests.count > 0 && (
        <section className="card" aria-label="Failing tests">
          <Title order={2} size="h4">
            Failing tests
          </Title>
          <FailedTests failed={record.failedTests} repo={queue.repo} />
        </section>
      )}
      <TimeSpent queue={queue} attempts={record.timeSpent ?? []} />
      {record.state === 'merged' && <LandingAttestationCard queue={queue} number={record.prNumber} />}
      <div className="two-columns">
        <Timeline events={timeline} />
        <Runs queue={queue} events={timeline} />
      </div>
    </>
  );
}

function Head({ queue, record, state }: PullRequestBodyProps) {
  const maySubmit = useMay('submit');
  return (
    <Group justify="space-between" align="flex-start" wrap="nowrap">
      <div className="shrink">
        <Title order={1} size="h2" className="break">
          <span className="number">#{record.prNumber}</span> {record.prTitle}
        </Title>
        <Group gap="sm" mt="xs">
          <EntryPill state={record.state} />
          <Text c="dimmed" size="sm">
            <Since at={record.stateChangedAt} prefix="for " />
          </Text>
          {record.isCurrentlySubmittedToQueue && <LiveMark state={state} />}
        </Group>
      </div>
      {maySubmit && record.isCurrentlySubmittedToQueue && <EntryActions queue={queue} entry={record} />}
    </Group>
  );
}

function PullRequestStatus({ record }: { readonly record: PullRequestRecord }) {
  const facts: readonly NamedFact[] = [
    ['Author', record.prAuthor],
    ['Head commit', shortSha(record.prSha)],
    ['Target branch', record.prBaseBranch],
    ['Priority', record.priorityName + (record.noBatch ? ', tested alone (no batch)' : '')],
    ['Position', record.queuePosition === null ? 'not queued' : String(record.queuePosition + 1)],
    ...(record.conclusionReason === null ? [] : [['Reason', reasonText[record.conclusionReason]] as const]),
  ];
  return (
    <section className="card" aria-label="Status">
      <Facts facts={facts} />
      {record.waitingFor.map((sentence) => (
        <Text key={sentence} mt="xs" className="why">
          {sentence}
        </Text>
      ))}
      {record.estimatedMergeAt !== null && (
        <Text mt="xs">
          <Eta at={record.estimatedMergeAt} interval={record.estimatedMergeInterval} />
        </Text>
      )}
    </section>
  );
}
