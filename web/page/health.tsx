// The results of a queue's pull requests over time: metrics, charts, and the pull requests behind them.

import { Button, Group, Select, Stack, Switch, Text, TextInput, Title } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { call } from '../api/api.ts';
import { QueryResult, Empty } from '../component/query-result.tsx';
import { HistoryChart } from '../history/history-chart.tsx';
import { HistoryMetrics, Reasons } from '../history/history-metrics.tsx';
import { AttemptList, withoutSelection } from '../history/attempt-list.tsx';
import type { HealthSearch } from '../history/health-search.ts';
import {
  type Bucket,
  buildCharts,
  type QueueHistoryData,
  getPreviousWindow,
  ranges,
  rangeLabels,
  type TimeWindow,
  resolveTimeWindow,
} from '../history/history.ts';
import { queueKey, type QueueName, queueOfSearch, queueSearch } from '../name.ts';
import { useQueues } from '../api/query.ts';
import { reasonText } from '#contract/text/reason-text.ts';

const route = getRouteApi('/health');

export function HealthPage() {
  const search = route.useSearch();
  const queues = useQueues();
  return (
    <Stack>
      <title>Health · Signalbox</title>
      <Title order={1} size="h2">
        Health
      </Title>
      <QueryResult query={queues} loading="Loading the queues">
        {(list) => {
          const { repo, branch = 'main' } = search;
          const chosen = repo === undefined ? list[0] : queueOfSearch({ repo, branch });
          if (chosen === undefined)
            return (
              <Empty icon="queue" title="There is no queue yet">
                The history of a queue starts when its first pull request is merged, removed or cancelled.
              </Empty>
            );
          return <Health key={queueKey(chosen)} queue={chosen} queues={list} search={search} />;
        }}
      </QueryResult>
    </Stack>
  );
}

type HealthProps = {
  readonly queue: QueueName;
  readonly queues: readonly QueueName[];
  readonly search: HealthSearch;
};

const browserZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

function Health({ queue, queues, search }: HealthProps) {
  const [isUtcPreferred, setUtcPreferred] = useLocalStorage({ key: 'signalbox-utc', defaultValue: false });
  const isUtc = search.utc === undefined ? isUtcPreferred : search.utc === 1;
  const timeZone = isUtc ? 'UTC' : browserZone;
  const { range, since, until } = search;
  // Computed at every render, and the same for five minutes.
  const window = resolveTimeWindow(
    { ...(range && { range }), ...(since && { since }), ...(until && { until }) },
    Date.now(),
  );
  const history = useHistory(queue, window, search.target, timeZone);
  const before = useHistory(queue, getPreviousWindow(window), search.target, timeZone);
  return (
    <>
      <Controls queue={queue} queues={queues} search={search} isUtc={isUtc} onUtcChange={setUtcPreferred} />
      <QueryResult query={history} loading="Loading the history">
        {(data) => (
          <Charts
            queue={queue}
            search={search}
            history={data}
            before={before.data?.totals}
            timeZone={timeZone}
          />
        )}
      </QueryResult>
    </>
  );
}

const useHistory = (
  queue: QueueName,
  { since, until }: TimeWindow,
  target: string | undefined,
  timeZone: string,
) =>
  useQuery({
    queryKey: ['history', queueKey(queue), since.getTime(), until.getTime(), target, timeZone],
    queryFn: () =>
      call('getQueueHistory', {
        ...queue,
        since,
        until,
        timeZone,
        ...(target !== undefined && { impactedTarget: target }),
      }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    refetchInterval: 60_000,
  });

type ControlsProps = HealthProps & {
  readonly isUtc: boolean;
  readonly onUtcChange: (isUtc: boolean) => void;
};

function Controls({ queue, queues, search, isUtc, onUtcChange }: ControlsProps) {
  const navigate = route.useNavigate();
  const go = (change: HealthSearch) => void navigate({ search: { ...withoutSelection(search), ...change } });
  const names = new Map([queue, ...queues].map((each) => [queueKey(each), each]));
  const hasCustomRange = search.since !== undefined && search.until !== undefined;
  return (
    <Group align="flex-end" gap="md">
      <Select
        label="Queue"
        data={[...names].map(([value, { repo, targetBranch }]) => ({
          value,
          label: `${repo.owner}/${repo.name} ${targetBranch}`,
        }))}
        value={queueKey(queue)}
        allowDeselect={false}
        searchable
        onChange={(key) => key !== null && go(queueSearch(names.get(key)!))}
      />
      <Group gap={4} role="group" aria-label="Range">
        {ranges.map((range) => {
          const isChosen = !hasCustomRange && (search.range ?? '7d') === range;
          const { since: _since, until: _until, ...rest } = withoutSelection(search);
          return (
            <Button
              key={range}
              variant={isChosen ? 'filled' : 'default'}
              aria-pressed={isChosen}
              onClick={() => void navigate({ search: { ...rest, range } })}
            >
              {rangeLabels[range]}
            </Button>
          );
        })}
      </Group>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const typed = new FormData(event.currentTarget).get('target');
          const { target: _target, ...rest } = withoutSelection(search);
          const hasTarget = typeof typed === 'string' && typed !== '';
          void navigate({ search: { ...rest, ...(hasTarget && { target: typed }) } });
        }}
      >
        <TextInput
          key={search.target ?? ''}
          name="target"
          label="Impacted target"
          placeholder="all targets"
          maxLength={1024}
          defaultValue={search.target ?? ''}
        />
      </form>
      <Switch
        label="Times in UTC"
        checked={isUtc}
        onChange={({ currentTarget: { checked } }) => {
          onUtcChange(checked);
          go({ utc: checked ? 1 : 0 });
        }}
      />
      <Link to="/queue" search={queueSearch(queue)}>
        Current queue
      </Link>
    </Group>
  );
}

