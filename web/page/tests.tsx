import { Stack, Tabs, Text, Title } from '@mantine/core';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call } from '../api.ts';
import { Answer, Empty } from '../component/answer.tsx';
import { Pager } from '../component/pager.tsx';
import { RepoChoice } from '../component/repo-choice.tsx';
import { HealthPill, Pill } from '../component/state.tsx';
import { Since } from '../component/time.tsx';
import { countOf, wordsOf } from '../format.ts';
import { pathOf, type Repo } from '../name.ts';
import { useSession } from '../query.ts';
import { type TestTab, testTabs } from '../test-tab.ts';

const route = getRouteApi('/tests');
const pageSize = 25;

const tabWords: Readonly<Record<TestTab, string>> = {
  flaky: 'Flaky',
  broken: 'Broken',
  quarantined: 'Quarantined',
};

export function TestsPage() {
  const { repo, tab = 'flaky' } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Stack>
      <title>Tests · Signalbox</title>
      <Title order={1} size="h2">
        Tests
      </Title>
      <RepoChoice chosen={repo} onChoose={(path) => void navigate({ search: { tab, repo: path } })}>
        {(chosen) => (
          <Tabs
            value={tab}
            keepMounted={false}
            onChange={(next) => {
              const known = testTabs.find((each) => each === next);
              if (known) void navigate({ search: { repo: pathOf(chosen), tab: known } });
            }}
          >
            <Tabs.List>
              {testTabs.map((each) => (
                <Tabs.Tab key={each} value={each}>
                  {tabWords[each]}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            {testTabs.map((each) => (
              <Tabs.Panel key={each} value={each} pt="md">
                {each === 'quarantined' ? (
                  <Quarantined key={pathOf(chosen)} repo={chosen} />
                ) : (
                  <Unhealthy key={pathOf(chosen)} repo={chosen} status={each} />
                )}
              </Tabs.Panel>
            ))}
          </Tabs>
        )}
      </RepoChoice>
    </Stack>
  );
}

type UnhealthyProps = { readonly repo: Repo; readonly status: 'flaky' | 'broken' };

function Unhealthy({ repo, status }: UnhealthyProps) {
  const { organization } = useSession();
  const [token, setToken] = useState('');
  const tests = useQuery({
    queryKey: ['tests', pathOf(repo), status, token],
    queryFn: () =>
      call('listUnhealthyTests', {
        repo,
        org_url_slug: organization.slug,
        status: status === 'flaky' ? 'FLAKY' : 'BROKEN',
        page_query: { page_size: pageSize, page_token: token },
      }),
    placeholderData: keepPreviousData,
  });
  return (
    <Answer query={tests} loading={`Reading ${status} tests`}>
      {({ tests: list, page }) =>
        list.length === 0 ? (
          <Empty icon="check" title={`No test is ${status}`}>
            Tests are known from uploaded reports: see Uploads.
          </Empty>
        ) : (
          <Stack gap="sm">
            <ul className="plain">
              {list.map((test) => (
                <UnhealthyTest key={test.id} repo={repo} test={test} />
              ))}
            </ul>
            <Pager page={page} what="test" onTurn={setToken} />
          </Stack>
        )
      }
    </Answer>
  );
}

type TestCase = ResponseOf<'listUnhealthyTests'>['tests'][number];

const UnhealthyTest = ({ repo, test }: { readonly repo: Repo; readonly test: TestCase }) => (
  <li className="row">
    <div className="shrink">
      <Link to="/tests/$id" params={{ id: test.id }} search={{ repo: pathOf(repo) }} className="entry-title">
        {test.name}
        {test.variant !== '' && ` (${test.variant})`}
      </Link>
      <Text size="sm" c="dimmed" className="break">
        {[test.file_path, test.parent, test.classname].filter(Boolean).join(' › ')}
      </Text>
      <Text size="sm" className="why">
        {test.status.reason}
      </Text>
      {test.codeowners.length > 0 && (
        <Text size="sm" c="dimmed" className="break">
          Owned by {test.codeowners.join(', ')}
        </Text>
      )}
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

function Quarantined({ repo }: { readonly repo: Repo }) {
  const { organization } = useSession();
  const [token, setToken] = useState('');
  const tests = useQuery({
    queryKey: ['tests', pathOf(repo), 'quarantined', token],
    queryFn: () =>
      call('listQuarantinedTests', {
        repo,
        org_url_slug: organization.slug,
        page_query: { page_size: pageSize, page_token: token },
      }),
    placeholderData: keepPreviousData,
  });
  return (
    <Answer query={tests} loading="Reading quarantined tests">
      {({ quarantined_tests: list, page }) =>
        list.length === 0 ? (
          <Empty icon="shield" title="No test is quarantined" />
        ) : (
          <Stack gap="sm">
            <ul className="plain">
              {list.map((test) => (
                <li key={test.test_case_id} className="row">
                  <div className="shrink">
                    <Link
                      to="/tests/$id"
                      params={{ id: test.test_case_id }}
                      search={{ repo: pathOf(repo) }}
                      className="entry-title"
                    >
                      {test.name}
                      {test.variant !== '' && ` (${test.variant})`}
                    </Link>
                    <Text size="sm" c="dimmed" className="break">
                      {[test.file, test.parent, test.classname].filter(Boolean).join(' › ')}
                    </Text>
                  </div>
                  <div className="entry-state">
                    <HealthPill status={test.status.toLowerCase() as Lowercase<typeof test.status>} />
                    <Text size="sm">{wordsOf(test.quarantine_setting)}</Text>
                    <Text size="sm" c="dimmed">
                      <Since at={test.quarantined_at} prefix="for " />
                    </Text>
                  </div>
                </li>
              ))}
            </ul>
            <Pager page={page} what="test" onTurn={setToken} />
          </Stack>
        )
      }
    </Answer>
  );
}
