import { useQuery } from '@tanstack/react-query';
import { call } from './api.ts';
import { queueKey, type QueueName } from './name.ts';
import { pollWhile } from './query.ts';
import type { StreamState } from './stream.ts';

/** Asked for only where it is shown. */
export const useQueueGraph = (queue: QueueName, state: StreamState, isShown: boolean) =>
  useQuery({
    queryKey: ['queue', queueKey(queue), 'graph'],
    queryFn: () => call('getQueueGraph', queue),
    enabled: isShown,
    refetchInterval: pollWhile(state),
  });
