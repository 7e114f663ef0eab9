import { Group, Stack, Tabs, Title } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { QuarantinedTests } from '../test-health/quarantined-list.tsx';
import { RepoChoice } from '../component/repo-choice.tsx';
import { type TestSearchFilter, TestFilterForm } from '../test-health/test-filter.tsx';
import { FoundTests, UnhealthyTests } from '../test-health/test-list.tsx';
import { formatRepoPath, type Repo } from '../name.ts';
import { type TestTab, testTabs } from '../test-health/test-tab.ts';

const route = getRouteApi('/tests');

const tabLabels: Readonly<Record<TestTab, string>> = {
  flaky: 'Flaky',
  broken: 'Broken',
  quarantined: 'Quarantined',
  search: 'All tests',
};

export function TestsPage() {
  const { repo, tab = 'flaky', q, owner } = route.useSearch();
  const navigate = route.useNavigate();
  const filter: TestSearchFilter = { ...(q !== undefined && { q }), ...(owner !== undefined && { owner }) };
  return (
    <Stack>
      <title>Tests · Signalbox</title>
      <Title order={1} size="h2">
        Tests
      </Title>
      <RepoChoice chosen={repo} onChoose={(path) => void navigate({ search: { tab, repo: path } })}>
        {(chosen) => (
          <>
            <Group>
              <Link to="/tests/settings" search={{ repo: formatRepoPath(chosen) }}>
                Test-health settings of this repository
              </Link>
              <Link to="/tests/accuracy" search={{ repo: formatRepoPath(chosen) }}>
                Accuracy of verdicts
              </Link>
            </Group>
            <Tabs
              value={tab}
              keepMounted={false}
              onChange={(next) => {
                const known = testTabs.find((each) => each === next);
                if (known) void navigate({ search: { repo: formatRepoPath(chosen), tab: known, ...filter } });
              }}
            >
              <Tabs.List>
                {testTabs.map((each) => (
                  <Tabs.Tab key={each} value={each}>
                    {tabLabels[each]}
                  </Tabs.Tab>
                ))}
              </Tabs.List>
              {testTabs.map((each) => (
                <Tabs.Panel key={each} value={each} pt="md">
                  <Panel tab={each} repo={chosen} filter={filter} />
                </Tabs.Panel>
              ))}
            </Tabs>
          </>
        )}
      </RepoChoice>
    </Stack>
  );
}

type PanelProps = { readonly tab: TestTab; readonly repo: Repo; readonly filter: TestSearchFilter };

function Panel({ tab, repo, filter }: PanelProps) {
  const { page = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const here = { repo: formatRepoPath(repo), tab };
  const list = {
    repo,
    filter,
    page,
    onTurn: (token: string) =>
      void navigate({ search: { ...here, ...filter, ...(token !== '' && { page: token }) } }),
  };
  return (
    <Stack>
      <TestFilterForm
        key={`${formatRepoPath(repo)} ${filter.q ?? ''} ${filter.owner ?? ''}`}
        chosen={filter}
        hasOwner={tab !== 'search'}
        onChoose={(chosen) => void navigate({ search: { ...here, ...chosen } })}
      />
      {tab === 'quarantined' && <QuarantinedTests {...list} />}
      {(tab === 'flaky' || tab === 'broken') && <UnhealthyTests {...list} status={tab} />}
      {tab === 'search' && <FoundTests repo={repo} query={filter.q ?? ''} />}
    </Stack>
  );
}
