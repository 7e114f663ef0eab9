import { Stack, Tabs, Title } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { QuarantinedTests } from '../component/quarantined-list.tsx';
import { RepoChoice } from '../component/repo-choice.tsx';
import { type TestFilter, TestFilterForm } from '../component/test-filter.tsx';
import { FoundTests, UnhealthyTests } from '../component/test-list.tsx';
import { pathOf, type Repo } from '../name.ts';
import { type TestTab, testTabs } from '../test-tab.ts';

const route = getRouteApi('/tests');

const tabWords: Readonly<Record<TestTab, string>> = {
  flaky: 'Flaky',
  broken: 'Broken',
  quarantined: 'Quarantined',
  search: 'Any test',
};

export function TestsPage() {
  const { repo, tab = 'flaky', q, owner } = route.useSearch();
  const navigate = route.useNavigate();
  const filter: TestFilter = { ...(q !== undefined && { q }), ...(owner !== undefined && { owner }) };
  return (
    <Stack>
      <title>Tests · Signalbox</title>
      <Title order={1} size="h2">
        Tests
      </Title>
      <RepoChoice chosen={repo} onChoose={(path) => void navigate({ search: { tab, repo: path } })}>
        {(chosen) => (
          <>
            <Link to="/tests/settings" search={{ repo: pathOf(chosen) }}>
              How its tests are judged and quarantined
            </Link>
            <Tabs
              value={tab}
              keepMounted={false}
              onChange={(next) => {
                const known = testTabs.find((each) => each === next);
                if (known) void navigate({ search: { repo: pathOf(chosen), tab: known, ...filter } });
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

type PanelProps = { readonly tab: TestTab; readonly repo: Repo; readonly filter: TestFilter };

function Panel({ tab, repo, filter }: PanelProps) {
  const { page = '' } = route.useSearch();
  const navigate = route.useNavigate();
  const here = { repo: pathOf(repo), tab };
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
        key={`${pathOf(repo)} ${filter.q ?? ''} ${filter.owner ?? ''}`}
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
