// The proof of a landing: the tree that was tested is the tree on the branch.

import { Group, Stack, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ResponseOf } from '#contract/endpoint.ts';
import { call, CallError } from '../api.ts';
import { numbersOf, wordsOf } from '../format.ts';
import { queueKey, type QueueName } from '../name.ts';
import { Answer } from './answer.tsx';
import { Pill } from './state.tsx';
import { Instant } from './time.tsx';

type Landing = ResponseOf<'getLanding'>;

const proofs: Readonly<Record<Landing['proof'], string>> = {
  exact: 'What is on the branch is what was tested, tree for tree.',
  lane: 'Others whose targets have nothing in common with these landed in between.',
  direct: 'Its own checks had passed on a head that holds the tip of the branch.',
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
      <Text size="sm" c="dimmed">
        {numbersOf(proof.members.map(({ prNumber }) => prNumber))} landed on <Instant at={proof.landedAt} />{' '}
        by {wordsOf(proof.landingMode)}, {wordsOf(proof.mergeMethod)}. Required:{' '}
        {proof.requiredStatuses.join(', ') || 'nothing'}.
      </Text>
    </Stack>
  );
}
