// `signalbox test -- <command>`: runs the tests, sends their reports, and reports for each failure whether
// the change caused it. The run must not depend on Signalbox: if anything fails here, the command's own exit
// code is kept.

import { randomUUID } from 'node:crypto';
import type { CiEnvironment } from '#config/ci-environment.ts';
import type { Given } from '../command.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { findPlace, parseOptions, type CiOptions } from './ci-options.ts';
import {
  decideExitCode,
  type Ending,
  type ExitDecision,
  type UploadClassification,
} from './decide-exit-code.ts';
import { describeFailures } from './failure/job-report.ts';
import { createPrinter, type Printer } from './printer.ts';
import { findReports, readReports, type ReadReports, type ReportFile, writtenSince } from './report-files.ts';
import { repeatFixed, type RepeatedFix } from './repeat/repeat-fixed.ts';
import { type NarrowedTests, runTests } from './run-tests.ts';
import { canSelect } from './selection/select-tests.ts';
import { type Shaken, shakeNew } from './repeat/shake-new.ts';
import { isFlaky, shakeLines } from './repeat/shake-result.ts';
import { inSection, showInCi } from './failure/show-in-ci.ts';
import { submitReports, type Submission } from './submit.ts';
import { decisionLine, summarise } from './summary.ts';
import type { CiContext } from './upload.ts';

export async function test(context: CiContext, { args: [typed], options }: Given): Promise<number> {
  const command = typed as readonly string[];
  const ciOptions = parseOptions(options, context.env);
  const { cwd, env } = context;
  const printer = createPrinter(process.stderr);
  // Reports from before the command are not its work. If they cannot be listed, nothing is sent.
  const before = await findReports(cwd, ciOptions.patterns).catch((error: unknown) => error as Error);
  const startedAt = performance.now();
  const { end, narrowed } = await runTests({ command, cwd, env, ciOptions, before, printer });
  const suiteMs = performance.now() - startedAt;
  if (end.kind === 'not-started') {
    console.error(`Signalbox: ${plainLine(end.why)}`);
    return end.code;
  }
  if (end.isInterrupted) return end.ending.code;
  try {
    const run = { command, ending: end.ending, narrowed, before, suiteMs };
    return await decideByReports(context, ciOptions, run, printer);
  } catch (error) {
    const why = `Signalbox: the exit code stays ${end.ending.code}: ${plainLine((error as Error).message, 500)}`;
    printer.print([{ tone: 'plain', text: why }]);
    return end.ending.code;
  }
}

type FinishedRun = {
  readonly command: readonly string[];
  readonly ending: Ending;
  /** The tests that ran, if they were not all; null: all. */
  readonly narrowed: NarrowedTests | null;
  readonly before: readonly ReportFile[] | Error;
  readonly suiteMs: number;
};

type SubmittedRun = {
  readonly reports: ReadReports;
  readonly submission: Submission | null;
  /** The upload has repeats too. */
  readonly isRepeated: boolean;
};

async function decideByReports(
  context: CiContext,
  ciOptions: CiOptions,
  run: FinishedRun,
  printer: Printer,
): Promise<number> {
  const { cwd } = context;
  if (run.before instanceof Error) throw run.before;
  printer.step('reading reports');
  const written = writtenSince(run.before, await findReports(cwd, ciOptions.patterns));
  const reports = await readReports(cwd, written);
  const shaken = await shakeFinished(context, ciOptions, run, reports, printer);
  const fixed = await repeatFinished(context, ciOptions, run, reports, printer);
  const files = [...reports.files, ...(shaken?.files ?? []), ...(fixed?.files ?? [])];
  const { repeats = 1, failed = null } = fixed ?? {};
  const submission = await submitRun(context, ciOptions, { ...run, repeats }, { ...reports, files }, printer);
  await shaken?.close();
  await fixed?.close();
  const isRepeated = shaken !== null || fixed !== null;
  const decision = decideAndPrint(context, ciOptions, run, { reports, submission, isRepeated }, printer);
  await showInCi(
    { ...context, gitlabFile: ciOptions.gitlabFile },
    describeFailures({ reports, submission, decision, shaken: shaken?.result ?? null }),
  );
  const exitCode = decision.exitCode === 0 && failed !== null ? failed.code : decision.exitCode;
  const result = shaken?.result ?? null;
  if (result === null) return exitCode;
  printer.print(shakeLines(result));
  if (ciOptions.shake?.mode !== 'enforce' || exitCode !== 0 || !result.tests.some(isFlaky)) return exitCode;
  printer.print([
    { tone: 'bad', text: 'Signalbox: the exit code is now 1: a new test both passed and failed.' },
  ]);
  return 1;
}

