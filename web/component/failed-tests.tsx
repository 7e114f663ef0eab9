import { Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ResponseOf } from '#contract/endpoint.ts';
import { pathOf, type Repo } from '../name.ts';
import { Pill } from './state.tsx';

type Failed = NonNullable<ResponseOf<'getSubmittedPullRequest'>['failedTests']>;
type Verdict = Failed['first'][number]['verdict'];

const verdicts: Readonly<Record<Verdict, { readonly word: string; readonly meaning: string }>> = {
  flaky: { word: 'Flaky', meaning: 'known to fail without a change' },
  broken: { word: 'Broken before', meaning: 'fails on the default branch already' },
  new: { word: 'New failure', meaning: 'passed until now' },
  unknown: { word: 'Never seen before', meaning: 'no other run had it' },
};

const looks = {
  flaky: { icon: 'switch', tone: 'warn' },
  broken: { icon: 'warning', tone: 'warn' },
  new: { icon: 'cross', tone: 'bad' },
  unknown: { icon: 'cross', tone: 'bad' },
} as const;

export const verdictMeaning = (verdict: Verdict): string => verdicts[verdict].meaning;

export const VerdictPill = ({ verdict }: { readonly verdict: Verdict }) => (
  <Pill {...looks[verdict]} word={verdicts[verdict].word} />
);

export const FailedTests = ({ failed, repo }: { readonly failed: Failed; readonly repo: Repo }) => (
  <Stack gap="xs">
    <ul className="plain">
      {failed.first.map(({ testCaseId, name, verdict, isQuarantined }) => (
        <li key={testCaseId} className="failed-test">
          <VerdictPill verdict={verdict} />
          <Link to="/tests/$id" params={{ id: testCaseId }} search={{ repo: pathOf(repo) }} className="break">
            {name}
          </Link>
          <Text size="sm" c="dimmed">
            {verdictMeaning(verdict)}
            {isQuarantined && ', quarantined'}
          </Text>
        </li>
      ))}
    </ul>
    {failed.count > failed.first.length && (
      <Text size="sm">and {failed.count - failed.first.length} more</Text>
    )}
  </Stack>
);
