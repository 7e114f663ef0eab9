// Runs a test command so that only some of its tests run.
//
//   selection   the tests that failed in a batch, as their reports named them
//   launcher    a program that runs the runner, such as npx in `npx vitest run`
//   narrowed    a command that runs the selection and little else
//
// The names of tests are hostile input: the author of a change chooses them. They reach the runner as one argument
// after `=`, quoted for the language of that argument, or in a plugin file. Nothing passes through a shell.
//
// Example: `npx jest --ci` and the test `Cart adds` become `npx jest --testNamePattern=^Cart\s+adds$
// --passWithNoTests --ci`. `make test` cannot be narrowed, and runs everything.

import { posix, win32 } from 'node:path';
import type { SelectedTest } from '#contract/health/test-selection.ts';
import { defaultReportLimits } from '#report/limits.ts';
import { goTest, gotestsum } from './go.ts';
import { gradle, maven } from './java.ts';
import { jest, vitest } from './javascript.ts';
import { nextest } from './nextest.ts';
import { pytest } from './pytest.ts';
import { rspec } from './rspec.ts';
import type { Runner, SelectionPlace, SelectionPlugin } from './runner.ts';

export type NarrowedCommand = {
  readonly command: readonly string[];
  /** To be written into the folder for plugins before the command starts. */
  readonly plugins: readonly SelectionPlugin[];
};

const runners: readonly Runner[] = [pytest, vitest, jest, goTest, gotestsum, gradle, maven, rspec, nextest];

/** The parts of each launcher before the name of the runner; longer ones first. */
const launchers: readonly (readonly string[])[] = [
  ['npm', 'exec', '--'],
  ['uv', 'run', '--frozen'],
  ['uv', 'run', '--locked'],
  ['uv', 'run', '--no-sync'],
  ['npx', '--yes'],
  ['npx', '-y'],
  ['npx', '--no-install'],
  ['pnpm', 'exec'],
  ['yarn', 'run'],
  ['yarn', 'exec'],
  ['uv', 'run'],
  ['poetry', 'run'],
  ['pipenv', 'run'],
  ['bundle', 'exec'],
  ['python', '-m'],
  ['npx'],
  ['pnpm'],
  ['yarn'],
  ['bunx'],
];

/** Most bytes of a narrowed command. Linux accepts 128 KiB for one argument. */
const commandBytesMax = 100_000;

/** Whether the runner of this command is known and can run named tests. */
export const canSelect = (command: readonly string[]): boolean => findRunner(command) !== null;

/** Null: the command cannot be narrowed to these tests, so it must run everything. */
export function selectTests(
  command: readonly string[],
  tests: readonly SelectedTest[],
  place: SelectionPlace,
): NarrowedCommand | null {
  const found = findRunner(command);
  if (found === null || tests.length === 0 || !tests.every(isComplete)) return null;
  const { runner, before, args } = found;
  const narrowed = runner.narrow(args, tests, place);
  if (narrowed === null) return null;
  const parts = [...before, ...narrowed.args];
  const bytes = parts.reduce((sum, part) => sum + Buffer.byteLength(part) + 1, 0);
  return bytes > commandBytesMax ? null : { command: parts, plugins: narrowed.plugins };
}

/** Whether the names are those of the runner: longer ones were cut, and no argument can contain a zero byte. */
const isComplete = (test: SelectedTest): boolean =>
  [test.name, test.classname, test.file].every(
    (text) => text.length < defaultReportLimits.nameLengthMax && !text.includes('\0'),
  );

type FoundRunner = {
  readonly runner: Runner;
  /** The launchers and the program. */
  readonly before: readonly string[];
  readonly args: readonly string[];
};

function findRunner(command: readonly string[]): FoundRunner | null {
  const at = countLauncherParts(command);
  const program = programName(command[at] ?? '');
  const args = command.slice(at + 1);
  const runner = runners.find(({ programs, accepts }) => programs.includes(program) && accepts(args));
  return runner === undefined ? null : { runner, before: command.slice(0, at + 1), args };
}

/** Launchers can follow each other: `uv run python -m pytest`. */
function countLauncherParts(command: readonly string[]): number {
  const [program, ...rest] = command;
  const parts = [programName(program ?? ''), ...rest];
  const launcher = launchers.find((candidate) => candidate.every((part, index) => parts[index] === part));
  return launcher === undefined ? 0 : launcher.length + countLauncherParts(command.slice(launcher.length));
}

/** `/usr/bin/python3.12` is `python`, `.\gradlew.bat` is `gradlew`. */
const programName = (part: string): string =>
  win32
    .basename(posix.basename(part))
    .replace(/\.(?:exe|cmd|bat)$/i, '')
    .replace(/^python[\d.]+$/, 'python');