type ChartsProps = {
  readonly queue: QueueName;
  readonly search: HealthSearch;
  readonly history: QueueHistoryData;
  readonly before: QueueHistoryData['totals'] | undefined;
  readonly timeZone: string;
};

function Charts({ queue, search, history, before, timeZone }: ChartsProps) {
  const navigate = route.useNavigate();
  const { reason } = search;
  const specs = useMemo(
    () => buildCharts(history, reason === undefined ? null : { reason, text: reasonText[reason] }),
    [history, reason],
  );
  const timeFormats = useMemo(() => createTimeFormats(timeZone, history.bucket), [timeZone, history.bucket]);
  const { totals } = history;
  if (totals.merged + totals.failed + totals.cancelled === 0)
    return (
      <Empty icon="clock" title="No pull request left the queue in this period">
        {search.target === undefined
          ? 'Choose a longer range, or another queue.'
          : `No pull request that impacts ${search.target} left the queue in this period. Check the spelling of the target, or clear the field.`}
      </Empty>
    );
  const base = { ...withoutSelection(search), ...queueSearch(queue) };
  const narrowToBucket = ({ from, to }: Bucket): HealthSearch => ({
    ...base,
    from,
    to,
    ...(reason && { reason }),
  });
  const { from, to } = search;
  return (
    <>
      <Text size="sm" c="dimmed">
        {timeFormats.instant(history.since)} to {timeFormats.instant(history.until)}, by {history.bucket},{' '}
        {timeZone === 'UTC' ? 'in UTC' : `in the time zone ${timeZone}`}
        {search.target !== undefined && `, only pull requests that impact ${search.target}`}
      </Text>
      <HistoryMetrics history={history} before={before} />
      <div className="two-columns">
        {specs.map((spec) => (
          <HistoryChart
            key={spec.id}
            spec={spec}
            history={history}
            formatBucket={({ from: begin }) => timeFormats.bucket(begin)}
            timeZone={timeZone}
            searchOf={(bucket, series) => ({
              ...narrowToBucket(bucket),
              ...(series?.conclusion && { conclusion: series.conclusion }),
            })}
            onPick={(bucket) => void navigate({ search: narrowToBucket(bucket), resetScroll: false })}
          />
        ))}
        <Reasons
          history={history}
          searchOf={({ conclusion, reason: outcomeReason }) => ({
            ...base,
            from: history.since,
            to: history.until,
            conclusion,
            ...(outcomeReason !== null && { reason: outcomeReason }),
          })}
        />
      </div>
      {from !== undefined && to !== undefined && (
        <AttemptList
          queue={queue}
          search={{ ...search, from, to }}
          title={`Left the queue from ${timeFormats.instant(from)} to ${timeFormats.instant(to)}${describeAttemptFilter(search)}`}
          formatTime={timeFormats.instant}
        />
      )}
    </>
  );
}

const describeAttemptFilter = ({ conclusion, reason }: HealthSearch): string =>
  (conclusion === undefined ? '' : `, ${conclusion}`) +
  (reason === undefined ? '' : ` because ${reasonText[reason]}`);

function createTimeFormats(timeZone: string, bucket: QueueHistoryData['bucket']) {
  const instant = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone });
  const day = new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    timeZone,
  });
  return {
    instant: (iso: string) => instant.format(new Date(iso)),
    bucket: (iso: string) =>
      bucket === 'hour'
        ? instant.format(new Date(iso))
        : `${bucket === 'week' ? 'week of ' : ''}${day.format(new Date(iso))}`,
  };
}
