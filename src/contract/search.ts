// Finding a pull request by its number or by words.

import { z } from 'zod';
import { entryStates } from '#core/queue/model.ts';
import { InstantOut, line, Repository } from './common.ts';

export const SearchPullRequestsRequest = z.object({
  query: line(1, 200).meta({
    description:
      'A number or how it begins, with or without `#`; otherwise words that all are in the title or the author’s name.',
  }),
  repo: Repository.optional().meta({ description: 'Absent: all of the organization.' }),
  take: z.int().min(1).max(50).default(20),
});

const FoundPullRequest = z
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
      'By number: the number itself first, among all there ever were. By words: what is in a queue first, then the newest; of what has ended, the newest 20,000 are looked at.',
  }),
});
