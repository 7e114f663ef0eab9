// What every command has: its context, examples that a test runs, and an exit code.

import type { Command } from 'commander';
import type { CiEnv } from '#config/ci-environment.ts';

export type CliContext = {
  readonly cwd: string;
  readonly env: CiEnv;
  readonly version: string;
  /** All arguments after `signalbox`. */
  readonly args: readonly string[];
  /** Runs a command of the service itself. Undefined: the service runs until a signal ends it. */
  readonly service: (args: readonly string[]) => Promise<number | undefined>;
};

export type Example = {
  /** As typed, from `signalbox` on. */
  readonly line: string;
  /** A short description, verb first. */
  readonly does: string;
};

/** The input of a command: its parsed arguments, and its options with those of its parents. */
export type Given = {
  readonly args: readonly unknown[];
  readonly options: Readonly<Record<string, unknown>>;
};

/** The exit code; undefined: work is still in progress, and the process exits when it is done. */
type CommandAction = (given: Given) => Promise<number | undefined>;

export type Cli = {
  readonly program: Command;
  readonly context: CliContext;
  /** Sets the action of a command. */
  readonly run: (command: Command, act: CommandAction) => void;
};

/** Adds one command, or one family of them, to the program. */
export type AddCommand = (cli: Cli) => void;

const examples = new WeakMap<Command, readonly Example[]>();

export const listCommandExamples = (command: Command): readonly Example[] => examples.get(command) ?? [];

export function withExamples(command: Command, ...list: readonly Example[]): Command {
  examples.set(command, list);
  const lines = list.map(({ line, does }) => `  $ ${line}\n      ${does}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
