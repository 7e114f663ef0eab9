// What the server finds for the palette: queues, pull requests and tests.

import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call } from '../api.ts';
import type { Command, CommandGroup } from '../command.ts';
import { wordsOf } from '../format.ts';
import { pathOf, queueSearch } from '../name.ts';
import { useSession } from '../query.ts';

/** Of each kind. */
const foundMax = 6;

type Navigate = ReturnType<typeof useNavigate>;
type Queue = ResponseOf<'listQueues'>['queues'][number];
type PullRequest = ResponseOf<'searchPullRequests'>['pullRequests'][number];
type Test = ResponseOf<'searchTests'>['tests'][number];

const queueCommand = (navigate: Navigate, queue: Queue): Command => ({
  id: `queue ${pathOf(queue.repo)} ${queue.targetBranch}`,
  label: `${queue.repo.owner}/${queue.repo.name} ${queue.targetBranch}`,
  description: `${queue.repo.host}, ${wordsOf(queue.state)}, ${queue.depth} in the queue`,
  icon: 'line',
  run: () => void navigate({ to: '/queue', search: queueSearch(queue) }),
});

const pullRequestCommand = (navigate: Navigate, found: PullRequest): Command => ({
  id: `pull request ${pathOf(found.repo)} ${found.targetBranch} ${found.prNumber}`,
  label: `#${found.prNumber} ${found.prTitle}`,
  description: `${found.repo.owner}/${found.repo.name} ${found.targetBranch}, by ${found.prAuthor}, ${wordsOf(found.state)}`,
  icon: 'merged',
  run: () =>
    void navigate({ to: '/pull-request', search: { ...queueSearch(found), number: found.prNumber } }),
});

const testCommand = (navigate: Navigate, test: Test): Command => ({
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
    void navigate({ to: '/tests/$id', params: { id: test.id }, search: { repo: pathOf(test.repository) } }),
});

const groupOf = (title: string, commands: readonly Command[] | undefined): readonly CommandGroup[] =>
  commands === undefined || commands.length === 0 ? [] : [{ title, commands }];

export function useFound(query: string): {
  readonly groups: readonly CommandGroup[];
  readonly isSearching: boolean;
} {
  const navigate = useNavigate();
  const { organization } = useSession();
  const isAsked = query !== '';
  const queues = useQuery({
    queryKey: ['palette', 'queues', query],
    queryFn: () => call('listQueues', { take: foundMax, ...(isAsked && { query }) }),
  });
  const pullRequests = useQuery({
    queryKey: ['palette', 'pull-requests', query],
    queryFn: () => call('searchPullRequests', { query, take: foundMax }),
    enabled: isAsked,
  });
  const tests = useQuery({
    queryKey: ['palette', 'tests', query],
    queryFn: () => call('searchTests', { query, org_url_slug: organization.slug, take: foundMax }),
    enabled: isAsked,
  });
  return {
    groups: [
      ...groupOf(
        'Pull requests',
        isAsked
          ? pullRequests.data?.pullRequests.map((found) => pullRequestCommand(navigate, found))
          : undefined,
      ),
      ...groupOf('Tests', isAsked ? tests.data?.tests.map((test) => testCommand(navigate, test)) : undefined),
      ...groupOf(
        'Queues',
        queues.data?.queues.map((queue) => queueCommand(navigate, queue)),
      ),
    ],
    isSearching: queues.isFetching || pullRequests.isFetching || tests.isFetching,
  };
}
