// How the tests of a repository are judged and quarantined: everybody reads it, administrators change it.

import { Alert, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { call } from '../api.ts';
import { Answer } from '../component/answer.tsx';
import { Icon } from '../component/icon.tsx';
import { RepoChoice } from '../component/repo-choice.tsx';
import { SettingForm } from '../component/setting-form.tsx';
import { Trail } from '../component/trail.tsx';
import { healthSettingGroups } from '../health-setting.ts';
import { pathOf, type Repo } from '../name.ts';
import { useMay, useSession } from '../query.ts';
import { nested, valueAt } from '../setting.ts';

const route = getRouteApi('/tests/settings');

export function TestSettingsPage() {
  const { repo } = route.useSearch();
  const navigate = route.useNavigate();
  const mayAdminister = useMay('admin');
  return (
    <Stack>
      <title>Test-health settings · Signalbox</title>
      <Trail from="/tests">
        <Text>Settings</Text>
      </Trail>
      <Title order={1} size="h2">
        How tests are judged
      </Title>
      {!mayAdminister && (
        <Alert variant="outline" icon={<Icon name="shield" />} title="You can read these settings">
          To change them you need the role of an administrator.
        </Alert>
      )}
      <RepoChoice chosen={repo} onChoose={(path) => void navigate({ search: { repo: path } })}>
        {(chosen) => <HealthForm key={pathOf(chosen)} repo={chosen} isEditable={mayAdminister} />}
      </RepoChoice>
    </Stack>
  );
}

function HealthForm({ repo, isEditable }: { readonly repo: Repo; readonly isEditable: boolean }) {
  const { organization } = useSession();
  const asked = { repo, org_url_slug: organization.slug };
  const settings = useQuery({
    queryKey: ['tests', pathOf(repo), 'settings'],
    queryFn: async () => (await call('getHealthSettings', asked)).settings,
  });
  const paths = healthSettingGroups.flatMap((group) => group.fields).map((field) => field.path);
  return (
    <Answer query={settings} loading="Reading the settings">
      {(data) => (
        <SettingForm
          groups={healthSettingGroups}
          saved={Object.fromEntries(paths.map((path) => [path, valueAt(data, path)]))}
          isEditable={isEditable}
          effectOf={() => null}
          cautionsOf={cautionsOf}
          pathOf={(path) => path.replace(/^settings\./, '')}
          save={(change) => call('updateHealthSettings', { ...asked, settings: nested(change) })}
        />
      )}
    </Answer>
  );
}

const cautionsOf = (paths: readonly string[]): readonly string[] =>
  paths.some((path) => path.startsWith('monitors.') || path === 'default_branches')
    ? ['Every test of the repository is judged anew with these settings, at once.']
    : [];
