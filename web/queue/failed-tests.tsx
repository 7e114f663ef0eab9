import { Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { formatRepoPath, type Repo } from '../name.ts';
import { Pill } from '../component/pill.tsx';

export type FailedTestsSummary = NonNullable<ResponseOf<'getSubmittedPullRequest'>['failedTests']>;
type DisplayedVerdict = FailedTestsSummary['first'][number]['verdict'];

const verdicts: Readonly<Record<DisplayedVerdict, { readonly label: string; readonly meaning: string }>> = {
  flaky: { label: 'Flaky', meaning: 'known to fail at random' },
  broken: { label: 'Already broken', meaning: 'also fails on the default branch' },
  new: { label: 'New failure', meaning: 'passed before' },
  unknown: { label: 'New test', meaning: 'in no earlier run' },
};

const verdictStyles = {
  flaky: { icon: 'switch', tone: 'warn' },
  broken: { icon: 'warning', tone: 'warn' },
  new: { icon: 'cross', tone: 'bad' },
  unknown: { icon: 'cross', tone: 'bad' },
} as const;

export const verdictMeaning = (verdict: DisplayedVerdict): string => verdicts[verdict].meaning;

export const VerdictPill = ({ verdict }: { readonly verdict: DisplayedVerdict }) => (
  <Pill {...verdictStyles[verdict]} label={verdicts[verdict].label} />
);

export const FailedTests = ({
  failed,
  repo,
}: {
  readonly failed: FailedTestsSummary;
  readonly repo: Repo;
}) => (
  <Stack gap="xs">
    <ul className="plain">
      {failed.first.map(({ testCaseId, name, verdict, isQuarantined }) => (
        <li key={testCaseId} className="failed-test">
          <VerdictPill verdict={verdict} />
          {isQuarantined && <Pill icon="shield" label="Quarantined" tone="calm" />}
          <Link
            to="/tests/$id"
            params={{ id: testCaseId }}
            search={{ repo: formatRepoPath(repo) }}
            className="break"
          >
            {name}
          </Link>
          <Text size="sm" c="dimmed">
            {verdictMeaning(verdict)}
          </Text>
        </li>
      ))}
    </ul>
    {failed.count > failed.first.length && (
      <Text size="sm">and {failed.count - failed.first.length} more</Text>
    )}
  </Stack>
);
