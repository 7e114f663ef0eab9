// A runner is a program that runs tests and can run some of them by name. What the runners share.
//
// There are two ways to select tests. Some runners take names as arguments: a pattern of names and, if the user
// named no files, the files. Others load a plugin, a small file that Signalbox writes: a list of classes, or code that
// compares each test that the runner found with the selection. A plugin leaves the arguments of the user as they
// are, and keeps the names of tests out of the arguments.
//
// A selection may run more than it names, never less: where a name is ambiguous, every test that it may mean
// runs. Arguments of the user that select tests stay, so a job never runs a test that is not its own.

import type { SelectedTest } from '#contract/health/test-selection.ts';

export type SelectionPlugin = {
  /** The name of the file. */
  readonly name: string;
  readonly text: string;
  /** The variable with the folders in which the runner searches for plugins; null: the path is an argument. */
  readonly folderVariable: 'PYTHONPATH' | null;
};

type NarrowedArgs = {
  readonly args: readonly string[];
  readonly plugins: readonly SelectionPlugin[];
};

export type SelectionPlace = {
  /** Whether there is a file at this path, relative to the folder of the command. */
  readonly exists: (path: string) => boolean;
  /** The folder into which plugins are written. */
  readonly pluginFolder: string;
  /** True: the tests must run, even if the runner remembers their results. Default false. */
  readonly isRepeat?: boolean;
};

export type Runner = {
  /** Names of the program, without its folder. */
  readonly programs: readonly string[];
  /** Whether the arguments run tests, and do not select them in a way that excludes another selection. */
  readonly accepts: (args: readonly string[]) => boolean;
  /** Arguments with which only the tests run. Null: one of the tests cannot be selected. */
  readonly narrow: (
    args: readonly string[],
    tests: readonly SelectedTest[],
    place: SelectionPlace,
  ) => NarrowedArgs | null;
};

/** Whether one of the options is given, alone or with its value: `--name`, `--name=value`. */
export const hasOption = (args: readonly string[], names: readonly string[]): boolean =>
  args.some((arg) => names.some((name) => arg === name || arg.startsWith(`${name}=`)));

/**
 * The arguments that are neither options nor the value of an option in `optionsWithValue`. The value of any other
 * option is taken for such an argument too: a runner may get too few restrictions to files, never wrong ones.
 */
export const freeArguments = (
  args: readonly string[],
  optionsWithValue: ReadonlySet<string>,
): readonly string[] =>
  args.filter((arg, index) => !arg.startsWith('-') && !optionsWithValue.has(args[index - 1] ?? ''));

/** The text as a part of a regular expression that matches it literally, in JavaScript and in Go. */
export const quotePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** Text that can stand in quotes in the source of any plugin, whatever the names of the tests contain. */
export const encodeNames = (names: readonly unknown[]): string =>
  Buffer.from(JSON.stringify(names)).toString('base64');
