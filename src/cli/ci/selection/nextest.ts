// cargo-nextest, by a filter expression. The class of a test in the report is the id of its binary. A binary that does
// not exist is an error, after which all tests run.

import { hasOption, type Runner } from './runner.ts';

/** Characters without a meaning in filter expressions. Names with others come from custom harnesses. */
const plainName = /^[\p{L}\p{N}_][\p{L}\p{N}_:./#-]*$/u;

export const nextest: Runner = {
  programs: ['cargo'],
  accepts: (args) => {
    const [subcommand, mode, ...rest] = withoutToolchain(args);
    return (
      subcommand === 'nextest' &&
      (mode === 'run' || mode === 'r') &&
      !hasOption(rest, ['-E', '--filterset', '--filter-expr'])
    );
  },
  narrow: (args, tests) => {
    if (!tests.every(({ name, classname }) => plainName.test(name) && plainName.test(classname))) return null;
    const count = args.length - withoutToolchain(args).length + 2;
    const expression = tests
      .map(({ name, classname }) => `(binary_id(=${classname}) & test(=${name}))`)
      .join(' | ');
    const noTests = hasOption(args, ['--no-tests']) ? [] : ['--no-tests=pass'];
    const selection = [`--filterset=${expression}`, ...noTests];
    return { args: [...args.slice(0, count), ...selection, ...args.slice(count)], plugins: [] };
  },
};

/** `cargo +nightly nextest run` */
const withoutToolchain = (args: readonly string[]): readonly string[] =>
  args[0]?.startsWith('+') === true ? args.slice(1) : args;
