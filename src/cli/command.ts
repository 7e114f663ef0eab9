// What every command of the command line has: where it runs, examples that a test runs, and an exit code.

import type { Command } from 'commander';
import type { CiEnv } from '#config/ci.ts';
import type { DemoWishes } from './demo.ts';

export type CliContext = {
  readonly cwd: string;
  readonly env: CiEnv;
  readonly version: string;
  /** All that was typed after `signalbox`. */
  readonly args: readonly string[];
  /** Runs a command of the service itself. Undefined: it goes on until a signal ends it. */
  readonly service: (args: readonly string[]) => Promise<number | undefined>;
  /** Runs the demo until it ends. */
  readonly demo: (wishes: DemoWishes) => Promise<number>;
};

export type Example = {
  /** As typed, from `signalbox` on. */
  readonly line: string;
  /** What it does, in a few words. */
  readonly does: string;
};

/** What a command was given: its arguments as they were parsed, and its options with those of its parents. */
export type Given = {
  readonly args: readonly unknown[];
  readonly options: Readonly<Record<string, unknown>>;
};

/** Exit code; undefined: something goes on, and the process ends by itself. */
type Act = (given: Given) => Promise<number | undefined>;

export type Cli = {
  readonly program: Command;
  readonly context: CliContext;
  /** Says what the command does when it is called. */
  readonly run: (command: Command, act: Act) => void;
};

/** Adds one command, or one family of them, to the program. */
export type AddCommand = (cli: Cli) => void;

const examples = new WeakMap<Command, readonly Example[]>();

export const examplesOf = (command: Command): readonly Example[] => examples.get(command) ?? [];

export function withExamples(command: Command, ...list: readonly Example[]): Command {
  examples.set(command, list);
  const lines = list.map(({ line, does }) => `  $ ${line}\n      ${does}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}
