// What the doctor found at the Git host last, and another check on a click: it may take a dozen calls there.

import { Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call } from '../api/api.ts';
import { diagnosisQuery } from '../api/query.ts';
import { formatCount } from '../format.ts';
import { Icon, type IconName } from '../component/icon.tsx';
import { ErrorAlert, QueryResult } from '../component/query-result.tsx';
import { Ago } from '../component/time.tsx';
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
  const query = diagnosisQuery(name);
  const kept = useQuery(query);
  const queryClient = useQueryClient();
  const check = useMutation({
    mutationFn: () => call('diagnoseQueue', name),
    onSuccess: (diagnosis) => queryClient.setQueryData(query.queryKey, { diagnosis }),
  });
  return (
    <section className="card" aria-label="Check the repository">
      <Stack gap="sm" align="flex-start">
        <Text>
          Signalbox asks the Git host whether this queue can work: its own permissions, the webhook, the rules
          of the branch, the required checks and the workflows. It asks again every 6 hours, and when a
          workflow of the branch changes.
        </Text>
        <QueryResult query={kept} loading="Loading the last check">
          {({ diagnosis }) => (
            <>
              <Group gap="sm">
                <Button variant="default" loading={check.isPending} onClick={() => check.mutate()}>
                  {diagnosis === null ? 'Check now' : 'Check again'}
                </Button>
                <Text c="dimmed" size="sm">
                  {diagnosis === null ? (
                    'Not checked yet.'
                  ) : (
                    <>
                      Checked <Ago at={diagnosis.checkedAt} />
                    </>
                  )}
                </Text>
              </Group>
              {check.error !== null && <ErrorAlert error={check.error} />}
              {diagnosis !== null && <Findings name={name} diagnosis={diagnosis} />}
            </>
          )}
        </QueryResult>
      </Stack>
    </section>
  );
}

type FindingsProps = { readonly name: QueueName; readonly diagnosis: ResponseOf<'diagnoseQueue'> };

const Findings = ({ name, diagnosis: { findings, untriggered } }: FindingsProps) => (
  <div className="wide">
    <Text fw={600} role="status">
      {summarize(findings)}
    </Text>
    <FindingList findings={findings} />
    {untriggered.length > 0 && <TriggerOffer name={name} untriggered={untriggered} />}
  </div>
);

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
