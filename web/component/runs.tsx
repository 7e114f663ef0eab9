// The test runs that a pull request was in, with what each tested and what CI said.

import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { call } from '../api.ts';
import { secondsSince, shortSha, spanOf } from '../format.ts';
import { queueKey, type QueueName, queueSearch } from '../name.ts';
import { Empty, Loading } from './answer.tsx';
import { Checks, type TestRun } from './checks.tsx';
import { FailedTests } from './failed-tests.tsx';
import { RunPill } from './state.tsx';
import { Since } from './time.tsx';
import type { TimelineEvent } from './timeline.tsx';

const shownAtFirst = 5;

type RunsProps = { readonly queue: QueueName; readonly events: readonly TimelineEvent[] };

export function Runs({ queue, events }: RunsProps) {
  const [shown, setShown] = useState(shownAtFirst);
  const ids = [...new Set(events.flatMap(({ testRunId }) => (testRunId === undefined ? [] : [testRunId])))];
  const runs = useQueries({
    queries: ids.slice(0, shown).map((testRunId) => ({
      queryKey: ['queue', queueKey(queue), 'run', testRunId],
      queryFn: async () => (await call('getMergeQueueTestingDetails', { ...queue, testRunId })) as TestRun,
    })),
  });
  return (
    <Stack gap="sm" component="section" aria-labelledby="runs">
      <Title order={2} size="h4" id="runs">
        Test runs
      </Title>
      {ids.length === 0 && <Empty icon="flask" title="It has not been tested yet" />}
      {runs.some(({ isPending }) => isPending) && <Loading what="Reading the runs" />}
      {runs.map(({ data }) => data && <Run key={data.testRunId} queue={queue} run={data} />)}
      {ids.length > shown && (
        <Button variant="default" onClick={() => setShown(shown + shownAtFirst)}>
          Show earlier runs ({ids.length - shown})
        </Button>
      )}
    </Stack>
  );
}

function Run({ queue, run }: { readonly queue: QueueName; readonly run: TestRun }) {
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
              `took ${spanOf(secondsSince(run.createdAt, Date.parse(run.concludedAt)))}`
            )}
          </Text>
        </Group>
        <Members label="Tests" queue={queue} members={run.testedPullRequests} />
        {run.dependentPrs.length > 0 && (
          <Members label="On top of" queue={queue} members={run.dependentPrs} />
        )}
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
  readonly members: TestRun['testedPullRequests'];
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
