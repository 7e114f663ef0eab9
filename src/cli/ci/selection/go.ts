// `go test` and gotestsum, by `-run` with one pattern for each test and one expression for each level of
// subtests. If the user tests `./...`, the packages are selected too, which saves building the others.

import type { SelectedTest } from '#contract/health/test-selection.ts';
import { freeArguments, hasOption, quotePattern, type Runner, type SelectionPlace } from './runner.ts';

const everything = './...';

const withBothDashes = (names: string): readonly string[] =>
  names.split(' ').flatMap((name) => [`-${name}`, `--${name}`]);

const exclusive = withBothDashes('run test.run list bench fuzz c');

const goOptionsWithValue = new Set(
  withBothDashes(
    'count cpu timeout parallel p tags coverprofile covermode coverpkg shuffle skip mod modfile exec vet o outputdir'.concat(
      ' ldflags gcflags overlay cpuprofile memprofile blockprofile mutexprofile trace',
    ),
  ),
);

/** The patterns. Null: a package that does not build is reported as a test that cannot be named. */
function runPattern(tests: readonly SelectedTest[]): string | null {
  const names = [...new Set(tests.map(({ name }) => name))];
  if (!names.every((name) => /^(?:Test|Example|Fuzz)/.test(name) && name !== 'TestMain')) return null;
  // A test fails with each of its subtests, and runs with them: its own name would select all of them.
  const leaves = names.filter((name) => !names.some((other) => other.startsWith(`${name}/`)));
  const levels = (name: string) => name.split('/').map((level) => `^${quotePattern(level)}$`);
  return leaves.map((name) => levels(name).join('/')).join('|');
}

/**
 * The packages, each with `...`, which matches any text, before its last character: a pattern without a match is a
 * warning, whereas a package that does not exist is an error, and is reported as a failed test.
 */
const packagePatterns = (tests: readonly SelectedTest[]): readonly string[] =>
  tests.every(({ classname }) => /^\w[\w.~/-]*\w$/.test(classname))
    ? [...new Set(tests.map(({ classname }) => `${classname.slice(0, -1)}...${classname.at(-1)}`))]
    : [everything];

/** Go remembers passing results; with a count it does not. */
const freshArgument = (args: readonly string[]): readonly string[] =>
  hasOption(args, withBothDashes('count test.count')) ? [] : ['-count=1'];

/** The arguments after `go test`. */
function narrowGoTest(
  args: readonly string[],
  tests: readonly SelectedTest[],
  { isRepeat = false }: SelectionPlace,
): readonly string[] | null {
  const pattern = tests.some(({ classname }) => classname === '') ? null : runPattern(tests);
  if (pattern === null) return null;
  const packages = freeArguments(args, goOptionsWithValue);
  const isEverything = packages.length === 1 && packages[0] === everything;
  const narrowed = isEverything
    ? args.flatMap((arg) => (arg === everything ? packagePatterns(tests) : [arg]))
    : args;
  return [`-run=${pattern}`, ...(isRepeat ? freshArgument(args) : []), ...narrowed];
}

export const goTest: Runner = {
  programs: ['go'],
  accepts: ([subcommand, ...args]) => subcommand === 'test' && !hasOption(args, exclusive),
  narrow: ([subcommand = '', ...args], tests, place) => {
    const narrowed = narrowGoTest(args, tests, place);
    return narrowed === null ? null : { args: [subcommand, ...narrowed], plugins: [] };
  },
};

const gotestsumOptionsWithValue = new Set(
  '-f --format --format-icons --junitfile --junitfile-project-name --junitfile-testcase-classname'
    .concat(
      ' --junitfile-testsuite-name --jsonfile --jsonfile-timing-events --packages --max-fails --hide-summary',
    )
    .concat(' --post-run-command --rerun-fails-max-failures --rerun-fails-report')
    .split(' '),
);

/** Splits the options of gotestsum from the arguments of `go test`. Null: it is not certain where the second begin. */
function splitGotestsum(args: readonly string[]): readonly [readonly string[], readonly string[]] | null {
  const dashes = args.indexOf('--');
  if (dashes !== -1) return [args.slice(0, dashes), args.slice(dashes + 1)];
  const isOwn = (arg: string, index: number) =>
    arg.includes('=') ||
    gotestsumOptionsWithValue.has(arg) ||
    gotestsumOptionsWithValue.has(args[index - 1] ?? '');
  return args.every(isOwn) ? [args, []] : null;
}

export const gotestsum: Runner = {
  programs: ['gotestsum'],
  accepts: (args) => {
    const [own, goArgs] = splitGotestsum(args) ?? [null, []];
    return own !== null && !hasOption(own, ['--raw-command', '--watch']) && !hasOption(goArgs, exclusive);
  },
  narrow: (args, tests, place) => {
    const [own = [], goArgs = []] = splitGotestsum(args) ?? [];
    // Without arguments, gotestsum tests ./... unless its own option names packages.
    const isDefault = goArgs.length === 0 && !hasOption(own, ['--packages']);
    const narrowed = narrowGoTest(isDefault ? [everything] : goArgs, tests, place);
    return narrowed === null ? null : { args: [...own, '--', ...narrowed], plugins: [] };
  },
};
