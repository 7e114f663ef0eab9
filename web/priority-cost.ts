// What a change of priority would do to the others, said before it is confirmed. The planner decides; this reads the
// same rules off the line as it is shown: `urgent` goes ahead of what is under test, and any other priority only orders
// those that wait.

import { countOf, numbersOf } from './format.ts';

export type Placed = {
  readonly prNumber: number;
  readonly state: string;
  readonly priorityValue: number;
};

type Change = {
  readonly line: readonly Placed[];
  readonly number: number;
  /** What it would be; 0 is urgent. */
  readonly value: number;
};

const underTest: ReadonlySet<string> = new Set(['testing', 'tests_passed', 'pending_failure']);
const namedMax = 5;

const listed = (entries: readonly Placed[]): string =>
  numbersOf(
    entries.map(({ prNumber }) => prNumber),
    namedMax,
  );

export function priorityCost({ line, number, value }: Change): readonly string[] {
  const at = line.findIndex(({ prNumber }) => prNumber === number);
  const own = line[at];
  if (own === undefined) return ['It is not in the queue any more.'];
  if (own.priorityValue === value) return ['It has this priority already: nothing changes.'];
  const isTested = underTest.has(own.state);
  const before = line.slice(0, at);
  const tested = (isTested ? before : line).filter(({ state }) => underTest.has(state));
  if (value === 0)
    return [
      'It goes ahead of everything and is tested alone.',
      tested.length === 0
        ? 'Nothing that it goes ahead of is under test, so nobody begins anew.'
        : `Up to ${countOf(tested.length, 'pull request')} under test may have to begin anew behind it: ${listed(tested)}.`,
    ];
  if (isTested)
    return ['It is under test and stays there. The priority counts if it has to go back in line.'];
  const waiting = line.filter(({ state }) => state === 'pending');
  const passed = waiting.filter((entry) => before.includes(entry) && entry.priorityValue > value);
  const passing = waiting.filter(
    (entry) => !before.includes(entry) && entry !== own && entry.priorityValue < value,
  );
  return [
    passed.length > 0
      ? `It goes ahead of ${countOf(passed.length, 'waiting pull request')}: ${listed(passed)}. Whoever has waited four hours is not overtaken.`
      : 'It goes ahead of nobody.',
    ...(passing.length > 0
      ? [`${countOf(passing.length, 'waiting pull request')} may go ahead of it: ${listed(passing)}.`]
      : []),
    'Nothing that is under test begins anew.',
  ];
}
