// Vitest and Jest, by a pattern of names. Both match it with the names of the suites and of the test, joined by
// blanks; reports join them by ` > ` or ` › ` too, and may change white space.
//
// The names hold in every file, so a test with the same name in another file runs too. If the user named no
// files and those of the tests are known, the files are selected as well.

import type { SelectedTest } from '#contract/health/test-selection.ts';
import { freeArguments, hasOption, quotePattern, type Runner, type SelectionPlace } from './runner.ts';

/** `-t name`, `-tname`, `--testNamePattern=name`: two of them cannot be combined. */
const hasNamePattern = (args: readonly string[]): boolean =>
  args.some((arg) => arg.startsWith('-t')) || hasOption(args, ['--testNamePattern', '--test-name-pattern']);

const fullNamePattern = (name: string): string =>
  name
    .trim()
    .split(/\s+/)
    .map(quotePattern)
    .join(' ')
    .split(/ [>›] /)
    .map((part) => part.replaceAll(' ', '\\s+'))
    .join('\\s+(?:[>›]\\s+)?');

/**
 * The files of the tests that exist. Null: they are not known, so the names must do. If some files exist, another path
 * is one of a file that this commit does not have.
 */
function findFiles(tests: readonly SelectedTest[], { exists }: SelectionPlace): readonly string[] | null {
  const paths = [...new Set(tests.map(({ file, classname }) => (file === '' ? classname : file)))];
  const files = paths.filter((path) => path !== '' && exists(path));
  // A file name must not be taken for an option or, in Vitest, for a line of a file.
  const isKnown = (path: string) => /\.[cm]?[jt]sx?$/.test(path) && !path.startsWith('-');
  return files.length > 0 && paths.every(isKnown) ? files : null;
}

const vitestOptionsWithValue = new Set(
  '-r --root -c --config --dir --reporter --outputFile --outputFile.junit --project --environment --pool --maxWorkers --mode --shard'
    .concat(' --testTimeout --hookTimeout --retry --bail --coverage.provider --coverage.reporter')
    .split(' '),
);

export const vitest: Runner = {
  programs: ['vitest'],
  accepts: (args) =>
    !['bench', 'complete', 'init', 'list', 'related'].includes(args[0] ?? '') &&
    !hasNamePattern(args) &&
    !args.includes('--'),
  narrow: (args, tests, place) => {
    if (tests.some(({ name }) => name.trim() === '')) return null;
    const modeNames = ['run', 'watch', 'dev'].includes(args[0] ?? '') ? 1 : 0;
    const rest = args.slice(modeNames);
    const files = freeArguments(rest, vitestOptionsWithValue).length === 0 ? findFiles(tests, place) : null;
    // A file that cannot be loaded is reported as a test with the name of the file: all of its tests are selected.
    const isWholeFile = tests.some(({ name, file, classname }) => name === file || name === classname);
    if (isWholeFile && files === null) return null;
    const names = isWholeFile ? [] : [`--testNamePattern=${vitestPattern(tests)}`];
    const selection = [...names, '--passWithNoTests', ...(files ?? [])];
    return { args: [...args.slice(0, modeNames), ...selection, ...rest], plugins: [] };
  },
};

/** If a hook of a suite fails, the suite is reported without the suites around it, as a test without any. */
const vitestPattern = (tests: readonly SelectedTest[]): string => {
  const patterns = tests.map(({ name }) =>
    /\s[>›]\s/.test(name) ? `^${fullNamePattern(name)}$` : `(?:^|\\s)${fullNamePattern(name)}(?:\\s|$)`,
  );
  return [...new Set(patterns)].join('|');
};

const jestOptionsWithValue = new Set(
  '-c --config --rootDir --maxWorkers -w --shard --testTimeout --outputFile --env --coverageDirectory --selectProjects'
    .concat(' --reporters --seed --changedSince')
    .split(' '),
);

export const jest: Runner = {
  programs: ['jest'],
  accepts: (args) =>
    !hasNamePattern(args) && !args.includes('--') && !hasOption(args, ['--runTestsByPath', '--listTests']),
  narrow: (args, tests, place) => {
    // jest-junit reports a file that cannot be loaded under this name.
    const isFile = ({ classname }: SelectedTest) => classname === 'Test suite failed to run';
    if (tests.some((test) => test.name.trim() === '' || isFile(test))) return null;
    const hasPaths =
      freeArguments(args, jestOptionsWithValue).length > 0 ||
      hasOption(args, ['--testPathPattern', '--testPathPatterns', '--findRelatedTests']);
    const files = hasPaths ? null : findFiles(tests, place);
    const paths = (files ?? []).map((file) => `${quotePattern(file)}$`);
    const names = `--testNamePattern=${jestPattern(tests)}`;
    // First: Jest takes whatever follows an option like --reporters for its value.
    return { args: [...paths, names, '--passWithNoTests', ...args], plugins: [] };
  },
};

/** By default jest-junit writes the full name, as name and as class. Otherwise the name may be the end of it. */
const jestPattern = (tests: readonly SelectedTest[]): string => {
  const patterns = tests.map(
    ({ name, classname }) => `${name === classname ? '^' : '(?:^|\\s)'}${fullNamePattern(name)}$`,
  );
  return [...new Set(patterns)].join('|');
};
