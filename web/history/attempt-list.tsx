// The pull requests behind a number: those that left the queue in a part of its history.

import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call } from '../api/api.ts';
import { formatCount, formatDuration } from '../format.ts';
import type { HealthSearch } from './health-search.ts';
import { queueKey, type QueueName, queueSearch } from '../name.ts';
import { reasonText } from '#contract/text/reason-text.ts';
import { Empty, Loading, ErrorAlert } from '../component/query-result.tsx';
import { EntryPill } from '../component/pill.tsx';

type AttemptListProps = {
  readonly queue: QueueName;
  readonly search: HealthSearch & { readonly from: string; readonly to: string };
  readonly title: string;
  readonly formatTime: (iso: string) => string;
};

const pageSize = 50;

export function AttemptList({ queue, search, title, formatTime }: AttemptListProps) {
  const { from, to, target, conclusion, reason } = search;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [from, to, conclusion, reason]);
  const attemptsQuery = useInfiniteQuery({
    queryKey: ['attempts', queueKey(queue), from, to, target, conclusion, reason],
    initialPageParam: '',
    queryFn: ({ pageParam }) =>
      call('listTrips', {
        ...queue,
        since: new Date(from),
        until: new Date(to),
        ...(target !== undefined && { impactedTarget: target }),
        ...(conclusion !== undefined && { conclusion }),
        ...(reason !== undefined && { reason }),
        ...(pageParam !== '' && { cursor: pageParam }),
        take: pageSize,
      }),
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });
  const list = attemptsQuery.data?.pages.flatMap((page) => page.trips) ?? [];
  return (
    <section className="card" aria-labelledby="attempts">
      <Group justify="space-between">
        <Title order={2} size="h4" id="attempts" ref={heading} tabIndex={-1}>
          {title}
        </Title>
        <Link to="/health" search={(old) => withoutSelection(old)} resetScroll={false}>
          Close the list
        </Link>
      </Group>
      {attemptsQuery.error !== null && (
        <ErrorAlert error={attemptsQuery.error} onRetry={() => void attemptsQuery.refetch()} />
      )}
      {attemptsQuery.isPending && <Loading what="Loading the pull requests" />}
      {attemptsQuery.data !== undefined && list.length === 0 && (
        <Empty icon="queue" title="No pull request left the queue in this period" />
      )}
      <ul className="plain attempts">
        {list.map((attempt) => (
          <AttemptRow
            key={`${attempt.prNumber} ${attempt.trip}`}
            queue={queue}
            attempt={attempt}
            formatTime={formatTime}
          />
        ))}
      </ul>
      {list.length > 0 && (
        <Group justify="space-between" mt="sm">
          <Text size="sm" c="dimmed">
            {formatCount(list.length, 'pull request')}
            {attemptsQuery.hasNextPage ? ' shown' : ''}
          </Text>
          {attemptsQuery.hasNextPage && (
            <Button
              variant="default"
              loading={attemptsQuery.isFetchingNextPage}
              onClick={() => void attemptsQuery.fetchNextPage()}
            >
              Show more
            </Button>
          )}
        </Group>
      )}
    </section>
  );
}

/** The search parameters of the page without a list of pull requests. */
export function withoutSelection(search: HealthSearch): HealthSearch {
  const { from: _from, to: _to, conclusion: _conclusion, reason: _reason, ...rest } = search;
  return rest;
}

type ListedAttempt = ResponseOf<'listTrips'>['trips'][number];
type AttemptRowProps = Pick<AttemptListProps, 'queue' | 'formatTime'> & { readonly attempt: ListedAttempt };

const AttemptRow = ({ queue, attempt, formatTime }: AttemptRowProps) => (
  <li className="recent-entry" data-number={attempt.prNumber}>
    <EntryPill state={attempt.conclusion} />
    <Stack gap={0} className="shrink">
      <Link to="/pull-request" search={{ ...queueSearch(queue), number: attempt.prNumber }} className="break">
        <span className="number">#{attempt.prNumber}</span> {attempt.prTitle}
      </Link>
      <Text size="sm" c="dimmed">
        {formatTime(attempt.concludedAt)}
        {attempt.reason !== null && `, ${reasonText[attempt.reason]}`}
        {`, ${formatDuration(attempt.timeInQueueSeconds)} in queue, ${formatDuration(attempt.testSeconds)} testing`}
        {attempt.restarts > 0 && `, ${formatCount(attempt.restarts, 'restart')}`}
        {attempt.trip > 1 && `, attempt ${attempt.trip}`}
      </Text>
    </Stack>
  </li>
);
