// Lists of tests: those of one health state, and search results.

import { Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call } from '../api/api.ts';
import { formatCount } from '../format.ts';
import { formatRepoPath, type Repo } from '../name.ts';
import { useSession } from '../api/query.ts';
import { QueryResult, Empty } from '../component/query-result.tsx';
import { Owners } from './owners.tsx';
import { Pager } from '../component/pager.tsx';
import { HealthPill, Pill } from '../component/pill.tsx';
import type { TestSearchFilter } from './test-filter.tsx';
import { Since } from '../component/time.tsx';

const pageSize = 25;

export type TestListProps = {
  readonly repo: Repo;
  readonly filter: TestSearchFilter;
  readonly page: string;
  readonly onTurn: (token: string) => void;
};

/** The part of a request that selects the tests and the page. */
export const buildTestListRequest = (
  slug: string,
  { repo, filter, page }: Omit<TestListProps, 'onTurn'>,
) => ({
  repo,
  org_url_slug: slug,
  search: filter.q ?? null,
  codeowner: filter.owner ?? null,
  page_query: { page_size: pageSize, page_token: page },
});

export function UnhealthyTests({
  status,
  ...props
}: TestListProps & { readonly status: 'flaky' | 'broken' }) {
  const { repo, filter, page: token } = props;
  const { organization } = useSession();
  const isFiltered = filter.q !== undefined || filter.owner !== undefined;
  const tests = useQuery({
    queryKey: ['tests', formatRepoPath(repo), status, filter, token],
    queryFn: () =>
      call('listUnhealthyTests', {
        ...buildTestListRequest(organization.slug, props),
        status: status === 'flaky' ? 'FLAKY' : 'BROKEN',
      }),
    placeholderData: keepPreviousData,
  });
  return (
    <QueryResult query={tests} loading={`Loading ${status} tests`}>
      {({ tests: list, page }) =>
        list.length === 0 ? (
          <Empty icon="check" title={isFiltered ? `No ${status} test matches` : `No ${status} tests`}>
            {isFiltered ? (
              `Clear the filter to see all ${status} tests.`
            ) : (
              <>Signalbox learns about tests from uploaded reports: see Uploads.</>
            )}
          </Empty>
        ) : (
          <Stack gap="sm">
            <ul className="plain">
              {list.map((test) => (
                <UnhealthyTest key={test.id} repo={repo} test={test} />
              ))}
            </ul>
            <Pager page={page} what="test" onTurn={props.onTurn} />
          </Stack>
        )
      }
    </QueryResult>
  );
}

type TestLinkProps = {
  readonly repo: Repo;
  readonly id: string;
  readonly name: string;
  readonly variant: string;
};

export const TestLink = ({ repo, id, name, variant }: TestLinkProps) => (
  <Link to="/tests/$id" params={{ id }} search={{ repo: formatRepoPath(repo) }} className="entry-title">
    {name}
    {variant !== '' && ` (${variant})`}
  </Link>
);

export const TestLocation = ({ parts }: { readonly parts: readonly (string | null | undefined)[] }) => (
  <Text size="sm" c="dimmed" className="break">
    {parts.filter(Boolean).join(' › ')}
  </Text>
);

type UnhealthyTestRow = ResponseOf<'listUnhealthyTests'>['tests'][number];

const UnhealthyTest = ({ repo, test }: { readonly repo: Repo; readonly test: UnhealthyTestRow }) => (
  <li className="row">
    <div className="shrink">
      <TestLink repo={repo} id={test.id} name={test.name} variant={test.variant} />
      <TestLocation parts={[test.file_path, test.parent, test.classname]} />
      <Text size="sm" className="why">
        {test.status.reason}
      </Text>
      <Owners
        owners={test.codeowners}
        repo={repo}
        tab={test.status.value === 'broken' ? 'broken' : 'flaky'}
      />
    </div>
    <div className="entry-state">
      <HealthPill status={test.status.value} />
      {test.quarantined && <Pill icon="shield" label="Quarantined" tone="calm" />}
      <Text size="sm">
        {formatCount(test.pull_requests_impacted_last_7d, 'pull request')} affected in 7 days
      </Text>
      <Text size="sm" c="dimmed">
        <Since at={test.status.timestamp} prefix="for " />
      </Text>
    </div>
  </li>
);

const resultsMax = 20;

/** Tests of any health, of the chosen repository. */
export function FoundTests({ repo, query }: { readonly repo: Repo; readonly query: string }) {
  const { organization } = useSession();
  const found = useQuery({
    queryKey: ['tests', formatRepoPath(repo), 'search', query],
    queryFn: () => call('searchTests', { repo, org_url_slug: organization.slug, query, take: resultsMax }),
    enabled: query !== '',
    placeholderData: keepPreviousData,
  });
  if (query === '')
    return (
      <Empty icon="queue" title="Search for a test">
        The search includes healthy tests. The name, file or class must contain every term.
      </Empty>
    );
  return (
    <QueryResult query={found} loading="Searching tests">
      {({ tests }) =>
        tests.length === 0 ? (
          <Empty icon="queue" title="No test matches">
            Try fewer or shorter terms. Signalbox learns about tests from uploaded reports.
          </Empty>
        ) : (
          <Stack gap="sm">
            <ul className="plain">
              {tests.map((test) => (
                <li key={test.id} className="row">
                  <div className="shrink">
                    <TestLink repo={repo} id={test.id} name={test.name} variant={test.variant} />
                    <TestLocation parts={[test.file_path, test.classname]} />
                  </div>
                  <div className="entry-state">
                    <HealthPill status={test.status} />
                    {test.quarantined && <Pill icon="shield" label="Quarantined" tone="calm" />}
                  </div>
                </li>
              ))}
            </ul>
            {tests.length === resultsMax && (
              <Text size="sm" c="dimmed">
                Showing the first {resultsMax}. Add terms to narrow the search.
              </Text>
            )}
          </Stack>
        )
      }
    </QueryResult>
  );
}
