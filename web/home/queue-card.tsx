// A queue on the home page: how it is doing, compared with usual.

import { Group, Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { QueueOverview } from '../api/query.ts';
import { Icon } from '../component/icon.tsx';
import { Pill, QueuePill } from '../component/pill.tsx';
import { Spark } from '../component/spark.tsx';
import { Since } from '../component/time.tsx';
import { formatDuration, formatPercent } from '../format.ts';
import { formatRepoPath, queueSearch } from '../name.ts';
import { failureRate } from './queue-order.ts';

type QueueCardProps = { readonly queue: QueueOverview };

export const QueueCard = ({ queue }: QueueCardProps) => (
  <li className="card queue-card" data-stalled={queue.stall !== null}>
    <Stack gap="sm">
      <Head queue={queue} />
      {queue.stall !== null && (
        <Text size="sm" className="stall" data-tone="warn">
          <Icon name="warning" />
          <span>
            <strong>Stalled.</strong> {queue.stall}
          </span>
        </Text>
      )}
      <LastDay queue={queue} />
      <Counts queue={queue} />
    </Stack>
    <Links queue={queue} />
  </li>
);

const Head = ({ queue }: QueueCardProps) => (
  <Group justify="space-between" align="flex-start" wrap="nowrap">
    <div className="shrink">
      <Link to="/queue" search={queueSearch(queue)} className="card-title">
        {queue.repo.owner}/{queue.repo.name} <span className="branch">{queue.targetBranch}</span>
      </Link>
      <Text size="sm" c="dimmed">
        {queue.repo.host}, {queue.mode === 'parallel' ? 'parallel lanes' : 'single queue'}
      </Text>
    </div>
    <Group gap="xs" justify="flex-end">
      {queue.isHostAway && <Pill icon="warning" label="Git host unreachable" tone="bad" />}
      {queue.lastDay?.isSlow === true && <Pill icon="clock" label="Slower than usual" tone="warn" />}
      <QueuePill state={queue.state} />
    </Group>
  </Group>
);

const hoursOfDay = 24;

function LastDay({ queue }: QueueCardProps) {
  const { lastDay, mergedLast24h: merged, timeInQueueP50Seconds: seconds } = queue;
  if (lastDay === undefined) return null;
  if (merged === 0 && lastDay.mergedWeekEarlier === 0)
    return (
      <Text size="sm" c="dimmed">
        Nothing merged in the last 24 hours.
      </Text>
    );
  const { mergedByHour, mergedWeekEarlier, timeInQueueP50SecondsByHour, usualTimeInQueueSeconds } = lastDay;
  return (
    <div className="last-day">
      <Trend
        name="Merged, last 24 h"
        value={String(merged)}
        usual={`${mergedWeekEarlier} a week earlier`}
        spark={
          <Spark
            kind="bars"
            values={mergedByHour}
            reference={mergedWeekEarlier === 0 ? null : mergedWeekEarlier / hoursOfDay}
            label={`Merged by hour, the last 24 hours: ${mergedByHour.join(', ')}`}
          />
        }
      />
      <Trend
        name="Time in queue (P50)"
        value={seconds === null ? 'no data' : formatDuration(seconds)}
        usual={
          usualTimeInQueueSeconds === null
            ? 'usual not known yet'
            : `usual ${formatDuration(usualTimeInQueueSeconds)}`
        }
        spark={
          <Spark
            kind="steps"
            values={timeInQueueP50SecondsByHour}
            reference={usualTimeInQueueSeconds}
            label={`Time in queue by hour, the last 24 hours: ${timeInQueueP50SecondsByHour
              .map((each) => (each === null ? 'none' : formatDuration(each)))
              .join(', ')}`}
          />
        }
      />
    </div>
  );
}

type TrendProps = {
  readonly name: string;
  readonly value: string;
  readonly usual: string;
  readonly spark: ReactNode;
};

const Trend = ({ name, value, usual, spark }: TrendProps) => (
  <div>
    <Text size="xs" c="dimmed">
      {name}
    </Text>
    <div className="trend-value">{value}</div>
    <div className="small dimmed">{usual}</div>
    {spark}
  </div>
);

function Counts({ queue }: QueueCardProps) {
  const failures = failureRate(queue);
  const counts = [
    [queue.testing, 'testing'],
    [queue.depth - queue.testing, 'queued'],
    [queue.notReady, 'not ready'],
  ] as const;
  return (
    <Text size="sm" c="dimmed" className="counts">
      {counts.map(([count, what]) => (
        <span key={what}>
          <strong>{count}</strong> {what}
        </span>
      ))}
      {failures !== null && (
        <span>
          <strong>{formatPercent(failures)}</strong> failed in 24 h
        </span>
      )}
      {queue.oldestEntryAt !== null && (
        <span>
          longest wait{' '}
          <strong>
            <Since at={queue.oldestEntryAt} />
          </strong>
        </span>
      )}
    </Text>
  );
}

const Links = ({ queue }: QueueCardProps) => (
  <Group gap="md" className="small queue-card-links">
    <Link
      to="/health"
      search={queueSearch(queue)}
      aria-label={`Health of ${formatRepoPath(queue.repo)} ${queue.targetBranch}`}
    >
      Health
    </Link>
    <Link
      to="/settings"
      search={queueSearch(queue)}
      aria-label={`Settings of ${formatRepoPath(queue.repo)} ${queue.targetBranch}`}
    >
      Settings
    </Link>
    <Link
      to="/tests"
      search={{ repo: formatRepoPath(queue.repo) }}
      aria-label={`Tests of ${formatRepoPath(queue.repo)}`}
    >
      Tests
    </Link>
  </Group>
);
