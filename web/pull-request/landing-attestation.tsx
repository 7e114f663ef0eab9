// The attestation of a landing: the record that the tested tree is the tree on the branch.

import { Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { call, CallError } from '../api/api.ts';
import { formatPullRequestNumbers, humanizeCode } from '../format.ts';
import { queueKey, type QueueName } from '../name.ts';
import { landedRuleChangeText, sourceText } from '../queue/rule-text.ts';
import { QueryResult } from '../component/query-result.tsx';
import { Icon } from '../component/icon.tsx';
import { Pill } from '../component/pill.tsx';
import { Instant } from '../component/time.tsx';

type LandingAttestation = ResponseOf<'getLanding'>;

const proofTexts: Readonly<Record<LandingAttestation['proof'], string>> = {
  exact: 'The tree on the branch is identical to the tree that was tested.',
  lane: 'Pull requests that share no impacted targets with this landing merged in between.',
  direct: 'Its own checks passed on a head commit that contains the tip of the branch.',
  partial:
    'The batch was tested as a whole, but the Git host merged only these pull requests of it. No run tested exactly this tree.',
  mismatch: 'The Git host merged a tree that differs from the tested one. Signalbox paused the queue.',
};

export function LandingAttestationCard({
  queue,
  number,
}: {
  readonly queue: QueueName;
  readonly number: number;
}) {
  const landing = useQuery({
    queryKey: ['queue', queueKey(queue), 'landing', number],
    queryFn: () =>
      call('getLanding', { ...queue, pr: { number } }).catch((error: unknown) => {
        if (error instanceof CallError && error.code === 'LANDING_NOT_FOUND') return null;
        throw error;
      }),
  });
  return (
    <section className="card" aria-label="Attestation of the landing">
      <Title order={2} size="h4" mb="xs">
        Attestation of the landing
      </Title>
      <QueryResult query={landing} loading="Loading the attestation">
        {(attestation) =>
          attestation === null ? (
            <Text>This pull request was merged outside the queue, so there is no attestation.</Text>
          ) : (
            <Attestation attestation={attestation} />
          )
        }
      </QueryResult>
    </section>
  );
}

function Attestation({ attestation }: { readonly attestation: LandingAttestation }) {
  const isSame = attestation.testedTreeSha === attestation.landedTreeSha;
  const rows: readonly (readonly [string, string])[] = [
    ['Tested tree', attestation.testedTreeSha],
    ['Landed tree', attestation.landedTreeSha],
    ['Branch before', attestation.baseSha],
    ['Branch after', attestation.landedSha],
  ];
  const forced = attestation.members.filter((member) => member.forced).map(({ prNumber }) => prNumber);
  return (
    <Stack gap="xs">
      <Group gap="sm">
        {isSame ? (
          <Pill icon="shield" label="Tested tree = landed tree" tone="good" />
        ) : (
          <Pill icon="warning" label="Trees differ" tone="warn" />
        )}
        <Text size="sm">{proofTexts[attestation.proof]}</Text>
      </Group>
      <dl className="rows">
        {rows.map(([name, sha]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <code>{sha}</code>
            </dd>
          </div>
        ))}
      </dl>
      <RequiredChecks checks={attestation.requiredChecks} />
      {attestation.ruleChanges.length > 0 && (
        <Text size="sm" className="break">
          This landing changed the required checks:{' '}
          {attestation.ruleChanges.map(landedRuleChangeText).join('; ')}.
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {formatPullRequestNumbers(attestation.members.map(({ prNumber }) => prNumber))} merged on{' '}
        <Instant at={attestation.landedAt} />. Landing mode: {humanizeCode(attestation.landingMode)}, merge
        method: {humanizeCode(attestation.mergeMethod)}.
        {forced.length > 0 && ` Submitted with --force: ${formatPullRequestNumbers(forced)}.`}
      </Text>
    </Stack>
  );
}

/** The required checks, each with the source that had to report it. */
function RequiredChecks({ checks }: { readonly checks: LandingAttestation['requiredChecks'] }) {
  if (checks.length === 0) return <Text size="sm">No checks were required.</Text>;
  return (
    <div>
      <Title order={3} size="h6" id="required-checks">
        Required checks, all passed
      </Title>
      <ul className="checks" aria-labelledby="required-checks">
        {checks.map(({ name, source }) => (
          <li key={`${name} ${source}`} data-tone="good" className="check">
            <Icon name="shield" size={14} />
            {name}
            <span>from {sourceText(source)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
