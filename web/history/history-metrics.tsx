// The key metrics of a range, each compared with the range before, and the reasons behind the outcomes.

import { Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { formatPercent } from '../format.ts';
import type { HealthSearch } from './health-search.ts';
import { describeChange, type QueueHistoryTotals, type QueueHistoryData, formatValue } from './history.ts';
import { reasonText } from '#contract/text/reason-text.ts';
import { EntryPill } from '../component/pill.tsx';

type HistoryMetric = {
  readonly name: string;
  readonly text: string;
  readonly now: number | null;
  readonly before: number | null;
};

const computeFailureRate = ({ merged, failed }: QueueHistoryTotals): number | null =>
  merged + failed === 0 ? null : failed / (merged + failed);

function compareTotals(
  now: QueueHistoryTotals,
  before: QueueHistoryTotals | undefined,
): readonly HistoryMetric[] {
  const metric = (
    name: string,
    unit: Parameters<typeof formatValue>[1],
    value: (totals: QueueHistoryTotals) => number | null,
  ) => ({
    name,
    text: formatValue(value(now), unit),
    now: value(now),
    before: before === undefined ? null : value(before),
  });
  const rate = computeFailureRate(now);
  return [
    metric('Merged', 'count', ({ merged }) => merged),
    metric('Failed', 'count', ({ failed }) => failed),
    {
      name: 'Failure rate',
      text: rate === null ? 'no data' : formatPercent(rate),
      now: rate,
      before: before === undefined ? null : computeFailureRate(before),
    },
    metric('Cancelled', 'count', ({ cancelled }) => cancelled),
    metric('Time in queue (P50)', 'seconds', (totals) => totals.timeInQueueSeconds?.p50 ?? null),
    metric('Time in queue (P95)', 'seconds', (totals) => totals.timeInQueueSeconds?.p95 ?? null),
    metric('Time in queue (P99)', 'seconds', (totals) => totals.timeInQueueSeconds?.p99 ?? null),
    metric('Waiting (P50)', 'seconds', (totals) => totals.waitSeconds?.p50 ?? null),
    metric('Testing (P50)', 'seconds', (totals) => totals.testSeconds?.p50 ?? null),
    metric('Restarts', 'count', ({ restarts }) => restarts),
    ...(now.ciMinutes === null
      ? []
      : [
          metric('CI minutes', 'minutes', ({ ciMinutes }) => ciMinutes),
          metric('CI minutes saved', 'minutes', ({ ciMinutesSaved }) => ciMinutesSaved),
          metric('CI minutes per merge', 'minutes', ({ ciMinutesPerMerged }) => ciMinutesPerMerged),
        ]),
  ];
}

type HistoryMetricsProps = {
  readonly history: QueueHistoryData;
  readonly before: QueueHistoryTotals | undefined;
};

export const HistoryMetrics = ({ history, before }: HistoryMetricsProps) => (
  <section className="card" aria-label="Metrics of the whole range">
    <dl className="metrics">
      {compareTotals(history.totals, before).map(({ name, text, now, before: then }) => (
        <div key={name}>
          <Text component="dt" size="xs" c="dimmed">
            {name}
          </Text>
          <Text component="dd" m={0} fw={600} size="lg">
            {text}
          </Text>
          <Text component="dd" m={0} size="xs" c="dimmed">
            {before === undefined ? '…' : describeChange(now, then)}
          </Text>
        </div>
      ))}
    </dl>
  </section>
);

type ReasonsProps = {
  readonly history: QueueHistoryData;
  readonly searchOf: (outcome: QueueHistoryTotals['outcomes'][number]) => HealthSearch;
};

/** Why pull requests left the queue, the most frequent reason first. */
export const Reasons = ({ history, searchOf }: ReasonsProps) => (
  <section className="card" aria-labelledby="reasons">
    <Title order={2} size="h4" id="reasons" mb="xs">
      Reasons
    </Title>
    <ul className="plain">
      {history.totals.outcomes.map((outcome) => (
        <li key={`${outcome.conclusion} ${outcome.reason}`} className="reason">
          <EntryPill state={outcome.conclusion} />
          <span>{outcome.reason === null ? 'no reason recorded' : reasonText[outcome.reason]}</span>
          <Link to="/health" search={searchOf(outcome)} resetScroll={false}>
            {outcome.count}
            <span className="visually-hidden"> pull requests</span>
          </Link>
        </li>
      ))}
    </ul>
  </section>
);
