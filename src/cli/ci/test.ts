// `signalbox test -- <command>`: runs the tests, sends their reports, and says of each failure whether it was the change.
// The run must not depend on us: whatever goes wrong here, the command's own exit code stands.

import { randomUUID } from 'node:crypto';
import type { CiEnvironment } from '#config/ci.ts';
import type { Given } from '../command.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { findPlace, parseOptions, type CiWishes } from './ci-options.ts';
import { decideExitCode, type Ending, type Judgement } from './decide-exit-code.ts';
import { createPrinter, type Printer } from './printer.ts';
import { findReports, readReports, type ReadReports, type ReportFile, writtenSince } from './report-files.ts';
import { runCommand } from './run-command.ts';
import { submitReports, type Submission } from './submit.ts';
import { decisionLine, summarise } from './summary.ts';
import type { CiContext } from './upload.ts';

export async function test(context: CiContext, { args: [typed], options }: Given): Promise<number> {
  const command = typed as readonly string[];
  const wishes = parseOptions(options, context.env);
  const { cwd, env } = context;
  // What is there before the command runs is not its work. If that cannot be told, nothing is sent.
  const before = await findReports(cwd, wishes.patterns).catch((error: unknown) => error as Error);
  // The tested code may be unreviewed: it does not get the token.
  const { SIGNALBOX_API_TOKEN: _token, ...commandEnv } = env;
  const end = await runCommand(command, cwd, commandEnv);
  if (end.kind === 'not-started') {
    console.error(`Signalbox: ${plainLine(end.why)}`);
    return end.code;
  }
  if (end.isInterrupted) return end.ending.code;
  const printer = createPrinter(process.stderr);
  try {
    return await judge(context, wishes, command, end.ending, before, printer);
  } catch (error) {
    const why = `Signalbox: the exit code stays ${end.ending.code}: ${plainLine((error as Error).message, 500)}`;
    printer.print([{ tone: 'plain', text: why }]);
    return end.ending.code;
  }
}

async function judge(
  { cwd, env, version }: CiContext,
  wishes: CiWishes,
  command: readonly string[],
  ending: Ending,
  before: readonly ReportFile[] | Error,
  printer: Printer,
): Promise<number> {
  if (before instanceof Error) throw before;
  printer.step('reading reports');
  const written = writtenSince(before, await findReports(cwd, wishes.patterns));
  const reports = await readReports(cwd, written);
  const submission =
    reports.files.length === 0
      ? null
      : await submitReports(
          {
            cwd,
            wishes,
            place: await placeOfRun(wishes, env, cwd),
            command: plainLine(command.join(' '), 1_000),
            version,
            onStep: printer.step,
          },
          reports,
        );
  const { failureCodes, missingPercentMax } = wishes;
  const decision = decideExitCode({
    ending,
    failureCodes,
    missingPercentMax,
    reports: countsOf(reports),
    judgement: judgementOf(submission),
  });
  const lastLine = decisionLine(decision);
  // What went wrong on the way is told once.
  const told = lastLine !== null && submission?.kind !== 'judged' ? null : submission;
  if (reports.files.length > 0) printer.print(summarise(reports, told));
  else if (ending.code === 0)
    printer.print([{ tone: 'warning', text: 'Signalbox: the command wrote no test report. See --junit.' }]);
  printer.print(lastLine === null ? [] : [lastLine]);
  return decision.exitCode;
}

/** Two runs may write the same report, byte for byte. Where CI does not number them, we do. */
async function placeOfRun(...args: Parameters<typeof findPlace>): Promise<CiEnvironment> {
  const place = await findPlace(...args);
  return place.runId === '' ? { ...place, runId: randomUUID() } : place;
}

const countsOf = ({ files, unread, outcomes }: ReadReports) => ({
  files: files.length,
  unread: unread.length,
  failed: outcomes.failed,
});

function judgementOf(submission: Submission | null): Judgement {
  if (submission === null) return { kind: 'absent', why: 'Nothing was sent.' };
  return submission.kind === 'judged' ? submission : { kind: 'absent', why: submission.why };
}
