// `signalbox upload`: sends test reports that are already there.

import type { CiEnv } from '#config/ci.ts';
import type { Given } from '../command.ts';
import { findPlace, parseOptions } from './ci-options.ts';
import { createPrinter, type Printer } from './printer.ts';
import { findReports, readReports } from './report-files.ts';
import { submitReports, type Submission } from './submit.ts';
import { summarise } from './summary.ts';

export type CiContext = {
  readonly cwd: string;
  readonly env: CiEnv;
  readonly version: string;
};

export async function upload({ cwd, env, version }: CiContext, { options }: Given): Promise<number> {
  const wishes = parseOptions(options, env);
  const printer = createPrinter(process.stdout);
  const refused = (why: string): number => {
    if (wishes.isJson) console.log(JSON.stringify({ upload: null, why }));
    else printer.print([{ tone: 'bad', text: `Signalbox: nothing was sent. ${why}` }]);
    return wishes.mayFail ? 0 : 1;
  };
  try {
    const reports = await readReports(cwd, await findReports(cwd, wishes.patterns));
    if (reports.files.length === 0)
      return refused(
        wishes.patterns.length === 0
          ? 'No report is in the usual places: give --junit GLOB.'
          : `No file matches ${wishes.patterns.join(', ')}.`,
      );
    const place = await findPlace(wishes, env, cwd);
    const onStep = printer.step;
    const submission = await submitReports({ cwd, wishes, place, command: '', version, onStep }, reports);
    printer.clear();
    if (submission.kind === 'absent' && wishes.isJson) return refused(submission.why);
    show(printer, wishes.isJson, submission, () => summarise(reports, submission));
    return submission.kind === 'absent' && !wishes.mayFail ? 1 : 0;
  } catch (error) {
    printer.clear();
    return refused((error as Error).message);
  }
}

function show(
  printer: Printer,
  isJson: boolean,
  submission: Submission,
  lines: () => ReturnType<typeof summarise>,
) {
  if (!isJson) printer.print(lines());
  else if (submission.kind === 'judged') console.log(JSON.stringify({ upload: submission.upload, why: '' }));
  else console.log(JSON.stringify({ upload: null, why: submission.why }));
}
