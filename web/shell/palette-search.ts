// The server's search results for the palette: queues, pull requests and tests.

import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call } from '../api/api.ts';
import type { Command, CommandGroup } from '../command.ts';
import { formatEntryState } from '../component/pill.tsx';
import { humanizeCode } from '../format.ts';
import { formatRepoPath, queueSearch } from '../name.ts';
import { useSession } from '../api/query.ts';

/** Results of each kind. */
const resultsMax = 6;

type Navigate = ReturnType<typeof useNavigate>;
type PaletteQueue = ResponseOf<'listQueues'>['queues'][number];
type PalettePullRequest = ResponseOf<'searchPullRequests'>['pullRequests'][number];
type PaletteTest = ResponseOf<'searchTests'>['tests'][number];

const queueCommand = (navigate: Navigate, queue: PaletteQueue): Command => ({
  id: `queue ${formatRepoPath(queue.repo)} ${queue.targetBranch}`,
  label: `${queue.repo.owner}/${queue.repo.name} ${queue.targetBranch}`,
  description: `${queue.repo.host}, ${humanizeCode(queue.state)}, ${queue.depth} in the queue`,
  icon: 'queue',
  run: () => void navigate({ to: '/queue', search: queueSearch(queue) }),
});

const pullRequestCommand = (navigate: Navigate, pullRequest: PalettePullRequest): Command => ({
  id: `pull request ${formatRepoPath(pullRequest.repo)} ${pullRequest.targetBranch} ${pullRequest.prNumber}`,
  label: `#${pullRequest.prNumber} ${pullRequest.prTitle}`,
  description: `${pullRequest.repo.owner}/${pullRequest.repo.name} ${pullRequest.targetBranch}, by ${pullRequest.prAuthor}, ${formatEntryState(pullRequest.state)}`,
  icon: 'merged',
  run: () =>
    void navigate({
      to: '/pull-request',
      search: { ...queueSearch(pullRequest), number: pullRequest.prNumber },
    }),
});

const testCommand = (navigate: Navigate, test: PaletteTest): Command => ({
  id: `test ${test.id}`,
  label: test.variant === '' ? test.name : `${test.name} (${test.variant})`,
  description: [
    `${test.repository.owner}/${test.repository.name}`,
    test.file_path ?? test.classname,
    test.status,
    test.quarantined && 'quarantined',
  ]
    .filter(Boolean)
    .join(', '),
  icon: 'flask',
  run: () =>
    void navigate({
      to: '/tests/$id',
      params: { id: test.id },
      search: { repo: formatRepoPath(test.repository) },
    }),
});

const toCommandGroups = (title: string, commands: readonly Command[] | undefined): readonly CommandGroup[] =>
  commands === undefined || commands.length === 0 ? [] : [{ title, commands }];

export function useSearchResults(query: string): {
  readonly groups: readonly CommandGroup[];
  readonly isSearching: boolean;
} {
  const navigate = useNavigate();
  const { organization } = useSession();
  const hasQuery = query !== '';
  const queues = useQuery({
    queryKey: ['palette', 'queues', query],
    queryFn: () => call('listQueues', { take: resultsMax, ...(hasQuery && { query }) }),
  });
  const pullRequests = useQuery({
    queryKey: ['palette', 'pull-requests', query],
    queryFn: () => call('searchPullRequests', { query, take: resultsMax }),
    enabled: hasQuery,
  });
  const tests = useQuery({
    queryKey: ['palette', 'tests', query],
    queryFn: () => call('searchTests', { query, org_url_slug: organization.slug, take: resultsMax }),
    enabled: hasQuery,
  });
  return {
    groups: [
      ...toCommandGroups(
        'Pull requests',
        hasQuery
          ? pullRequests.data?.pullRequests.map((pullRequest) => pullRequestCommand(navigate, pullRequest))
          : undefined,
      ),
      ...toCommandGroups(
        'Tests',
        hasQuery ? tests.data?.tests.map((test) => testCommand(navigate, test)) : undefined,
      ),
      ...toCommandGroups(
        'Queues',
        queues.data?.queues.map((queue) => queueCommand(navigate, queue)),
      ),
    ],
    isSearching: queues.isFetching || pullRequests.isFetching || tests.isFetching,
  };
}
