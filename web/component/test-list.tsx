// Lists of tests: those of one health, and those that a search finds.

import { Stack, Text } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call } from '../api.ts';
import { countOf } from '../format.ts';
import { pathOf, type Repo } from '../name.ts';
import { useSession } from '../query.ts';
import { Answer, Empty } from './answer.tsx';
import { Owners } from './owners.tsx';
import { Pager } from './pager.tsx';
import { HealthPill, Pill } from './state.tsx';
import type { TestFilter } from './test-filter.tsx';
import { Since } from './time.tsx';

const pageSize = 25;

export type TestListProps = {
  readonly repo: Repo;
  readonly filter: TestFilter;
  readonly page: string;
  readonly onTurn: (token: string) => void;
};

/** The part of a request that says which tests of which page. */
export const listOf = (slug: string, { repo, filter, page }: Omit<TestListProps, 'onTurn'>) => ({
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
  const isNarrowed = filter.q !== undefined || filter.owner !== undefined;
  const tests = useQuery({
    queryKey: ['tests', pathOf(repo), status, filter, token],
    queryFn: () =>
      call('listUnhealthyTests', {
        ...listOf(organization.slug, props),
        status: status === 'flaky' ? 'FLAKY' : 'BROKEN',
      }),
    placeholderData: keepPreviousData,
  });
  return (
    <Answer query={tests} loading={`Reading ${status} tests`}>
      {({ tests: list, page }) =>
        list.length === 0 ? (
          <Empty icon="check" title={isNarrowed ? `No ${status} test matches` : `No test is ${status}`}>
            {isNarrowed ? (
              'Clear the filter to see all of them.'
            ) : (
              <>Tests are known from uploaded reports: see Uploads.</>
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
    </Answer>
  );
}

type TestLinkProps = {
  readonly repo: Repo;
  readonly id: string;
  readonly name: string;
  readonly variant: string;
};

export const TestLink = ({ repo, id, name, variant }: TestLinkProps) => (
  <Link to="/tests/$id" params={{ id }} search={{ repo: pathOf(repo) }} className="entry-title">
    {name}
    {variant !== '' && ` (${variant})`}
  </Link>
);

export const Place = ({ parts }: { readonly parts: readonly (string | null | undefined)[] }) => (
  <Text size="sm" c="dimmed" className="break">
    {parts.filter(Boolean).join(' › ')}
  </Text>
);

type TestCase = ResponseOf<'listUnhealthyTests'>['tests'][number];

const UnhealthyTest = ({ repo, test }: { readonly repo: Repo; readonly test: TestCase }) => (
  <li className="row">
    <div className="shrink">
      <TestLink repo={repo} id={test.id} name={test.name} variant={test.variant} />
      <Place parts={[test.file_path, test.parent, test.classname]} />
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
      {test.quarantined && <Pill icon="shield" word="Quarantined" tone="calm" />}
      <Text size="sm">{countOf(test.pull_requests_impacted_last_7d, 'pull request')} hit in 7 days</Text>
      <Text size="sm" c="dimmed">
        <Since at={test.status.timestamp} prefix="for " />
      </Text>
    </div>
  </li>
);

const foundMax = 20;

/** Tests of any health, of the chosen repository. */
export function FoundTests({ repo, query }: { readonly repo: Repo; readonly query: string }) {
  const { organization } = useSession();
  const found = useQuery({
    queryKey: ['tests', pathOf(repo), 'search', query],
    queryFn: () => call('searchTests', { repo, org_url_slug: organization.slug, query, take: foundMax }),
    enabled: query !== '',
    placeholderData: keepPreviousData,
  });
  if (query === '')
    return (
      <Empty icon="line" title="Which test?">
        Healthy tests are found too. Every word must be in the name, the file or the class.
      </Empty>
    );
  return (
    <Answer query={found} loading="Looking for tests">
      {({ tests }) =>
        tests.length === 0 ? (
          <Empty icon="line" title="No test matches">
            Try fewer or shorter words. Tests are known from uploaded reports.
          </Empty>
        ) : (
          <Stack gap="sm">
            <ul className="plain">
              {tests.map((test) => (
                <li key={test.id} className="row">
                  <div className="shrink">
                    <TestLink repo={repo} id={test.id} name={test.name} variant={test.variant} />
                    <Place parts={[test.file_path, test.classname]} />
                  </div>
                  <div className="entry-state">
                    <HealthPill status={test.status} />
                    {test.quarantined && <Pill icon="shield" word="Quarantined" tone="calm" />}
                  </div>
                </li>
              ))}
            </ul>
            {tests.length === foundMax && (
              <Text size="sm" c="dimmed">
                The first {foundMax} are shown. More words narrow it down.
              </Text>
            )}
          </Stack>
        )
      }
    </Answer>
  );
}
