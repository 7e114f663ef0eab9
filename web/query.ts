// What pages ask for. The first part of a key says what its change is told by: see useLiveQueue.

import { keepPreviousData, QueryCache, QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import type { Session } from '#contract/session.ts';
import { createContext, useContext, useEffect, useState } from 'react';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call, CallError, isPassing, readSession } from './api.ts';
import { queueKey, type QueueName } from './name.ts';
import { openStream, type StreamState } from './stream.ts';

export const sessionQuery = queryOptions({ queryKey: ['session'], queryFn: readSession, staleTime: 60_000 });

/** A session that ended shows in any answer; the page then asks to sign in and comes back to where it was. */
function noticeEnd(error: unknown): void {
  if (error instanceof CallError && error.status === 401) queryClient.setQueryData(['session'], null);
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEnd }),
  defaultOptions: {
    queries: { retry: (count, error) => count < 2 && isPassing(error), staleTime: 1_000 },
    mutations: { onError: noticeEnd },
  },
});

export const SessionContext = createContext<Session | null>(null);

/** Inside the shell somebody is signed in. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('Nobody is signed in.');
  return session;
}

export const useMay = (scope: 'submit' | 'admin'): boolean => useSession().scopes.includes(scope);

/** How often is asked while the stream is down. */
const pollMs = 3_000;
const pollWhile = (state: StreamState) => (state === 'live' ? (false as const) : pollMs);

export type QueueOverview = ResponseOf<'listQueues'>['queues'][number];

export const queuesQuery = queryOptions({
  queryKey: ['queues'],
  queryFn: async (): Promise<readonly QueueOverview[]> => (await call('listQueues', { take: 100 })).queues,
});

/** Queues that one page listens to. */
const listenMax = 50;

/** Asks anew for what is known of these queues whenever one of them changes. */
export function useLive(queues: readonly string[], keys: readonly (readonly unknown[])[]): StreamState {
  const [state, setState] = useState<StreamState>('reconnecting');
  const listened = queues.slice(0, listenMax).join('\n');
  const invalidated = JSON.stringify(keys);
  useEffect(() => {
    if (listened === '') return undefined;
    const wanted = JSON.parse(invalidated) as unknown[][];
    return openStream({
      queues: listened.split('\n'),
      onState: setState,
      onChanged: () =>
        Promise.all(wanted.map(async (queryKey) => queryClient.invalidateQueries({ queryKey }))),
    });
  }, [listened, invalidated]);
  return state;
}

export const useQueues = (state: StreamState = 'live') =>
  useQuery({ ...queuesQuery, refetchInterval: state === 'live' ? 30_000 : pollMs });

export const useQueue = (queue: QueueName, state: StreamState) =>
  useQuery({
    queryKey: ['queue', queueKey(queue), 'line'],
    queryFn: () => call('getQueue', queue),
    refetchInterval: pollWhile(state),
  });

export const useRunsUnderWay = (queue: QueueName, state: StreamState) =>
  useQuery({
    queryKey: ['queue', queueKey(queue), 'runs'],
    queryFn: async () => {
      const answer = await call('getMergeQueueTestingDetails', queue);
      return 'testRuns' in answer ? answer.testRuns : [answer];
    },
    refetchInterval: pollWhile(state),
  });

const batchMax = 50;

/** The records of some pull requests of a queue, by number. */
export const useRecords = (queue: QueueName, numbers: readonly number[], state: StreamState) =>
  useQuery({
    queryKey: ['queue', queueKey(queue), 'records', numbers.join()],
    queryFn: async () => {
      const batches: (readonly number[])[] = [];
      for (let at = 0; at < numbers.length; at += batchMax) batches.push(numbers.slice(at, at + batchMax));
      const answers = await Promise.all(
        batches.map(async (batch) =>
          call('getSubmittedPullRequests', { ...queue, prs: batch.map((number) => ({ number })) }),
        ),
      );
      return new Map(
        answers.flatMap(({ pullRequests }) => pullRequests).map((record) => [record.prNumber, record]),
      );
    },
    enabled: numbers.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: pollWhile(state),
  });

export const usePullRequest = (queue: QueueName, number: number, state: StreamState) =>
  useQuery({
    queryKey: ['queue', queueKey(queue), 'pull-request', number],
    queryFn: () =>
      call('getSubmittedPullRequest', {
        ...queue,
        pr: { number },
        includeTimeline: true,
        includeTimeSpent: true,
      }),
    refetchInterval: pollWhile(state),
  });
