// What the doctor finds at the Git host, on a click: it may take a dozen calls there.

import { Button, Group, Stack, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call } from '../api/api.ts';
import { formatCount } from '../format.ts';
import { Icon, type IconName } from '../component/icon.tsx';
import { ErrorAlert } from '../component/query-result.tsx';
import type { QueueName } from '../name.ts';
import { TriggerOffer } from './trigger-proposal.tsx';

type QueueFinding = ResponseOf<'diagnoseQueue'>['findings'][number];

type VerdictMark = { readonly icon: IconName; readonly label: string; readonly tone: string };

const marks: { readonly [Verdict in QueueFinding['verdict']]: VerdictMark } = {
  wrong: { icon: 'cross', label: 'Wrong', tone: 'bad' },
  warning: { icon: 'warning', label: 'Warning', tone: 'warn' },
  right: { icon: 'check', label: 'Right', tone: 'good' },
};
const verdicts = Object.keys(marks) as readonly QueueFinding['verdict'][];

function summarize(findings: readonly QueueFinding[]): string {
  const wrong = findings.filter(({ verdict }) => verdict === 'wrong').length;
  const warnings = findings.filter(({ verdict }) => verdict === 'warning').length;
  if (wrong > 0)
    return `${formatCount(wrong, 'check')} failed. Pull requests may wait or fail until this is fixed.`;
  if (warnings > 0)
    return `No check failed. There ${warnings === 1 ? 'is' : 'are'} ${formatCount(warnings, 'warning')}.`;
  return 'Nothing is wrong.';
}

export function QueueDiagnosis({ name }: { readonly name: QueueName }) {
  const diagnosis = useMutation({ mutationFn: () => call('diagnoseQueue', name) });
  const { findings, untriggered = [] } = diagnosis.data ?? {};
  return (
    <section className="card" aria-label="Check the repository">
      <Stack gap="sm" align="flex-start">
        <Title order={2} size="h4">
          Check the repository
        </Title>
        <Text>
          Signalbox asks the Git host whether this queue can work: its own permissions, the webhook, the rules
          of the branch, the required checks and the workflows.
        </Text>
        <Button variant="default" loading={diagnosis.isPending} onClick={() => diagnosis.mutate()}>
          {findings === undefined ? 'Check now' : 'Check again'}
        </Button>
        {diagnosis.error !== null && <ErrorAlert error={diagnosis.error} />}
        {findings !== undefined && (
          <div role="status">
            <Text fw={600}>{summarize(findings)}</Text>
            <FindingList findings={findings} />
            {untriggered.length > 0 && <TriggerOffer name={name} untriggered={untriggered} />}
          </div>
        )}
      </Stack>
    </section>
  );
}

/** The worst first. */
export const FindingList = ({ findings }: { readonly findings: readonly QueueFinding[] }) => (
  <ul className="findings">
    {verdicts
      .flatMap((verdict) => findings.filter((finding) => finding.verdict === verdict))
      .map((finding) => (
        <FindingRow key={finding.what} finding={finding} />
      ))}
  </ul>
);

const FindingRow = ({ finding: { verdict, what, fix } }: { readonly finding: QueueFinding }) => (
  <li data-tone={marks[verdict].tone}>
    <Group gap="xs" wrap="nowrap" align="flex-start">
      <span className="finding-mark">
        <Icon name={marks[verdict].icon} />
      </span>
      <div>
        <Text>
          <span className="visually-hidden">{marks[verdict].label}: </span>
          {what}
        </Text>
        {fix !== null && <Text c="dimmed">{fix}</Text>}
      </div>
    </Group>
  </li>
);
