// The tests of a demo repository, which of them fail in a run, and the JUnit report that CI writes.

import { chance } from './chance.ts';
import type { DemoRepository } from './repository.ts';

export type DemoTest = { readonly area: string; readonly name: string; readonly file: string };

export type FailedDemoTest = DemoTest & { readonly message: string; readonly isFlake: boolean };

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

export const listDemoTests = ({ areas }: DemoRepository): readonly DemoTest[] =>
  areas.flatMap((area) =>
    deeds.map((deed) => ({ area, name: `${area} ${deed}`, file: `test/${area}.test.ts` })),
  );

/** How the flakes of a repository are distributed over its flaky tests. */
const flakeShares = [0.55, 0.3, 0.15];

/** Tests that sometimes fail by chance: `luck` decides in which runs. The first one fails most often. */
export const listFlakyTests = (repository: DemoRepository): readonly DemoTest[] => {
  const tests = listDemoTests(repository);
  return flakeShares.map((_share, index) => tests[(index * 11 + 4) % tests.length]!);
};

export function drawFlakes(
  repository: DemoRepository,
  flakeRate: number,
  ...luck: readonly (string | number)[]
): readonly FailedDemoTest[] {
  return listFlakyTests(repository).flatMap((test, index) =>
    chance(...luck, test.name) < flakeRate * flakeShares[index]!
      ? [{ ...test, message: `TimeoutError: ${test.area} did not answer within 5000 ms`, isFlake: true }]
      : [],
  );
}

/** The tests that fail if a pull request breaks the tree: one or two of an area that it touches. */
export function failuresBy(
  repository: DemoRepository,
  change: { readonly number: number; readonly targets: readonly string[] },
): readonly FailedDemoTest[] {
  const area = change.targets[0]!.split('/').at(-1)!;
  const tests = listDemoTests(repository).filter((test) => test.area === area);
  const flaky = new Set(listFlakyTests(repository).map(({ name }) => name));
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

/** The demo makes up the names, so nothing in them needs escaping. */
export function renderJunitReport(repository: DemoRepository, failed: readonly FailedDemoTest[]): string {
  const messages = new Map(failed.map(({ name, message }) => [name, message]));
  const cases = listDemoTests(repository).map(({ area, name, file }) => {
    const message = messages.get(name);
    const head = `<testcase classname="${area}" name="${name}" file="${file}" time="0.2"`;
    return message === undefined
      ? `${head}/>`
      : `${head}><failure message="${message}">${message}\n    at ${file}:12:7</failure></testcase>`;
  });
  return `<?xml version="1.0"?>\n<testsuites><testsuite name="${repository.repo.name}">\n${cases.join('\n')}\n</testsuite></testsuites>\n`;
}
