// The settings by which tests of a repository are classified and quarantined: users read them, administrators change
// them.

import { Alert, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { call } from '../api/api.ts';
import { QueryResult } from '../component/query-result.tsx';
import { Icon } from '../component/icon.tsx';
import { RepoChoice } from '../component/repo-choice.tsx';
import { SettingForm } from '../setting/setting-form.tsx';
import { PageBreadcrumbs } from '../component/breadcrumbs.tsx';
import { healthSettingGroups } from '../setting/health-setting.ts';
import { formatRepoPath, type Repo } from '../name.ts';
import { useMay, useSession } from '../api/query.ts';
import { nested, valueAt } from '#contract/setting-path.ts';
import { trialLabel } from '#contract/text/settings-trial.ts';
import { SettingsTrial } from '../test-health/settings-trial.tsx';

const route = getRouteApi('/tests/settings');

export function TestSettingsPage() {
  const { repo } = route.useSearch();
  const navigate = route.useNavigate();
  const mayAdminister = useMay('admin');
  return (
    <Stack>
      <title>Test-health settings · Signalbox</title>
      <PageBreadcrumbs from="/tests">
        <Text>Settings</Text>
      </PageBreadcrumbs>
      <Title order={1} size="h2">
        Test-health settings
      </Title>
      {!mayAdminister && (
        <Alert variant="outline" icon={<Icon name="shield" />} title="These settings are read-only for you">
          You need the admin role to change them.
        </Alert>
      )}
      <RepoChoice chosen={repo} onChoose={(path) => void navigate({ search: { repo: path } })}>
        {(chosen) => <HealthForm key={formatRepoPath(chosen)} repo={chosen} isEditable={mayAdminister} />}
      </RepoChoice>
    </Stack>
  );
}

function HealthForm({ repo, isEditable }: { readonly repo: Repo; readonly isEditable: boolean }) {
  const { organization } = useSession();
  const request = { repo, org_url_slug: organization.slug };
  const settings = useQuery({
    queryKey: ['tests', formatRepoPath(repo), 'settings'],
    queryFn: async () => (await call('getHealthSettings', request)).settings,
  });
  const paths = healthSettingGroups.flatMap((group) => group.fields).map((field) => field.path);
  return (
    <QueryResult query={settings} loading="Loading the settings">
      {(data) => (
        <SettingForm
          groups={healthSettingGroups}
          saved={Object.fromEntries(paths.map((path) => [path, valueAt(data, path)]))}
          isEditable={isEditable}
          effectOf={() => null}
          cautionsOf={listHealthCautions}
          pathOf={(path) => path.replace(/^settings\./, '')}
          trial={{
            label: trialLabel,
            run: async (change) => (
              <SettingsTrial
                repo={repo}
                trial={await call('tryHealthSettings', { ...request, settings: nested(change) })}
              />
            ),
          }}
          save={(change) => call('updateHealthSettings', { ...request, settings: nested(change) })}
        />
      )}
    </QueryResult>
  );
}

const listHealthCautions = (paths: readonly string[]): readonly string[] =>
  paths.some((path) => path.startsWith('monitors.') || path === 'default_branches')
    ? ['After you save, Signalbox classifies every test of the repository again with these settings.']
    : [];
