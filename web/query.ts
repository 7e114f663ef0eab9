// What pages ask for. The first part of a key says what its change is told by: see useLiveQueue.

import { QueryCache, QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import type { Session } from '#contract/session.ts';
import { createContext, useContext, useEffect, useState } from 'react';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call, CallError, isPassing, readSession } from './api.ts';
import { createLoader, type Loader } from './loader.ts';
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

/** What the API gives in one call. */
const recordsMax = 50;

/** How often is asked while the stream is down. */
const pollMs = 3_000;
/** While the first fetch of a repository is shown. */
const fetchPollMs = 2_000;
export const pollWhile = (state: StreamState) => (state === 'live' ? (false as const) : pollMs);

export type QueueOverview = ResponseOf<'listQueues'>['queues'][number];

export const queuesQuery = queryOptions({
  queryKey: ['queues'],
  queryFn: async (): Promise<readonly QueueOverview[]> => (await call('listQueues', { take: 100 })).queues,
});

/** Queues that are named one by one; a page of more listens to all that there are. */
const namedMax = 50;

/** Asks anew for what is known of these queues whenever one of them changes. */
export function useLive(queues: readonly string[], keys: readonly (readonly unknown[])[]): StreamState {
  const [state, setState] = useState<StreamState>('reconnecting');
  const listened = queues.length > namedMax ? 'all' : queues.join('\n');
  const invalidated = JSON.stringify(keys);
  useEffect(() => {
    if (listened === '') return undefined;
    const wanted = JSON.parse(invalidated) as unknown[][];
    return openStream({
      queues: listened === 'all' ? 'all' : listened.split('\n'),
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
    // The stream says nothing of the progress of a first fetch.
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && data.repositoryFetch !== null ? fetchPollMs : pollWhile(state),
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

/** The record of a pull request in the line; those that are asked for together are one call. */
export function useRecord(queue: QueueName, number: number, state: StreamState) {
  const key = queueKey(queue);
  return useQuery({
    queryKey: ['queue', key, 'record', number],
    queryFn: () => recordsOf(key, queue).load(number),
    refetchInterval: pollWhile(state),
  });
}

const loaders = new Map<string, Loader<number, ResponseOf<'getSubmittedPullRequest'> | null>>();

function recordsOf(key: string, queue: QueueName) {
  const known = loaders.get(key);
  if (known !== undefined) return known;
  const made = createLoader(recordsMax, 0, async (numbers: readonly number[]) => {
    const prs = numbers.map((number) => ({ number }));
    const { pullRequests } = await call('getSubmittedPullRequests', { ...queue, prs });
    const byNumber = new Map(pullRequests.map((record) => [record.prNumber, record]));
    return numbers.map((number) => byNumber.get(number) ?? null);
  });
  loaders.set(key, made);
  return made;
}

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
