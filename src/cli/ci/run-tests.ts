// Runs the user's tests: all of them or, while the queue looks for the change that broke some, only those. A run that verifies
// a fix runs one test, again and again (repeat/repeat-fixed.ts).
//
//   1. The service is asked which tests of the job are enough for the commit. Without an answer, all tests run.
//   2. The command is narrowed to these tests. If that is not possible, all tests run.
//   3. If the narrowed command fails and no report shows a failed test, the reason may be that tests are missing:
//      a package is gone, or too few lines are covered. Then all tests run after all.
//
// So a narrowed run fails only if a test failed. It may pass without a test that does not exist in this commit; that
// is harmless, because nothing merges by a narrowed run.

import { countText } from '#base/number-text.ts';
import type { CiEnv } from '#config/ci-environment.ts';
import type { SelectedTest } from '#contract/health/test-selection.ts';
import { ServiceError } from '../client/transport.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { type CiOptions, findPlace } from './ci-options.ts';
import { createClient } from './client.ts';
import type { Printer } from './printer.ts';
import { findReports, readReports, type ReportFile, writtenSince } from './report-files.ts';
import { type CommandEnd, runCommand } from './run-command.ts';
import { runNarrowed, withoutToken } from './run-narrowed.ts';
import { findJobToken } from '../client/ci-identity.ts';
import { canSelect } from './selection/select-tests.ts';

export type TestCommand = {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: CiEnv;
  readonly ciOptions: CiOptions;
  /** The reports from before the command. */
  readonly before: readonly ReportFile[] | Error;
  readonly printer: Printer;
};

export type TestCommandEnd = {
  readonly end: CommandEnd;
  /** The tests that ran, if they were not all; null: all. */
  readonly narrowed: NarrowedTests | null;
};

export type NarrowedTests = {
  readonly tests: readonly SelectedTest[];
  /** How often they should run in all. */
  readonly repeats: number;
};

export async function runTests(testCommand: TestCommand): Promise<TestCommandEnd> {
  const selected = await findSelection(testCommand);
  if (selected?.tests.length === 0) {
    printLine(
      testCommand.printer,
      'runs no test: those that failed before are of other jobs. See --all-tests.',
    );
    return { end: withoutTests, narrowed: selected };
  }
  if (selected !== null) {
    const end = await runSelected(testCommand, selected);
    if (end !== null && !(await isInconclusive(testCommand, end))) return { end, narrowed: selected };
  }
  const { command, cwd, env } = testCommand;
  return { end: await runCommand(command, cwd, withoutToken(env)), narrowed: null };
}

const withoutTests: CommandEnd = {
  kind: 'ended',
  ending: { kind: 'exited', code: 0 },
  isInterrupted: false,
  isTimedOut: false,
};

const printLine = (printer: Printer, text: string): void =>
  printer.print([{ tone: 'plain', text: `Signalbox: ${text}` }]);

/** The tests that are enough. Null: all tests are needed, or it is not known. */
async function findSelection(testCommand: TestCommand): Promise<NarrowedTests | null> {
  const { command, cwd, env, ciOptions, printer } = testCommand;
  const { url } = ciOptions.client;
  if (ciOptions.isAllTests || url === null || !canSelect(command)) return null;
  try {
    const { repository, sha, job } = await findPlace(ciOptions, env, cwd);
    if (repository === null || sha === null) return null;
    const token = await findJobToken(ciOptions.client, url, env, { repository, sha });
    if (token === null) return null;
    const { tests, repeats } = await createClient({ url, token }).getTestSelection(repository, sha, job);
    return tests === null ? null : { tests, repeats };
  } catch (error) {
    // An older service has no such endpoint, and a new repository is not known yet.
    if (error instanceof ServiceError && error.status === 404) return null;
    const why = plainLine((error as Error).message, 500);
    printLine(printer, `runs all tests, because it is not known which ones are enough. ${why}`);
    return null;
  }
}

/** Null: the command cannot be narrowed to these tests. */
async function runSelected(
  { command, cwd, env, printer }: TestCommand,
  { tests, repeats }: NarrowedTests,
): Promise<CommandEnd | null> {
  const failed = `${countText(tests.length, 'test')} that failed before`;
  const them = tests.length === 1 ? 'it' : 'them';
  const why =
    repeats > 1 ? `up to ${repeats} times, to verify its fix` : `to find the change that broke ${them}`;
  const onStart = () => printLine(printer, `runs only the ${failed}, ${why}. See --all-tests.`);
  try {
    const end = await runNarrowed({ command, cwd, env, onStart }, tests);
    if (end === null)
      printLine(printer, `runs all tests, because the command cannot run only the ${failed}.`);
    return end;
  } catch (error) {
    printLine(printer, `runs all tests. ${plainLine((error as Error).message, 500)}`);
    return null;
  }
}

/** Whether the narrowed command failed for another reason than a failed test. */
async function isInconclusive(
  { cwd, ciOptions, before, printer }: TestCommand,
  end: CommandEnd,
): Promise<boolean> {
  if (end.kind === 'not-started') return true;
  if (end.isInterrupted || end.ending.code === 0) return false;
  if (!(before instanceof Error)) {
    const written = writtenSince(before, await findReports(cwd, ciOptions.patterns).catch(() => []));
    if ((await readReports(cwd, written)).outcomes.failed > 0) return false;
  }
  printLine(printer, `exit code ${end.ending.code}, and no report shows a failed test. Now all tests run.`);
  return true;
}
