import { useQuery } from '@tanstack/react-query';
import { call } from '../api/api.ts';
import { queueKey, type QueueName } from '../name.ts';
import { pollWhile } from '../api/query.ts';
import type { StreamState } from '../api/stream.ts';

/** The graph is fetched only while it is shown. */
export const useQueueGraph = (queue: QueueName, state: StreamState, isShown: boolean) =>
  useQuery({
    queryKey: ['queue', queueKey(queue), 'graph'],
    queryFn: () => call('getQueueGraph', queue),
    enabled: isShown,
    refetchInterval: pollWhile(state),
  });
