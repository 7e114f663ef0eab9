// Queues, one queue and its entries, as the command line shows them.

import { countText } from '#base/number-text.ts';
import { queueSettingDefaults, type QueueSetting } from '#contract/queue-settings.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import type { SubmittedPullRequest } from '#contract/pull-request.ts';
import { repositoryText } from '../client/place.ts';
import { type TableCell, clockText, type Pen, spanText, tableLines } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { settingText } from '../setting-pair.ts';
import { stateLabels } from './state-text.ts';

type QueueList = ResponseOf<'listQueues'>;
type QueueViewData = ResponseOf<'getQueue'>;

const tones = { RUNNING: 'good', PAUSED: 'warning', DRAINING: 'warning', SWITCHING_MODES: 'info' } as const;

const stateCell = (state: keyof typeof tones): TableCell => ({
  text: state.toLowerCase(),
  tone: tones[state],
});

export function queueListLines({ queues, nextCursor }: QueueList, pen: Pen): readonly string[] {
  if (queues.length === 0)
    return ['There is no queue. Create one with: signalbox queue create --branch main'];
  const rows = queues.map((queue): readonly TableCell[] => [
    repositoryText(queue.repo),
    queue.targetBranch,
    stateCell(queue.state),
    String(queue.depth),
    String(queue.testing),
    String(queue.mergedLast24h),
    String(queue.failedLast24h),
    queue.timeInQueueP50Seconds === null ? '-' : spanText(queue.timeInQueueP50Seconds * 1000),
    queue.stall ?? (queue.isHostAway ? 'the Git host is unreachable' : ''),
  ]);
  const head = [
    'repository',
    'branch',
    'state',
    'queued',
    'testing',
    'merged 24h',
    'failed 24h',
    'median',
    '',
  ];
  return [
    ...tableLines(head, rows, pen),
    ...(nextCursor === undefined ? [] : [pen('quiet', '… and more: filter with signalbox queue list QUERY')]),
  ];
}

const fetchText = ({ percent, receivedBytes }: NonNullable<QueueViewData['repositoryFetch']>): string =>
  percent === null ? `${Math.round(receivedBytes / 1_048_576)} MiB so far` : `${percent} %`;

function headLines(queue: QueueViewData, pen: Pen): readonly string[] {
  const { repo, targetBranch, state, stateReason, isHostAway, repositoryFetch } = queue;
  const { text, tone } = stateCell(state) as Exclude<TableCell, string>;
  return [
    `${pen('strong', plainLine(`${repositoryText(repo)} → ${targetBranch}`))}  ${pen(tone, text)}`,
    ...(stateReason === null ? [] : [`  ${plainLine(stateReason, 500)}`]),
    ...(isHostAway
      ? [pen('warning', '  The Git host is unreachable: the queue waits until it answers.')]
      : []),
    ...(repositoryFetch === null
      ? []
      : [pen('warning', `  Fetching the repository for the first time: ${fetchText(repositoryFetch)}.`)]),
  ];
}

/** `details`: the first entries of the queue, with their forecasts. */
export function lineLines(
  queue: QueueViewData,
  details: readonly SubmittedPullRequest[],
  pen: Pen,
  now: Date,
): readonly string[] {
  const { enqueuedPullRequests: entries } = queue;
  if (entries.length === 0) return [...headLines(queue, pen), '', '  The queue is empty.'];
  const shown = entries.slice(0, shownMax);
  const rows = shown.map((entry): readonly TableCell[] => {
    const { label: stateLabel, tone } = stateLabels[entry.state];
    const lands = details.find(({ prNumber }) => prNumber === entry.prNumber)?.estimatedMergeAt ?? null;
    return [
      { text: `#${entry.prNumber}`, tone: 'strong' },
      { text: stateLabel, tone },
      spanText(now.getTime() - new Date(entry.stateChangedAt).getTime()),
      lands === null ? '-' : clockText(lands, now),
      entry.priorityName,
      entry.prAuthor,
      entry.prTitle,
    ];
  });
  const left = entries.length - shown.length;
  return [
    ...headLines(queue, pen),
    '',
    ...tableLines(['', 'state', 'for', 'lands', 'priority', 'author', 'title'], rows, pen),
    ...(left > 0 ? [pen('quiet', `… and ${countText(left, 'more')}`.replace('mores', 'more'))] : []),
  ];
}

const shownMax = 50;

export function queueLines(queue: QueueViewData, pen: Pen): readonly string[] {
  const rows = (Object.keys(queueSettingDefaults) as QueueSetting[]).map((name): readonly TableCell[] => {
    const [value, initial] = [settingText(queue[name]), settingText(queueSettingDefaults[name])];
    return [name, value, { text: value === initial ? '' : `default ${initial}`, tone: 'quiet' }];
  });
  const entries = queue.enqueuedPullRequests;
  const testing = entries.filter(({ state }) => state === 'testing').length;
  return [
    ...headLines(queue, pen),
    `  ${countText(entries.length, 'pull request')} in the queue, ${testing} under test`,
    '',
    ...tableLines(['setting', 'value', ''], rows, pen),
  ];
}
