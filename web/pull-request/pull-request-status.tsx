// One sentence that says where a pull request stands and what happens next, and in smaller type what else is to be known.

import { Text } from '@mantine/core';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { reasonText } from '#contract/text/reason-text.ts';
import { LinkedText } from '../component/linked-text.tsx';
import { Ago, EtaInterval, EtaSentence } from '../component/time.tsx';
import { formatDuration } from '../format.ts';
import type { QueueName } from '../name.ts';
import { chooseStatusText } from './status-text.ts';

export type PullRequestRecord = ResponseOf<'getSubmittedPullRequest'>;
type EndedState = 'merged' | 'failed' | 'cancelled';

type PullRequestStatusProps = { readonly queue: QueueName; readonly record: PullRequestRecord };

export function PullRequestStatus({ queue, record }: PullRequestStatusProps) {
  const { state } = record;
  const isEnded = state === 'merged' || state === 'failed' || state === 'cancelled';
  return (
    <section aria-label="Status" className="status">
      {isEnded ? <Ended record={record} state={state} /> : <Waiting queue={queue} record={record} />}
    </section>
  );
}

function Waiting({ queue, record }: PullRequestStatusProps) {
  const { lead, rest } = chooseStatusText(record);
  const [early, late] = record.estimatedMergeInterval ?? [];
  return (
    <>
      <p className="status-lead">
        <LinkedText queue={queue} text={lead} />{' '}
        {record.estimatedMergeAt !== null && <EtaSentence at={record.estimatedMergeAt} />}
      </p>
      {early !== undefined && late !== undefined && (
        <Text size="sm" c="dimmed">
          <EtaInterval early={early} late={late} />
        </Text>
      )}
      {rest.map((sentence) => (
        <Text key={sentence} size="sm" c="dimmed" className="why">
          <LinkedText queue={queue} text={sentence} />
        </Text>
      ))}
    </>
  );
}

const endedTexts: Readonly<Record<EndedState, { readonly what: string; readonly next: string | null }>> = {
  merged: { what: 'It merged', next: null },
  failed: {
    what: 'It was removed from the queue',
    next: 'When the cause is fixed, submit it again. It goes to the end of the queue.',
  },
  cancelled: { what: 'It was cancelled', next: 'To put it back in the queue, submit it again.' },
};

function Ended({ record, state }: { readonly record: PullRequestRecord; readonly state: EndedState }) {
  const { what, next } = endedTexts[state];
  const [attempt] = record.timeSpent ?? [];
  return (
    <>
      <p className="status-lead">
        {what} <Ago at={record.stateChangedAt} />
        {record.conclusionReason !== null && `: ${reasonText[record.conclusionReason]}`}.
      </p>
      <Text size="sm" c="dimmed">
        {attempt !== undefined &&
          `It was in the queue for ${formatDuration(attempt.inQueueMs / 1_000)}, of which ${formatDuration(attempt.testMs / 1_000)} under test. `}
        {next}
      </Text>
    </>
  );
}
