// The proof of a landing: the tree that was tested is the tree on the branch.

import { Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call, CallError } from '../api.ts';
import { numbersOf, wordsOf } from '../format.ts';
import { queueKey, type QueueName } from '../name.ts';
import { landedRuleChangeText, sourceText } from '../rule-text.ts';
import { Answer } from './answer.tsx';
import { Icon } from './icon.tsx';
import { Pill } from './state.tsx';
import { Instant } from './time.tsx';

type Landing = ResponseOf<'getLanding'>;

const proofs: Readonly<Record<Landing['proof'], string>> = {
  exact: 'What is on the branch is what was tested, tree for tree.',
  lane: 'Others whose targets have nothing in common with these landed in between.',
  direct: 'Its own checks had passed on a head that holds the tip of the branch.',
  partial:
    'The batch was tested as a whole, and the host merged only these pull requests of it: no run tested exactly this tree.',
  mismatch: 'The host merged something else than what was tested. The queue was paused.',
};

export function LandingProof({ queue, number }: { readonly queue: QueueName; readonly number: number }) {
  const landing = useQuery({
    queryKey: ['queue', queueKey(queue), 'landing', number],
    queryFn: () =>
      call('getLanding', { ...queue, pr: { number } }).catch((error: unknown) => {
        if (error instanceof CallError && error.code === 'LANDING_NOT_FOUND') return null;
        throw error;
      }),
  });
  return (
    <section className="card" aria-label="Proof of the landing">
      <Title order={2} size="h4">
        Proof of the landing
      </Title>
      <Answer query={landing} loading="Reading the landing">
        {(proof) =>
          proof === null ? (
            <Text>It was merged by hand: the queue has no proof of it.</Text>
          ) : (
            <Proof proof={proof} />
          )
        }
      </Answer>
    </section>
  );
}

function Proof({ proof }: { readonly proof: Landing }) {
  const isSame = proof.testedTreeSha === proof.landedTreeSha;
  const rows: readonly (readonly [string, string])[] = [
    ['Tested tree', proof.testedTreeSha],
    ['Landed tree', proof.landedTreeSha],
    ['Branch before', proof.baseSha],
    ['Branch after', proof.landedSha],
  ];
  const forced = proof.members.filter((member) => member.forced).map(({ prNumber }) => prNumber);
  return (
    <Stack gap="xs">
      <Group gap="sm">
        {isSame ? (
          <Pill icon="shield" word="Tested tree = landed tree" tone="good" />
        ) : (
          <Pill icon="warning" word="The trees differ" tone="warn" />
        )}
        <Text size="sm">{proofs[proof.proof]}</Text>
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
      <RequiredChecks checks={proof.requiredChecks} />
      {proof.ruleChanges.length > 0 && (
        <Text size="sm" className="break">
          This landing changed the required checks: {proof.ruleChanges.map(landedRuleChangeText).join('; ')}.
        </Text>
      )}
      <Text size="sm" c="dimmed">
        {numbersOf(proof.members.map(({ prNumber }) => prNumber))} landed on <Instant at={proof.landedAt} />{' '}
        by {wordsOf(proof.landingMode)}, {wordsOf(proof.mergeMethod)}.
        {forced.length > 0 && ` Submitted with --force: ${numbersOf(forced)}.`}
      </Text>
    </Stack>
  );
}

/** What had to pass, each check with the source that had to report it. */
function RequiredChecks({ checks }: { readonly checks: Landing['requiredChecks'] }) {
  if (checks.length === 0) return <Text size="sm">No check was required.</Text>;
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
