// The test runs of a pull request, with what each tested and the results of CI.

import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api/api.ts';
import { secondsSince, shortSha, formatDuration } from '../format.ts';
import { queueKey, type QueueName, queueSearch } from '../name.ts';
import { Empty, Loading } from '../component/query-result.tsx';
import { Checks, type TestingResult } from './checks.tsx';
import { FailedTests } from './failed-tests.tsx';
import { RunPill } from '../component/pill.tsx';
import { Since } from '../component/time.tsx';
import type { TimelineEvent } from './timeline.tsx';

const shownAtFirst = 5;

type RunsProps = { readonly queue: QueueName; readonly events: readonly TimelineEvent[] };

export function Runs({ queue, events }: RunsProps) {
  const [shown, setShown] = useState(shownAtFirst);
  const ids = [...new Set(events.flatMap(({ testRunId }) => (testRunId === undefined ? [] : [testRunId])))];
  const runs = useQueries({
    queries: ids.slice(0, shown).map((testRunId) => ({
      queryKey: ['queue', queueKey(queue), 'run', testRunId],
      queryFn: async () =>
        (await call('getMergeQueueTestingDetails', { ...queue, testRunId })) as TestingResult,
    })),
  });
  return (
    <Stack gap="sm" component="section" aria-labelledby="runs">
      <Title order={2} size="h4" id="runs">
        Test runs
      </Title>
      {ids.length === 0 && <Empty icon="flask" title="No test runs yet" />}
      {runs.some(({ isPending }) => isPending) && <Loading what="Loading the runs" />}
      {runs.map(({ data }) => data && <Run key={data.testRunId} queue={queue} run={data} />)}
      {ids.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + shownAtFirst)}>
          Show earlier runs ({ids.length - shown})
        </Button>
      )}
    </Stack>
  );
}

const selectionText = (count: number): string =>
  `Runs only the ${count === 1 ? 'test' : `${count} tests`} that failed.`;

function Run({ queue, run }: { readonly queue: QueueName; readonly run: TestingResult }) {
  return (
    <article className="card" aria-label={`Run ${shortSha(run.testRunId)}`}>
      <Stack gap="xs">
        <Group justify="space-between">
          <Group gap="xs">
            <RunPill status={run.status} />
            {run.queueType === 'bisection' && <Text size="sm">bisection</Text>}
          </Group>
          <Text size="sm" c="dimmed">
            {run.concludedAt === null ? (
              <Since at={run.createdAt} prefix="for " />
            ) : (
              `took ${formatDuration(secondsSince(run.createdAt, Date.parse(run.concludedAt)))}`
            )}
          </Text>
        </Group>
        <Members label="Tests" queue={queue} members={run.testedPullRequests} />
        {run.dependentPrs.length > 0 && (
          <Members label="On top of" queue={queue} members={run.dependentPrs} />
        )}
        {run.selectedTests !== null && <Text size="sm">{selectionText(run.selectedTests)}</Text>}
        <Checks run={run} />
        {run.failedTests.count > 0 && <FailedTests failed={run.failedTests} repo={queue.repo} />}
        <Text size="xs" c="dimmed" className="break">
          {run.testBranch}
          {run.testBranchSha !== null && ` at ${shortSha(run.testBranchSha)}`}
        </Text>
      </Stack>
    </article>
  );
}

type MembersProps = {
  readonly label: string;
  readonly queue: QueueName;
  readonly members: TestingResult['testedPullRequests'];
};

const Members = ({ label, queue, members }: MembersProps) => (
  <Text size="sm">
    {label}{' '}
    {members.map(({ prNumber, title }, index) => (
      <span key={prNumber}>
        {index > 0 && ', '}
        <Link to="/pull-request" search={{ ...queueSearch(queue), number: prNumber }} title={title}>
          #{prNumber}
        </Link>
      </span>
    ))}
  </Text>
);
