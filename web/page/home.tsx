import { Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Answer, Empty } from '../component/answer.tsx';
import { LiveMark } from '../component/live-mark.tsx';
import { Pill, QueuePill } from '../component/state.tsx';
import { Since } from '../component/time.tsx';
import { countOf, percentOf, spanOf } from '../format.ts';
import { pathOf, queueKey, queueSearch } from '../name.ts';
import { type QueueOverview, queuesQuery, useLive, useQueues } from '../query.ts';

export function HomePage() {
  const known = useQueues().data ?? [];
  const state = useLive(known.map(queueKey), [queuesQuery.queryKey]);
  const queues = useQueues(state);
  return (
    <Stack>
      <title>Queues · Signalbox</title>
      <Group justify="space-between">
        <Title order={1} size="h2">
          Queues
        </Title>
        {known.length > 0 && <LiveMark state={state} />}
      </Group>
      <Answer query={queues} loading="Reading the queues">
        {(list) =>
          list.length === 0 ? (
            <Empty icon="line" title="There is no queue yet">
              A queue is created with <code>createQueue</code> of the API: it needs a repository and a branch.
            </Empty>
          ) : (
            <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }} component="ul" className="plain">
              {list.map((queue) => (
                <QueueCard key={queueKey(queue)} queue={queue} />
              ))}
            </SimpleGrid>
          )
        }
      </Answer>
    </Stack>
  );
}

const Figure = ({ name, value }: { readonly name: string; readonly value: string }) => (
  <div>
    <Text component="dt" size="xs" c="dimmed">
      {name}
    </Text>
    <Text component="dd" m={0} fw={600}>
      {value}
    </Text>
  </div>
);

function QueueCard({ queue }: { readonly queue: QueueOverview }) {
  const ended = queue.mergedLast24h + queue.failedLast24h;
  const p50 = queue.timeInQueueP50Seconds;
  return (
    <li className="card">
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start">
          <div className="shrink">
            <Link to="/queue" search={queueSearch(queue)} className="card-title">
              {queue.repo.owner}/{queue.repo.name} <span className="branch">{queue.targetBranch}</span>
            </Link>
            <Text size="sm" c="dimmed">
              {queue.repo.host}, {queue.mode === 'parallel' ? 'parallel lanes' : 'one line'}
            </Text>
          </div>
          <Group gap="xs">
            {queue.isHostAway && <Pill icon="warning" word="Host away" tone="bad" />}
            <QueuePill state={queue.state} />
          </Group>
        </Group>
        {queue.stateReason !== null && <Text size="sm">{queue.stateReason}</Text>}
        <dl className="figures">
          <Figure name="In the queue" value={String(queue.depth)} />
          <Figure name="Under test" value={String(queue.testing)} />
          <Figure name="Not ready" value={String(queue.notReady)} />
          <Figure name="Time in queue, P50" value={p50 === null ? 'no data' : spanOf(p50)} />
          <Figure name="Merged in 24 h" value={String(queue.mergedLast24h)} />
          <Figure
            name="Failing in 24 h"
            value={ended === 0 ? 'no data' : percentOf(queue.failedLast24h / ended)}
          />
        </dl>
        <Group justify="space-between">
          <Text size="sm" c="dimmed">
            {queue.oldestEntryAt === null ? (
              'Nobody waits.'
            ) : (
              <Since at={queue.oldestEntryAt} prefix="The oldest has waited " />
            )}
          </Text>
          <Link
            to="/tests"
            search={{ repo: pathOf(queue.repo) }}
            aria-label={`Tests of ${pathOf(queue.repo)}`}
          >
            Tests
          </Link>
        </Group>
        {queue.depth > 0 && (
          <span className="visually-hidden">{countOf(queue.depth, 'pull request')} in the queue</span>
        )}
      </Stack>
    </li>
  );
}
