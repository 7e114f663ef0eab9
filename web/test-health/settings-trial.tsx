// What tried settings would have changed: the counts in sentences, and the tests themselves.

import { Stack, Text, Title } from '@mantine/core';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { describeDifferences, describeTrial } from '#contract/text/settings-trial.ts';
import { HealthPill, Pill } from '../component/pill.tsx';
import { Instant } from '../component/time.tsx';
import { formatRepoPath, type Repo } from '../name.ts';

type Trial = ResponseOf<'tryHealthSettings'>;
type TriedTest = Trial['flaky']['tests_more'][number];

type TrialProps = { readonly repo: Repo; readonly trial: Trial };

export const SettingsTrial = ({ repo, trial }: TrialProps) => (
  <Stack gap="sm" role="status">
    <Title order={2} size="h4">
      With these settings, in the last {trial.days} days
    </Title>
    {describeDifferences(trial).map(({ kind, text }) => (
      <Stack key={kind} gap={4}>
        <Text fw={600}>{text}</Text>
        <TriedTests
          repo={repo}
          title="Only with these settings"
          tests={trial[kind].tests_more}
          total={trial[kind].more}
        />
        <TriedTests
          repo={repo}
          title="Only with the saved settings"
          tests={trial[kind].tests_fewer}
          total={trial[kind].fewer}
        />
      </Stack>
    ))}
    <Text size="sm" c="dimmed">
      {describeTrial(trial).join(' ')}
    </Text>
  </Stack>
);

type TriedTestsProps = {
  readonly repo: Repo;
  readonly title: string;
  readonly tests: readonly TriedTest[];
  readonly total: number;
};

const TriedTests = ({ repo, title, tests, total }: TriedTestsProps) =>
  tests.length === 0 ? null : (
    <details open={tests.length <= 10}>
      <summary>
        {title}: {total}
      </summary>
      <ul className="plain">
        {tests.map((test) => (
          <TriedTestRow key={test.id} repo={repo} test={test} />
        ))}
      </ul>
      {total > tests.length && (
        <Text size="sm" c="dimmed">
          Showing the latest {tests.length} of {total}.
        </Text>
      )}
    </details>
  );

/** A link opens a new tab: the settings are not saved yet. */
const TriedTestRow = ({ repo, test }: { readonly repo: Repo; readonly test: TriedTest }) => (
  <li className="row">
    <div className="shrink">
      <a
        href={`/app/tests/${test.id}?repo=${encodeURIComponent(formatRepoPath(repo))}`}
        target="_blank"
        rel="noopener"
        className="entry-title"
      >
        {test.name}
        {test.variant !== '' && ` (${test.variant})`}
      </a>
      {test.file_path !== undefined && (
        <Text size="sm" c="dimmed" className="break">
          {test.file_path}
        </Text>
      )}
      <Text size="sm" className="why">
        <Instant at={test.at} />: {test.reason}
      </Text>
    </div>
    <div className="entry-state">
      <HealthPill status={test.current.status} />
      {test.if_saved.status !== test.current.status && (
        <Text size="sm">{test.if_saved.status} at once if saved</Text>
      )}
      {test.if_saved.quarantined && <Pill icon="shield" label="Quarantined if saved" tone="calm" />}
    </div>
  </li>
);
