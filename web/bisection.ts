// The search for what broke a batch, in words.

import type { ResponseOf } from '#contract/endpoint.ts';
import { countOf, numbersOf } from './format.ts';

export type Bisection = ResponseOf<'getQueueGraph'>['bisections'][number];
type Round = Bisection['rounds'][number];

/** `#1`, `#1 and #2`, `#1 to #8`: in the order of the batch, which need not be that of the numbers. */
export function spanOfBatch(numbers: readonly number[]): string {
  const [first, last] = [numbers[0], numbers.at(-1)];
  if (numbers.length < 2) return first === undefined ? 'nobody' : `#${first}`;
  return `#${first} ${numbers.length === 2 ? 'and' : 'to'} #${last}`;
}

export function headlineOf({ pullRequests, failedChecks }: Bisection): string {
  const on = failedChecks.length === 0 ? '' : ` on ${failedChecks.map(({ name }) => name).join(', ')}`;
  return `The batch ${spanOfBatch(pullRequests)} failed${on}`;
}

/** What is being tested and who is left. */
export function progressOf({ pullRequests, cleared, suspects, rounds }: Bisection): string {
  const underWay = rounds.at(-1)?.runs.filter(({ status }) => status === 'under_way') ?? [];
  const tested = underWay.map(({ testedCount }) => spanOfBatch(pullRequests.slice(0, testedCount)));
  const now =
    tested.length === 0 ? 'The next test run waits for a free slot.' : `Tested now: ${tested.join('; ')}.`;
  const passed =
    cleared.length === 0
      ? ''
      : ` ${spanOfBatch(cleared)} ${cleared.length === 1 ? 'passes' : 'pass'} without the rest.`;
  const [only] = suspects;
  const left =
    suspects.length === 1
      ? ` 1 suspect is left, #${only}: it is blamed only by a run of its own that fails.`
      : ` ${countOf(suspects.length, 'suspect')} left: ${numbersOf(suspects)}.`;
  return `${now}${passed}${left}`;
}

export const wordsOfRound = ({ suspects, runs }: Round, index: number): string =>
  `Round ${index + 1}: ${countOf(suspects.length, 'suspect')}, ${countOf(runs.length, 'test run')}`;

/** What became of one of the batch so far. */
export type Standing = 'cleared' | 'suspect' | 'undecided';

export function standingOf({ cleared, suspects }: Bisection, number: number): Standing {
  if (cleared.includes(number)) return 'cleared';
  return suspects.includes(number) ? 'suspect' : 'undecided';
}
