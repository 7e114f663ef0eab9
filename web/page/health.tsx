// What became of the pull requests of a queue over time: figures, charts, and the pull requests behind each of them.

import { Button, Group, Select, Stack, Switch, Text, TextInput, Title } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { call } from '../api.ts';
import { Answer, Empty } from '../component/answer.tsx';
import { HistoryChart } from '../component/history-chart.tsx';
import { HistoryFigures, Reasons } from '../component/history-figures.tsx';
import { TripList, withoutPart } from '../component/trip-list.tsx';
import type { HealthSearch } from '../health-search.ts';
import {
  type Bucket,
  chartsOf,
  type History,
  previousOf,
  ranges,
  rangeWords,
  type TimeWindow,
  windowOf,
} from '../history.ts';
import { queueKey, type QueueName, queueOfSearch, queueSearch } from '../name.ts';
import { useQueues } from '../query.ts';
import { reasonWords } from '#contract/reason-words.ts';

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
      <Answer query={queues} loading="Reading the queues">
        {(list) => {
          const { repo, branch = 'main' } = search;
          const chosen = repo === undefined ? list[0] : queueOfSearch({ repo, branch });
          if (chosen === undefined)
            return (
              <Empty icon="line" title="There is no queue yet">
                A queue has a history as soon as a pull request has left it.
              </Empty>
            );
          return <Health key={queueKey(chosen)} queue={chosen} queues={list} search={search} />;
        }}
      </Answer>
    </Stack>
  );
}

type HealthProps = {
  readonly queue: QueueName;
  readonly queues: readonly QueueName[];
  readonly search: HealthSearch;
};

const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

function Health({ queue, queues, search }: HealthProps) {
  const [isUtcKept, keepUtc] = useLocalStorage({ key: 'signalbox-utc', defaultValue: false });
  const isUtc = search.utc === undefined ? isUtcKept : search.utc === 1;
  const timeZone = isUtc ? 'UTC' : ownZone;
  const { range, since, until } = search;
  // Known anew with every render, and the same for five minutes.
  const window = windowOf(
    { ...(range && { range }), ...(since && { since }), ...(until && { until }) },
    Date.now(),
  );
  const history = useHistory(queue, window, search.target, timeZone);
  const before = useHistory(queue, previousOf(window), search.target, timeZone);
  return (
    <>
      <Controls queue={queue} queues={queues} search={search} isUtc={isUtc} keepUtc={keepUtc} />
      <Answer query={history} loading="Reading the history">
        {(data) => (
          <Charts
            queue={queue}
            search={search}
            history={data}
            before={before.data?.totals}
            timeZone={timeZone}
          />
        )}
      </Answer>
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

type ControlsProps = HealthProps & { readonly isUtc: boolean; readonly keepUtc: (isUtc: boolean) => void };

function Controls({ queue, queues, search, isUtc, keepUtc }: ControlsProps) {
  const navigate = route.useNavigate();
  const go = (change: HealthSearch) => void navigate({ search: { ...withoutPart(search), ...change } });
  const names = new Map([queue, ...queues].map((each) => [queueKey(each), each]));
  const isOwn = search.since !== undefined && search.until !== undefined;
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
          const isChosen = !isOwn && (search.range ?? '7d') === range;
          const { since: _since, until: _until, ...rest } = withoutPart(search);
          return (
            <Button
              key={range}
              variant={isChosen ? 'filled' : 'default'}
              aria-pressed={isChosen}
              onClick={() => void navigate({ search: { ...rest, range } })}
            >
              {rangeWords[range]}
            </Button>
          );
        })}
      </Group>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const wanted = new FormData(event.currentTarget).get('target');
          const { target: _target, ...rest } = withoutPart(search);
          const isNamed = typeof wanted === 'string' && wanted !== '';
          void navigate({ search: { ...rest, ...(isNamed && { target: wanted }) } });
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
          keepUtc(checked);
          go({ utc: checked ? 1 : 0 });
        }}
      />
      <Link to="/queue" search={queueSearch(queue)}>
        The queue as it is now
      </Link>
    </Group>
  );
}

type ChartsProps = {
  readonly queue: QueueName;
  readonly search: HealthSearch;
  readonly history: History;
  readonly before: History['totals'] | undefined;
  readonly timeZone: string;
};

function Charts({ queue, search, history, before, timeZone }: ChartsProps) {
  const navigate = route.useNavigate();
  const { reason } = search;
  const specs = useMemo(
    () => chartsOf(history, reason === undefined ? null : { reason, words: reasonWords[reason] }),
    [history, reason],
  );
  const tell = useMemo(() => clocksOf(timeZone, history.bucket), [timeZone, history.bucket]);
  const { totals } = history;
  if (totals.merged + totals.failed + totals.cancelled === 0)
    return (
      <Empty icon="clock" title="No pull request left the queue in this time">
        {search.target === undefined
          ? 'Choose a longer range, or another queue.'
          : `None that impacts ${search.target} did: check its spelling, or leave the target empty.`}
      </Empty>
    );
  const base = { ...withoutPart(search), ...queueSearch(queue) };
  const partOf = ({ from, to }: Bucket): HealthSearch => ({ ...base, from, to, ...(reason && { reason }) });
  const { from, to } = search;
  return (
    <>
      <Text size="sm" c="dimmed">
        {tell.instant(history.since)} to {tell.instant(history.until)}, by {history.bucket},{' '}
        {timeZone === 'UTC' ? 'in UTC' : `in the time of ${timeZone}`}
        {search.target !== undefined && `, only what impacts ${search.target}`}
      </Text>
      <HistoryFigures history={history} before={before} />
      <div className="two">
        {specs.map((spec) => (
          <HistoryChart
            key={spec.id}
            spec={spec}
            history={history}
            tellBucket={({ from: begin }) => tell.bucket(begin)}
            timeZone={timeZone}
            searchOf={(bucket, series) => ({
              ...partOf(bucket),
              ...(series?.conclusion && { conclusion: series.conclusion }),
            })}
            onPick={(bucket) => void navigate({ search: partOf(bucket), resetScroll: false })}
          />
        ))}
        <Reasons
          history={history}
          searchOf={({ conclusion, reason: why }) => ({
            ...base,
            from: history.since,
            to: history.until,
            conclusion,
            ...(why !== null && { reason: why }),
          })}
        />
      </div>
      {from !== undefined && to !== undefined && (
        <TripList
          queue={queue}
          search={{ ...search, from, to }}
          title={`Left the queue from ${tell.instant(from)} to ${tell.instant(to)}${wordsOf(search)}`}
          tellTime={tell.instant}
        />
      )}
    </>
  );
}

const wordsOf = ({ conclusion, reason }: HealthSearch): string =>
  (conclusion === undefined ? '' : `, ${conclusion}`) +
  (reason === undefined ? '' : ` because ${reasonWords[reason]}`);

function clocksOf(timeZone: string, bucket: History['bucket']) {
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
