// The test runs of an attempt.

import { useQueries } from '@tanstack/react-query';
import { call } from '../api/api.ts';
import { queueKey, type QueueName } from '../name.ts';
import type { TestingResult } from '../queue/checks.tsx';
import { listRunIds, type TracedAttempt } from './trace.ts';

/** The runs that are loaded, by id; latest first. */
export type TestRuns = ReadonlyMap<string, TestingResult>;

/** Of further runs only the times are shown. */
const detailedMax = 20;

export const useTestRuns = (queue: QueueName, attempt: TracedAttempt | undefined): TestRuns =>
  useQueries({
    queries: (attempt === undefined ? [] : listRunIds(attempt)).slice(0, detailedMax).map((testRunId) => ({
      queryKey: ['queue', queueKey(queue), 'run', testRunId],
      queryFn: async () =>
        (await call('getMergeQueueTestingDetails', { ...queue, testRunId })) as TestingResult,
    })),
    combine: collectRuns,
  });

const collectRuns = (results: readonly { readonly data?: TestingResult | undefined }[]): TestRuns =>
  new Map(results.flatMap(({ data }) => (data === undefined ? [] : [[data.testRunId, data] as const])));
