// Bisections of failed batches, while they are in progress.

import './bisections.css';
import { Group, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import {
  type QueueBisection,
  formatBisectionHeadline,
  describeBisectionProgress,
  formatBatchSpan,
  type BatchMemberStatus,
  classifyBatchMember,
  describeRound,
} from './bisection.ts';
import { type QueueName, queueSearch, safeHref } from '../name.ts';
import type { IconName } from '../component/icon.tsx';
import { Icon } from '../component/icon.tsx';
import { Pill } from '../component/pill.tsx';

type BisectionsProps = { readonly queue: QueueName; readonly bisections: readonly QueueBisection[] };

export function Bisections({ queue, bisections }: BisectionsProps) {
  if (bisections.length === 0) return null;
  return (
    <Stack gap="sm" component="section" aria-labelledby="bisections">
      <Title order={2} size="h4" id="bisections">
        Bisecting failed batches
      </Title>
      {bisections.map((bisection) => (
        <BisectionCard key={bisection.pullRequests[0]} queue={queue} bisection={bisection} />
      ))}
    </Stack>
  );
}

type BisectionCardProps = { readonly queue: QueueName; readonly bisection: QueueBisection };

const BisectionCard = ({ queue, bisection }: BisectionCardProps) => (
  <article className="card" aria-label={formatBisectionHeadline(bisection)}>
    <Stack gap="xs">
      <Group gap="xs">
        <Icon name="warning" />
        <Text fw={600}>{formatBisectionHeadline(bisection)}</Text>
      </Group>
      <Text size="sm" aria-live="polite">
        {describeBisectionProgress(bisection)}
      </Text>
      <Members queue={queue} bisection={bisection} />
      <ul className="plain" aria-label="Test runs of the bisection">
        <li>
          <span className="bisection-run">
            <Pill icon="cross" label="Failed" tone="bad" />
            the whole batch of {bisection.pullRequests.length}
            <Failures bisection={bisection} />
          </span>
          <Rounds bisection={bisection} at={0} />
        </li>
      </ul>
    </Stack>
  </article>
);

const memberStyles: Readonly<Record<BatchMemberStatus, { readonly icon: IconName; readonly label: string }>> =
  {
    cleared: { icon: 'check', label: 'cleared' },
    suspect: { icon: 'warning', label: 'suspect' },
    undecided: { icon: 'dash', label: 'undecided' },
  };
const memberTones = { cleared: 'good', suspect: 'warn', undecided: 'calm' } as const;

const Members = ({ queue, bisection }: BisectionCardProps) => (
  <ul className="plain bisection-members" aria-label="Pull requests of the batch">
    {bisection.pullRequests.map((number) => {
      const memberStatus = classifyBatchMember(bisection, number);
      const { icon, label } = memberStyles[memberStatus];
      return (
        <li key={number} className="check" data-tone={memberTones[memberStatus]}>
          <Icon name={icon} size={14} />
          <Link to="/pull-request" search={{ ...queueSearch(queue), number }}>
            #{number}
          </Link>
          {label}
        </li>
      );
    })}
  </ul>
);

const Failures = ({ bisection }: { readonly bisection: QueueBisection }) =>
  bisection.failedChecks.map(({ name, url }) => {
    const href = safeHref(url);
    return href === undefined ? (
      <span key={name}>{name}</span>
    ) : (
      <a key={name} href={href} target="_blank" rel="noreferrer">
        {name}
      </a>
    );
  });

const runStyles = {
  under_way: { icon: 'flask', label: 'In progress', tone: 'busy' },
  passed: { icon: 'check', label: 'Passed', tone: 'good' },
  failed: { icon: 'cross', label: 'Failed', tone: 'bad' },
  retrying: { icon: 'switch', label: 'Retrying', tone: 'calm' },
} as const;

/** Each round is nested in the one before, whose result it starts from. */
function Rounds({ bisection, at }: { readonly bisection: QueueBisection; readonly at: number }) {
  const round = bisection.rounds[at];
  if (round === undefined) return null;
  return (
    <ul className="plain bisection-round">
      <li>
        <Text size="sm" c="dimmed">
          {describeRound(round, at)}
        </Text>
        {round.runs.map(({ testedCount, status }) => (
          <span key={testedCount} className="bisection-run">
            <Pill {...runStyles[status]} />
            {formatBatchSpan(bisection.pullRequests.slice(0, testedCount))}
          </span>
        ))}
        <Rounds bisection={bisection} at={at + 1} />
      </li>
    </ul>
  );
}
