// Pull requests of all queues that only a person can bring further: what failed, and what is not ready.

import { z } from 'zod';
import { reasons } from '#core/queue/reason.ts';
import { line } from './common.ts';
import { FoundPullRequest } from './search.ts';
import { FailedTests } from './testing.ts';

export const ListPullRequestsToFixRequest = z.object({
  author: line(1, 200)
    .optional()
    .meta({ description: 'Only pull requests of this author, ignoring case. Absent: of all authors.' }),
  failedWithinHours: z
    .int()
    .min(1)
    .max(168)
    .default(24)
    .meta({ description: 'Failed pull requests are listed for so long, unless they are submitted again.' }),
  take: z.int().min(1).max(50).default(20),
});

const PullRequestToFix = z
  .object({
    ...FoundPullRequest.shape,
    state: z.enum(['failed', 'not_ready']),
    conclusionReason: z
      .enum(reasons)
      .nullable()
      .meta({ description: 'Why it failed; null: it is not ready.' }),
    waitingFor: z.array(z.string()).meta({ description: 'Why it is not ready, as sentences.' }),
    failedTests: FailedTests.nullable().meta({
      description: 'The failing tests in the reports of its failed run; null: it failed in no run.',
    }),
  })
  .meta({ id: 'PullRequestToFix' });

export const ListPullRequestsToFixResponse = z.object({
  pullRequests: z.array(PullRequestToFix).meta({ description: 'Latest change first.' }),
});
