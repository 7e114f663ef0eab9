// The queries of the pages. The first part of a key says which events report its changes: see useLive.

import { QueryCache, QueryClient, queryOptions, useQuery } from '@tanstack/react-query';
import type { Session } from '#contract/session.ts';
import { createContext, useContext, useEffect, useState } from 'react';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call, CallError, isTransient, readSession } from './api.ts';
import { createLoader, type Loader } from './loader.ts';
import { queueKey, type QueueName } from '../name.ts';
import { openStream, type StreamState } from './stream.ts';

export const sessionQuery = queryOptions({ queryKey: ['session'], queryFn: readSession, staleTime: 60_000 });

/** Any answer may show that the session has ended; the page then asks to sign in, and returns. */
function handleSessionEnd(error: unknown): void {
  if (error instanceof CallError && error.status === 401) queryClient.setQueryData(['session'], null);
}

export const queryClient: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: handleSessionEnd }),
  defaultOptions: {
    queries: { retry: (count, error) => count < 2 && isTransient(error), staleTime: 1_000 },
    mutations: { onError: handleSessionEnd },
  },
});

export const SessionContext = createContext<Session | null>(null);

/** Inside the shell there is always a session. */
export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) throw new Error('There is no session.');
  return session;
}

export const useMay = (scope: 'submit' | 'admin'): boolean => useSession().scopes.includes(scope);

/** Records that the API returns in one call. */
const recordsMax = 50;

/** Polling interval while the stream is down. */
const pollMs = 3_000;
/** While the first fetch of a repository is shown. */
const fetchPollMs = 2_000;
export const pollWhile = (state: StreamState) => (state === 'live' ? (false as const) : pollMs);

export type QueueOverview = ResponseOf<'listQueues'>['queues'][number];

export const queuesQuery = queryOptions({
  queryKey: ['queues'],
  queryFn: async (): Promise<readonly QueueOverview[]> => (await call('listQueues', { take: 100 })).queues,
});

/** Queues that a stream names individually; a page with more of them subscribes to all queues. */
const namedMax = 50;

/** Fetches what is known about these queues again whenever one of them changes. */
export function useLive(queues: readonly string[], keys: readonly (readonly unknown[])[]): StreamState {
  const [state, setState] = useState<StreamState>('reconnecting');
  const subscribed = queues.length > namedMax ? 'all' : queues.join('\n');
  const invalidated = JSON.stringify(keys);
  useEffect(() => {
    if (subscribed === '') return undefined;
    const queryKeys = JSON.parse(invalidated) as unknown[][];
    return openStream({
      queues: subscribed === 'all' ? 'all' : subscribed.split('\n'),
      onState: setState,
      onChanged: () =>
        Promise.all(queryKeys.map(async (queryKey) => queryClient.invalidateQueries({ queryKey }))),
    });
  }, [subscribed, invalidated]);
  return state;
}

export const useQueues = (state: StreamState = 'live') =>
  useQuery({ ...queuesQuery, refetchInterval: state === 'live' ? 30_000 : pollMs });

export const useQueue = (queue: QueueName, state: StreamState) =>
  useQuery({
    queryKey: ['queue', queueKey(queue), 'entries'],
    queryFn: () => call('getQueue', queue),
    // The stream does not report the progress of a first fetch.
    refetchInterval: ({ state: { data } }) =>
      data !== undefined && data.repositoryFetch !== null ? fetchPollMs : pollWhile(state),
  });

/** What the doctor found for a queue last. */
export const diagnosisQuery = (queue: QueueName) =>
  queryOptions({
    queryKey: ['queue', queueKey(queue), 'diagnosis'],
    queryFn: () => call('getDiagnosis', queue),
    staleTime: 30_000,
  });

/** How long pull requests of the queue are usually under test, in seconds; null: not known. */
export const useUsualSeconds = (queue: QueueName): number | null => {
  const { repo, targetBranch } = queue;
  const { data = null } = useQuery({
    queryKey: ['usual', queueKey(queue)],
    queryFn: async () => {
      const { queues } = await call('listQueues', {
        query: `${repo.owner}/${repo.name} ${targetBranch}`,
        take: 100,
      });
      const own = queues.find((listed) => queueKey(listed) === queueKey(queue));
      return own?.usualTestSeconds ?? null;
    },
    refetchInterval: 60_000,
    staleTime: 60_000,
  });
  return data;
};

export const useRunsInProgress = (queue: QueueName, state: StreamState) =>
  useQuery({
    queryKey: ['queue', queueKey(queue), 'runs'],
    queryFn: async () => {
      const answer = await call('getMergeQueueTestingDetails', queue);
      return 'testRuns' in answer ? answer.testRuns : [answer];
    },
    refetchInterval: pollWhile(state),
  });

/** The record of a queued pull request; records that are requested together are one call. */
export function useRecord(queue: QueueName, number: number, state: StreamState) {
  const key = queueKey(queue);
  return useQuery({
    queryKey: ['queue', key, 'record', number],
    queryFn: () => getRecordLoader(key, queue).load(number),
    refetchInterval: pollWhile(state),
  });
}

const loaders = new Map<string, Loader<number, ResponseOf<'getSubmittedPullRequest'> | null>>();

function getRecordLoader(key: string, queue: QueueName) {
  const known = loaders.get(key);
  if (known !== undefined) return known;
  const loader = createLoader(recordsMax, 0, async (numbers: readonly number[]) => {
    const prs = numbers.map((number) => ({ number }));
    const { pullRequests } = await call('getSubmittedPullRequests', { ...queue, prs });
    const byNumber = new Map(pullRequests.map((record) => [record.prNumber, record]));
    return numbers.map((number) => byNumber.get(number) ?? null);
  });
  loaders.set(key, loader);
  return loader;
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
