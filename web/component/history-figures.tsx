// The figures of a range at a glance, each with how it compares to the range before, and the reasons behind the outcomes.

import { Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { percentOf } from '../format.ts';
import type { HealthSearch } from '../health-search.ts';
import { changeOf, type Figures, type History, tellValue } from '../history.ts';
import { reasonWords } from '#contract/reason-words.ts';
import { EntryPill } from './state.tsx';

type Figure = {
  readonly name: string;
  readonly words: string;
  readonly now: number | null;
  readonly before: number | null;
};

const rateOf = ({ merged, failed }: Figures): number | null =>
  merged + failed === 0 ? null : failed / (merged + failed);

function figuresOf(now: Figures, before: Figures | undefined): readonly Figure[] {
  const figure = (
    name: string,
    unit: Parameters<typeof tellValue>[1],
    value: (of: Figures) => number | null,
  ) => ({
    name,
    words: tellValue(value(now), unit),
    now: value(now),
    before: before === undefined ? null : value(before),
  });
  const rate = rateOf(now);
  return [
    figure('Merged', 'count', ({ merged }) => merged),
    figure('Failed', 'count', ({ failed }) => failed),
    {
      name: 'Failing rate',
      words: rate === null ? 'none' : percentOf(rate),
      now: rate,
      before: before === undefined ? null : rateOf(before),
    },
    figure('Cancelled', 'count', ({ cancelled }) => cancelled),
    figure('Time in queue P50', 'seconds', (of) => of.timeInQueueSeconds?.p50 ?? null),
    figure('Time in queue P95', 'seconds', (of) => of.timeInQueueSeconds?.p95 ?? null),
    figure('Time in queue P99', 'seconds', (of) => of.timeInQueueSeconds?.p99 ?? null),
    figure('In line P50', 'seconds', (of) => of.waitSeconds?.p50 ?? null),
    figure('Under test P50', 'seconds', (of) => of.testSeconds?.p50 ?? null),
    figure('Restarts', 'count', ({ restarts }) => restarts),
    ...(now.ciMinutes === null
      ? []
      : [
          figure('CI minutes', 'minutes', ({ ciMinutes }) => ciMinutes),
          figure('CI minutes saved', 'minutes', ({ ciMinutesSaved }) => ciMinutesSaved),
          figure('CI minutes per merged', 'minutes', ({ ciMinutesPerMerged }) => ciMinutesPerMerged),
        ]),
  ];
}

type HistoryFiguresProps = { readonly history: History; readonly before: Figures | undefined };

export const HistoryFigures = ({ history, before }: HistoryFiguresProps) => (
  <section className="card" aria-label="The whole range">
    <dl className="figures">
      {figuresOf(history.totals, before).map(({ name, words, now, before: then }) => (
        <div key={name}>
          <Text component="dt" size="xs" c="dimmed">
            {name}
          </Text>
          <Text component="dd" m={0} fw={600} size="lg">
            {words}
          </Text>
          <Text component="dd" m={0} size="xs" c="dimmed">
            {before === undefined ? '…' : changeOf(now, then)}
          </Text>
        </div>
      ))}
    </dl>
  </section>
);

type ReasonsProps = {
  readonly history: History;
  readonly searchOf: (outcome: Figures['outcomes'][number]) => HealthSearch;
};

/** Why pull requests left, the most frequent first. */
export const Reasons = ({ history, searchOf }: ReasonsProps) => (
  <section className="card" aria-labelledby="reasons">
    <Title order={2} size="h4" id="reasons" mb="xs">
      Reasons
    </Title>
    <ul className="plain">
      {history.totals.outcomes.map((outcome) => (
        <li key={`${outcome.conclusion} ${outcome.reason}`} className="reason">
          <EntryPill state={outcome.conclusion} />
          <span>{outcome.reason === null ? 'no reason told' : reasonWords[outcome.reason]}</span>
          <Link to="/health" search={searchOf(outcome)} resetScroll={false}>
            {outcome.count}
            <span className="visually-hidden"> pull requests</span>
          </Link>
        </li>
      ))}
    </ul>
  </section>
);
