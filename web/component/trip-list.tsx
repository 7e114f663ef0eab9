// The pull requests behind a figure: those that left the queue in a part of its history.

import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call } from '../api.ts';
import { countOf, spanOf } from '../format.ts';
import type { HealthSearch } from '../health-search.ts';
import { queueKey, type QueueName, queueSearch } from '../name.ts';
import { reasonWords } from '#contract/reason-words.ts';
import { Empty, Loading, Problem } from './answer.tsx';
import { EntryPill } from './state.tsx';

type TripListProps = {
  readonly queue: QueueName;
  readonly search: HealthSearch & { readonly from: string; readonly to: string };
  /** What is listed. */
  readonly title: string;
  readonly tellTime: (iso: string) => string;
};

const pageSize = 50;

export function TripList({ queue, search, title, tellTime }: TripListProps) {
  const { from, to, target, conclusion, reason } = search;
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [from, to, conclusion, reason]);
  const trips = useInfiniteQuery({
    queryKey: ['trips', queueKey(queue), from, to, target, conclusion, reason],
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
  const list = trips.data?.pages.flatMap((page) => page.trips) ?? [];
  return (
    <section className="card" aria-labelledby="trips">
      <Group justify="space-between">
        <Title order={2} size="h4" id="trips" ref={heading} tabIndex={-1}>
          {title}
        </Title>
        <Link to="/health" search={(old) => withoutPart(old)} resetScroll={false}>
          Close the list
        </Link>
      </Group>
      {trips.error !== null && <Problem error={trips.error} onRetry={() => void trips.refetch()} />}
      {trips.isPending && <Loading what="Reading the pull requests" />}
      {trips.data !== undefined && list.length === 0 && (
        <Empty icon="line" title="No pull request left the queue then" />
      )}
      <ul className="plain trips">
        {list.map((trip) => (
          <TripRow key={`${trip.prNumber} ${trip.trip}`} queue={queue} trip={trip} tellTime={tellTime} />
        ))}
      </ul>
      {list.length > 0 && (
        <Group justify="space-between" mt="sm">
          <Text size="sm" c="dimmed">
            {countOf(list.length, 'pull request')}
            {trips.hasNextPage ? ' so far' : ''}
          </Text>
          {trips.hasNextPage && (
            <Button
              variant="default"
              loading={trips.isFetchingNextPage}
              onClick={() => void trips.fetchNextPage()}
            >
              Show more
            </Button>
          )}
        </Group>
      )}
    </section>
  );
}

/** The same page without a list. */
export function withoutPart(search: HealthSearch): HealthSearch {
  const { from: _from, to: _to, conclusion: _conclusion, reason: _reason, ...rest } = search;
  return rest;
}

type Trip = ResponseOf<'listTrips'>['trips'][number];
type TripRowProps = Pick<TripListProps, 'queue' | 'tellTime'> & { readonly trip: Trip };

const TripRow = ({ queue, trip, tellTime }: TripRowProps) => (
  <li className="recent-entry" data-number={trip.prNumber}>
    <EntryPill state={trip.conclusion} />
    <Stack gap={0} className="shrink">
      <Link to="/pull-request" search={{ ...queueSearch(queue), number: trip.prNumber }} className="break">
        <span className="number">#{trip.prNumber}</span> {trip.prTitle}
      </Link>
      <Text size="sm" c="dimmed">
        {tellTime(trip.concludedAt)}
        {trip.reason !== null && `, ${reasonWords[trip.reason]}`}
        {`, ${spanOf(trip.timeInQueueSeconds)} in queue, ${spanOf(trip.testSeconds)} under test`}
        {trip.restarts > 0 && `, ${countOf(trip.restarts, 'restart')}`}
        {trip.trip > 1 && `, trip ${trip.trip}`}
      </Text>
    </Stack>
  </li>
);
