// How long test files take, for a CI job that divides them among its shards.

import { z } from 'zod';
import { CommitSha, Repository } from '../common.ts';

export const splitFilesMax = 20_000;

export const FileDurationsRequest = z.object({
  repo: Repository,
  sha: CommitSha.meta({
    description:
      'The commit that CI tests. Every request for the same files on one commit has the same answer.',
  }),
  files: z
    .array(z.string().min(1).max(1_024))
    .min(1)
    .max(splitFilesMax)
    .meta({ description: 'Test files; or packages or classes, as the reports name them.' }),
  variant: z
    .string()
    .max(64)
    .optional()
    .meta({ description: 'Durations of this variant, for files that it has. Default: of all variants.' }),
});

export const FileDurationsResponse = z.object({
  durations_ms: z.array(z.int().min(0).nullable()).max(splitFilesMax).meta({
    description:
      'How long the tests of each file usually take together, in milliseconds, in the order of `files`. Null: not known.',
  }),
});
