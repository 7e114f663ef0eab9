// Search for pull requests by number, title or author.

import { z } from 'zod';
import { entryStates } from '#core/queue/model.ts';
import { InstantOut, line, Repository } from './common.ts';

export const SearchPullRequestsRequest = z.object({
  query: line(1, 200).meta({
    description:
      'A number or its first digits, with or without `#`; any other text must be, term by term, in the title or in the name of the author.',
  }),
  repo: Repository.optional().meta({ description: 'Absent: all repositories of the organization.' }),
  take: z.int().min(1).max(50).default(20),
});

export const FoundPullRequest = z
  .object({
    repo: Repository,
    targetBranch: z.string(),
    prNumber: z.int(),
    prTitle: z.string(),
    prAuthor: z.string(),
    state: z.enum(entryStates),
    stateChangedAt: InstantOut,
  })
  .meta({ id: 'FoundPullRequest' });

export const SearchPullRequestsResponse = z.object({
  pullRequests: z.array(FoundPullRequest).meta({
    description:
      'By number: the exact number first, among all pull requests. By text: pull requests in a queue first, then the newest; of those that have left a queue, the newest 20,000 are searched.',
  }),
});
