// What holds a queue up as a whole, and what to do about it.

import { Alert, Text } from '@mantine/core';
import type { ResponseOf } from '#contract/endpoint.ts';
import { Icon, type IconName } from './icon.tsx';

type Queue = ResponseOf<'getQueue'>;

type Words = { readonly icon: IconName; readonly title: string; readonly meaning: string };

const wordsOf: Readonly<Record<Exclude<Queue['state'], 'RUNNING'>, Words>> = {
  PAUSED: {
    icon: 'pause',
    title: 'The queue is paused',
    meaning: 'Tests under way finish; nothing new is tested or merged, and the order is kept.',
  },
  DRAINING: {
    icon: 'drain',
    title: 'The queue is draining',
    meaning: 'What is in line is tested and merged; what is submitted now waits until it is resumed.',
  },
  SWITCHING_MODES: {
    icon: 'switch',
    title: 'The queue is switching modes',
    meaning: 'What is under test finishes in the old mode. Then the queue goes on by itself in the new one.',
  },
};

const fetchProgress = ({ percent, receivedBytes }: NonNullable<Queue['repositoryFetch']>): string =>
  percent === null ? `${Math.round(receivedBytes / 1_048_576)} MiB so far.` : `${percent} %.`;

export function QueueBanners({ queue }: { readonly queue: Queue }) {
  const words = queue.state === 'RUNNING' ? null : wordsOf[queue.state];
  return (
    <>
      {queue.isHostAway && (
        <Alert color="red" variant="outline" icon={<Icon name="warning" />} title="The host does not answer">
          Nothing is concluded and no clock runs until {queue.repo.host} answers again. It is asked by itself;
          nothing is lost meanwhile.
        </Alert>
      )}
      {queue.repositoryFetch !== null && (
        <Alert color="blue" variant="outline" icon={<Icon name="clock" />} title="Fetching the repository">
          {fetchProgress(queue.repositoryFetch)} Pull requests are tested when the first fetch of{' '}
          {queue.repo.owner}/{queue.repo.name} is complete. An interrupted fetch continues where it was.
        </Alert>
      )}
      {words !== null && (
        <Alert
          color={queue.stateReason === null ? 'yellow' : 'red'}
          variant="outline"
          icon={<Icon name={words.icon} />}
          title={queue.stateReason === null ? words.title : 'The queue stopped by itself'}
        >
          {queue.stateReason !== null && (
            <Text size="sm" fw={600}>
              {queue.stateReason}
            </Text>
          )}
          {words.meaning}
        </Alert>
      )}
    </>
  );
}
