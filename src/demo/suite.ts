// The tests of a repository of the demo, which of them fail in a run, and the JUnit report that CI writes of it.

import { chance } from './chance.ts';
import type { DemoRepository } from './repository.ts';

export type DemoTest = { readonly area: string; readonly name: string; readonly file: string };

export type FailedTest = DemoTest & { readonly message: string; readonly isFlake: boolean };

const deeds = [
  'loads in time',
  'keeps what was entered',
  'refuses what is too long',
  'sorts by date',
  'works without a network',
  'shows an empty list',
  'undoes the last step',
  'counts every item once',
];

export const testsOf = ({ areas }: DemoRepository): readonly DemoTest[] =>
  areas.flatMap((area) =>
    deeds.map((deed) => ({ area, name: `${area} ${deed}`, file: `test/${area}.test.ts` })),
  );

/** How the flakes of a repository are dealt over its flaky tests. */
const flakeShares = [0.55, 0.3, 0.15];

/** Fails by itself now and then: `luck` says in which runs. The first of the list fails most often. */
export const flakyTestsOf = (repository: DemoRepository): readonly DemoTest[] => {
  const tests = testsOf(repository);
  return flakeShares.map((_share, index) => tests[(index * 11 + 4) % tests.length]!);
};

export function flakesOf(
  repository: DemoRepository,
  flakeRate: number,
  ...luck: readonly (string | number)[]
): readonly FailedTest[] {
  return flakyTestsOf(repository).flatMap((test, index) =>
    chance(...luck, test.name) < flakeRate * flakeShares[index]!
      ? [{ ...test, message: `TimeoutError: ${test.area} did not answer within 5000 ms`, isFlake: true }]
      : [],
  );
}

/** What fails where a pull request breaks the tree: one or two tests of an area that it touches. */
export function failuresBy(
  repository: DemoRepository,
  change: { readonly number: number; readonly targets: readonly string[] },
): readonly FailedTest[] {
  const area = change.targets[0]!.split('/').at(-1)!;
  const tests = testsOf(repository).filter((test) => test.area === area);
  const flaky = new Set(flakyTestsOf(repository).map(({ name }) => name));
  const first = change.number % deeds.length;
  return [first, (first + 3) % deeds.length]
    .map((index) => tests[index]!)
    .filter(({ name }) => !flaky.has(name))
    .map((test) => ({
      ...test,
      message: `AssertionError: expected ${change.number} items, received ${change.number - 1}`,
      isFlake: false,
    }));
}

/** Names are our own and plain, so nothing in them needs escaping. */
export function reportOf(repository: DemoRepository, failed: readonly FailedTest[]): string {
  const messages = new Map(failed.map(({ name, message }) => [name, message]));
  const cases = testsOf(repository).map(({ area, name, file }) => {
    const message = messages.get(name);
    const head = `<testcase classname="${area}" name="${name}" file="${file}" time="0.2"`;
    return message === undefined
      ? `${head}/>`
      : `${head}><failure message="${message}">${message}\n    at ${file}:12:7</failure></testcase>`;
  });
  return `<?xml version="1.0"?>\n<testsuites><testsuite name="${repository.repo.name}">\n${cases.join('\n')}\n</testsuite></testsuites>\n`;
}
