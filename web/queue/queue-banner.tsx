// What blocks the whole queue, and what to do about it.

import { Alert, Text } from '@mantine/core';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { Icon, type IconName } from '../component/icon.tsx';

type BannerQueue = ResponseOf<'getQueue'>;

type BannerText = { readonly icon: IconName; readonly title: string; readonly meaning: string };

const bannerTexts: Readonly<Record<Exclude<BannerQueue['state'], 'RUNNING'>, BannerText>> = {
  PAUSED: {
    icon: 'pause',
    title: 'The queue is paused',
    meaning:
      'Runs in progress finish. No new run starts and nothing is merged until an administrator resumes the queue. Pull requests keep their positions.',
  },
  DRAINING: {
    icon: 'drain',
    title: 'The queue is draining',
    meaning:
      'Queued pull requests are tested and merged. Pull requests that are submitted now wait until an administrator resumes the queue.',
  },
  SWITCHING_MODES: {
    icon: 'switch',
    title: 'The queue is switching modes',
    meaning:
      'Runs in progress finish in the old mode. Then the queue continues automatically in the new mode.',
  },
};

const fetchProgress = ({ percent, receivedBytes }: NonNullable<BannerQueue['repositoryFetch']>): string =>
  percent === null ? `${Math.round(receivedBytes / 1_048_576)} MiB so far.` : `${percent} %.`;

export function QueueBanners({ queue }: { readonly queue: BannerQueue }) {
  const bannerText = queue.state === 'RUNNING' ? null : bannerTexts[queue.state];
  return (
    <>
      {queue.isHostAway && (
        <Alert
          color="red"
          variant="outline"
          icon={<Icon name="warning" />}
          title="The Git host is unreachable"
        >
          {queue.repo.host} does not respond. Signalbox retries automatically. Until it responds, no pull
          request is merged or removed, and timeouts are suspended.
        </Alert>
      )}
      {queue.repositoryFetch !== null && (
        <Alert color="blue" variant="outline" icon={<Icon name="clock" />} title="Fetching the repository">
          {fetchProgress(queue.repositoryFetch)} Signalbox starts testing when the first fetch of{' '}
          {queue.repo.owner}/{queue.repo.name} is complete. An interrupted fetch resumes where it stopped.
        </Alert>
      )}
      {bannerText !== null && (
        <Alert
          color={queue.stateReason === null ? 'yellow' : 'red'}
          variant="outline"
          icon={<Icon name={bannerText.icon} />}
          title={queue.stateReason === null ? bannerText.title : 'The queue stopped automatically'}
        >
          {queue.stateReason !== null && (
            <Text size="sm" fw={600}>
              {queue.stateReason}
            </Text>
          )}
          {bannerText.meaning}
        </Alert>
      )}
    </>
  );
}
