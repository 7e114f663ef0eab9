// The pull requests that left the queue recently.

import { Stack, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call } from '../api/api.ts';
import { queueKey, type QueueName, queueSearch } from '../name.ts';
import { reasonText } from '#contract/text/reason-text.ts';
import type { StreamState } from '../api/stream.ts';
import { EntryPill } from '../component/pill.tsx';
import { Ago } from '../component/time.tsx';

const shownMax = 15;
const recentMs = 7 * 86_400_000;

/** Rounded, so that all pages send the same request and can share the answer. */
const wholeHour = (ms: number): Date => new Date(Math.floor(ms / 3_600_000) * 3_600_000);

export function Recent({ queue, state }: { readonly queue: QueueName; readonly state: StreamState }) {
  const ended = useQuery({
    queryKey: ['queue', queueKey(queue), 'ended'],
    queryFn: () =>
      call('listPullRequests', { ...queue, since: wholeHour(Date.now() - recentMs), take: shownMax }),
    refetchInterval: state === 'live' ? false : 5_000,
  });
  const list = ended.data?.pullRequests ?? [];
  if (list.length === 0) return null;
  return (
    <Stack gap="xs" component="section" aria-labelledby="recent">
      <Title order={2} size="h4" id="recent">
        Left the queue in the last seven days
      </Title>
      <ul className="plain recent">
        {list.map((entry) => (
          <li key={entry.prNumber} className="recent-entry" data-number={entry.prNumber}>
            <EntryPill state={entry.state} />
            <Link
              to="/pull-request"
              search={{ ...queueSearch(queue), number: entry.prNumber }}
              className="break"
            >
              <span className="number">#{entry.prNumber}</span> {entry.prTitle}
            </Link>
            <span className="small dimmed">
              {entry.conclusionReason !== null && `${reasonText[entry.conclusionReason]}, `}
              <Ago at={entry.stateChangedAt} />
            </span>
          </li>
        ))}
      </ul>
    </Stack>
  );
}
