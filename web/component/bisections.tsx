// Searches for what broke a batch, while they are under way.

import './bisections.css';
import { Group, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import {
  type Bisection,
  headlineOf,
  progressOf,
  spanOfBatch,
  type Standing,
  standingOf,
  wordsOfRound,
} from '../bisection.ts';
import { type QueueName, queueSearch, safeHref } from '../name.ts';
import type { IconName } from './icon.tsx';
import { Icon } from './icon.tsx';
import { Pill } from './state.tsx';

type BisectionsProps = { readonly queue: QueueName; readonly bisections: readonly Bisection[] };

export function Bisections({ queue, bisections }: BisectionsProps) {
  if (bisections.length === 0) return null;
  return (
    <Stack gap="sm" component="section" aria-labelledby="bisections">
      <Title order={2} size="h4" id="bisections">
        Finding out what breaks a batch
      </Title>
      {bisections.map((bisection) => (
        <Search key={bisection.pullRequests[0]} queue={queue} bisection={bisection} />
      ))}
    </Stack>
  );
}

type SearchProps = { readonly queue: QueueName; readonly bisection: Bisection };

const Search = ({ queue, bisection }: SearchProps) => (
  <article className="card" aria-label={headlineOf(bisection)}>
    <Stack gap="xs">
      <Group gap="xs">
        <Icon name="warning" />
        <Text fw={600}>{headlineOf(bisection)}</Text>
      </Group>
      <Text size="sm" aria-live="polite">
        {progressOf(bisection)}
      </Text>
      <Members queue={queue} bisection={bisection} />
      <ul className="plain search-tree" aria-label="What was tested">
        <li>
          <span className="search-run">
            <Pill icon="cross" word="Failed" tone="bad" />
            all {bisection.pullRequests.length}, in the line
            <Failures bisection={bisection} />
          </span>
          <Rounds bisection={bisection} at={0} />
        </li>
      </ul>
    </Stack>
  </article>
);

const standings: Readonly<Record<Standing, { readonly icon: IconName; readonly word: string }>> = {
  cleared: { icon: 'check', word: 'cleared' },
  suspect: { icon: 'warning', word: 'suspect' },
  undecided: { icon: 'dash', word: 'not judged yet' },
};
const toneOf = { cleared: 'good', suspect: 'warn', undecided: 'calm' } as const;

const Members = ({ queue, bisection }: SearchProps) => (
  <ul className="plain search-members" aria-label="The batch">
    {bisection.pullRequests.map((number) => {
      const standing = standingOf(bisection, number);
      const { icon, word } = standings[standing];
      return (
        <li key={number} className="check" data-tone={toneOf[standing]}>
          <Icon name={icon} size={14} />
          <Link to="/pull-request" search={{ ...queueSearch(queue), number }}>
            #{number}
          </Link>
          {word}
        </li>
      );
    })}
  </ul>
);

const Failures = ({ bisection }: { readonly bisection: Bisection }) =>
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

const runLooks = {
  under_way: { icon: 'flask', word: 'Under way', tone: 'busy' },
  passed: { icon: 'check', word: 'Passed', tone: 'good' },
  failed: { icon: 'cross', word: 'Failed', tone: 'bad' },
  retrying: { icon: 'switch', word: 'Tried again', tone: 'calm' },
} as const;

/** Each round inside of the one before, whose answer it starts from. */
function Rounds({ bisection, at }: { readonly bisection: Bisection; readonly at: number }) {
  const round = bisection.rounds[at];
  if (round === undefined) return null;
  return (
    <ul className="plain search-round">
      <li>
        <Text size="sm" c="dimmed">
          {wordsOfRound(round, at)}
        </Text>
        {round.runs.map(({ testedCount, status }) => (
          <span key={testedCount} className="search-run">
            <Pill {...runLooks[status]} />
            {spanOfBatch(bisection.pullRequests.slice(0, testedCount))}
          </span>
        ))}
        <Rounds bisection={bisection} at={at + 1} />
      </li>
    </ul>
  );
}
