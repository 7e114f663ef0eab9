// The effect of a new priority on other entries, shown before the user confirms it. The planner decides; this
// applies the same rules to the queue as the page shows it: `urgent` moves ahead of entries under test, and any
// other priority only orders the entries that wait.

import { formatCount, formatPullRequestNumbers } from '../format.ts';

export type PrioritizedEntry = {
  readonly prNumber: number;
  readonly state: string;
  readonly priorityValue: number;
};

type PriorityChange = {
  readonly entries: readonly PrioritizedEntry[];
  readonly number: number;
  /** The new priority; 0 is urgent. */
  readonly value: number;
};

const underTest: ReadonlySet<string> = new Set(['testing', 'tests_passed', 'pending_failure']);
const namedMax = 5;

const listNumbers = (entries: readonly PrioritizedEntry[]): string =>
  formatPullRequestNumbers(
    entries.map(({ prNumber }) => prNumber),
    namedMax,
  );

export function describePriorityEffect({ entries, number, value }: PriorityChange): readonly string[] {
  const at = entries.findIndex(({ prNumber }) => prNumber === number);
  const own = entries[at];
  if (own === undefined) return ['The pull request is no longer in the queue.'];
  if (own.priorityValue === value) return ['The pull request already has this priority.'];
  const isTested = underTest.has(own.state);
  const before = entries.slice(0, at);
  const tested = (isTested ? before : entries).filter(({ state }) => underTest.has(state));
  if (value === 0)
    return [
      'The pull request moves to the front of the queue and is tested alone.',
      tested.length === 0
        ? 'No run restarts: no pull request that it overtakes is under test.'
        : `The runs of up to ${formatCount(tested.length, 'pull request')} may restart behind it: ${listNumbers(tested)}.`,
    ];
  if (isTested)
    return [
      'The pull request is under test and keeps its position. The new priority applies if it has to wait again.',
    ];
  const waiting = entries.filter(({ state }) => state === 'pending');
  const overtaken = waiting.filter((entry) => before.includes(entry) && entry.priorityValue > value);
  const overtaking = waiting.filter(
    (entry) => !before.includes(entry) && entry !== own && entry.priorityValue < value,
  );
  return [
    overtaken.length > 0
      ? `It overtakes ${formatCount(overtaken.length, 'waiting pull request')}: ${listNumbers(overtaken)}. A pull request that has waited for four hours is not overtaken.`
      : 'It overtakes no pull request.',
    ...(overtaking.length > 0
      ? [
          `${formatCount(overtaking.length, 'waiting pull request')} may overtake it: ${listNumbers(overtaking)}.`,
        ]
      : []),
    'No run restarts.',
  ];
}
