import { Group, Stack, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint.ts';
import { Answer } from '../component/answer.tsx';
import { EntryActions } from '../component/entry-action.tsx';
import { type Fact, Facts } from '../component/facts.tsx';
import { FailedTests } from '../component/failed-tests.tsx';
import { LandingProof } from '../component/landing-proof.tsx';
import { LiveMark } from '../component/live-mark.tsx';
import { Runs } from '../component/runs.tsx';
import { EntryPill } from '../component/state.tsx';
import { TimeSpent } from '../component/time-spent.tsx';
import { Eta, Since } from '../component/time.tsx';
import { Timeline } from '../component/timeline.tsx';
import { QueueTrail } from '../component/trail.tsx';
import { shortSha } from '../format.ts';
import { queueKey, type QueueName, queueOfSearch } from '../name.ts';
import { useLive, useMay, usePullRequest } from '../query.ts';
import { reasonWords } from '#contract/reason-words.ts';
import type { StreamState } from '../stream.ts';

const route = getRouteApi('/pull-request');

type Submitted = ResponseOf<'getSubmittedPullRequest'>;

export function PullRequestPage() {
  const search = route.useSearch();
  const queue = queueOfSearch(search);
  const key = queueKey(queue);
  const state = useLive([key], [['queue', key]]);
  const record = usePullRequest(queue, search.number, state);
  return (
    <Stack key={`${key}#${search.number}`}>
      <title>{`#${search.number} · Signalbox`}</title>
      <QueueTrail queue={queue} />
      <Answer query={record} loading={`Reading #${search.number}`}>
        {(data) => <Body queue={queue} record={data} state={state} />}
      </Answer>
    </Stack>
  );
}

type BodyProps = { readonly queue: QueueName; readonly record: Submitted; readonly state: StreamState };

function Body({ queue, record, state }: BodyProps) {
  const timeline = record.timeline ?? [];
  return (
    <>
      <Head queue={queue} record={record} state={state} />
      <Standing record={record} />
      {record.failedTests !== null && record.failedTests.count > 0 && (
        <section className="card" aria-label="Failing tests">
          <Title order={2} size="h4">
            Failing tests
          </Title>
          <FailedTests failed={record.failedTests} repo={queue.repo} />
        </section>
      )}
      <TimeSpent queue={queue} trips={record.timeSpent ?? []} />
      {record.state === 'merged' && <LandingProof queue={queue} number={record.prNumber} />}
      <div className="two">
        <Timeline events={timeline} />
        <Runs queue={queue} events={timeline} />
      </div>
    </>
  );
}

function Head({ queue, record, state }: BodyProps) {
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

function Standing({ record }: { readonly record: Submitted }) {
  const facts: readonly Fact[] = [
    ['Author', record.prAuthor],
    ['Head', shortSha(record.prSha)],
    ['Onto', record.prBaseBranch],
    ['Priority', record.priorityName + (record.noBatch ? ', tested alone' : '')],
    ['Position', record.queuePosition === null ? 'not in line' : String(record.queuePosition + 1)],
    ...(record.conclusionReason === null
      ? []
      : [['Ended because', reasonWords[record.conclusionReason]] as const]),
  ];
  return (
    <section className="card" aria-label="Where it stands">
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
