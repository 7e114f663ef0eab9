// Which part of a parallel job runs here, for the CI systems that say so.

import type { CiEnv } from './ci-environment.ts';

export type CiShard = {
  /** From 1. */
  readonly shard: number;
  readonly shards: number;
};

/** Variables with the part and the number of parts, and the number of the first part. */
const variables = [
  { index: 'CI_NODE_INDEX', total: 'CI_NODE_TOTAL', first: 1 },
  { index: 'CIRCLE_NODE_INDEX', total: 'CIRCLE_NODE_TOTAL', first: 0 },
  { index: 'BUILDKITE_PARALLEL_JOB', total: 'BUILDKITE_PARALLEL_JOB_COUNT', first: 0 },
] as const;

/** Null: CI does not say. */
export function detectShard(env: CiEnv): CiShard | null {
  for (const { index, total, first } of variables) {
    const [at, count] = [env[index] ?? '', env[total] ?? ''];
    if (/^\d{1,4}$/.test(at) && /^\d{1,4}$/.test(count))
      return { shard: Number(at) - first + 1, shards: Number(count) };
  }
  return null;
}