/** Repeats the tests of a run that verifies a fix, if they passed the first time. */
async function repeatFinished(
  { cwd, env }: CiContext,
  ciOptions: CiOptions,
  { command, ending, narrowed }: FinishedRun,
  { files: reports }: ReadReports,
  printer: Printer,
): Promise<RepeatedFix | null> {
  if (narrowed === null || narrowed.repeats === 1 || ending.code !== 0 || reports.length === 0) return null;
  return repeatFixed({ ...narrowed, command, cwd, env, ciOptions, reports, printer });
}

/** Repeats new tests, if that is wanted and the suite ran to its end. */
async function shakeFinished(
  { cwd, env }: CiContext,
  ciOptions: CiOptions,
  { command, ending, narrowed, suiteMs }: FinishedRun,
  reports: ReadReports,
  printer: Printer,
): Promise<Shaken | null> {
  const isFinished =
    ending.kind === 'exited' && (ending.code === 0 || ciOptions.failureCodes.includes(ending.code));
  if (ciOptions.shake === null || narrowed !== null || !isFinished || reports.files.length === 0) return null;
  const { budget } = ciOptions.shake;
  return shakeNew({ command, cwd, env, ciOptions, budget, reports: reports.files, suiteMs, printer });
}

async function submitRun(
  { cwd, env, version }: CiContext,
  ciOptions: CiOptions,
  { command, repeats }: FinishedRun & Pick<RepeatedFix, 'repeats'>,
  reports: ReadReports,
  printer: Printer,
): Promise<Submission | null> {
  if (reports.files.length === 0) return null;
  return submitReports(
    {
      cwd,
      env,
      ciOptions,
      place: await placeOfRun(ciOptions, env, cwd),
      command: plainLine(command.join(' '), 1_000),
      canSelectTests: !ciOptions.isAllTests && canSelect(command),
      repeats,
      version,
      onStep: printer.step,
    },
    reports,
  );
}

function decideAndPrint(
  { env }: CiContext,
  { failureCodes, missingPercentMax }: CiOptions,
  { ending, narrowed }: FinishedRun,
  { reports, submission, isRepeated }: SubmittedRun,
  printer: Printer,
): ExitDecision {
  const isNarrowed = narrowed !== null;
  const decision = decideExitCode({
    ending,
    failureCodes,
    missingPercentMax,
    isNarrowed,
    isRepeated,
    reports: countReports(reports),
    classification: toUploadClassification(submission),
  });
  const lastLine = decisionLine(decision);
  // A failed submission is reported only once.
  const shownSubmission = lastLine !== null && submission?.kind !== 'classified' ? null : submission;
  if (reports.files.length > 0)
    printer.print(inSection(env, summarise(reports, shownSubmission), new Date()));
  else if (ending.code === 0 && !isNarrowed)
    printer.print([{ tone: 'warning', text: 'Signalbox: the command wrote no test report. See --junit.' }]);
  printer.print(lastLine === null ? [] : [lastLine]);
  return decision;
}

/** Two runs may write the same report, byte for byte. If CI does not number its runs, Signalbox does. */
async function placeOfRun(...args: Parameters<typeof findPlace>): Promise<CiEnvironment> {
  const place = await findPlace(...args);
  return place.runId === '' ? { ...place, runId: randomUUID() } : place;
}

const countReports = ({ files, unread, outcomes }: ReadReports) => ({
  files: files.length,
  unread: unread.length,
  failed: outcomes.failed,
});

function toUploadClassification(submission: Submission | null): UploadClassification {
  if (submission === null) return { kind: 'absent', why: 'Nothing was sent.' };
  return submission.kind === 'classified' ? submission : { kind: 'absent', why: submission.why };
}
