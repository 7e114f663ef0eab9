// The bisection of a failed batch as text.

import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { formatCount, formatPullRequestNumbers } from '../format.ts';

export type QueueBisection = ResponseOf<'getQueueGraph'>['bisections'][number];
type QueueBisectionRound = QueueBisection['rounds'][number];

/** `#1`, `#1 and #2`, `#1 to #8`: in the order of the batch, which need not be that of the numbers. */
export function formatBatchSpan(numbers: readonly number[]): string {
  const [first, last] = [numbers[0], numbers.at(-1)];
  if (numbers.length < 2) return first === undefined ? 'none' : `#${first}`;
  return `#${first} ${numbers.length === 2 ? 'and' : 'to'} #${last}`;
}

export function formatBisectionHeadline({ pullRequests, failedChecks }: QueueBisection): string {
  const on = failedChecks.length === 0 ? '' : ` on ${failedChecks.map(({ name }) => name).join(', ')}`;
  return `The batch ${formatBatchSpan(pullRequests)} failed${on}`;
}

/** What is being tested, and which pull requests are still suspected. */
export function describeBisectionProgress({
  pullRequests,
  cleared,
  suspects,
  rounds,
}: QueueBisection): string {
  const inProgress = rounds.at(-1)?.runs.filter(({ status }) => status === 'under_way') ?? [];
  const tested = inProgress.map(({ testedCount }) => formatBatchSpan(pullRequests.slice(0, testedCount)));
  const now =
    tested.length === 0
      ? 'The next test run is waiting for a free slot.'
      : `Testing now: ${tested.join('; ')}.`;
  const passed =
    cleared.length === 0
      ? ''
      : ` ${formatBatchSpan(cleared)} ${cleared.length === 1 ? 'passes' : 'pass'} without the others.`;
  const [only] = suspects;
  const left =
    suspects.length === 1
      ? ` 1 suspect left, #${only}: Signalbox removes it only if its own run fails.`
      : ` ${formatCount(suspects.length, 'suspect')} left: ${formatPullRequestNumbers(suspects)}.`;
  return `${now}${passed}${left}`;
}

export const describeRound = ({ suspects, runs }: QueueBisectionRound, index: number): string =>
  `Round ${index + 1}: ${formatCount(suspects.length, 'suspect')}, ${formatCount(runs.length, 'test run')}`;

/** The state of one entry of the batch so far. */
export type BatchMemberStatus = 'cleared' | 'suspect' | 'undecided';

export function classifyBatchMember(
  { cleared, suspects }: QueueBisection,
  number: number,
): BatchMemberStatus {
  if (cleared.includes(number)) return 'cleared';
  return suspects.includes(number) ? 'suspect' : 'undecided';
}
