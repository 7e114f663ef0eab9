// `signalbox upload`: sends test reports that are already there.

import type { CiEnv } from '#config/ci-environment.ts';
import type { Given } from '../command.ts';
import { findPlace, parseOptions } from './ci-options.ts';
import { describeFailures } from './failure/job-report.ts';
import { createPrinter, type Printer } from './printer.ts';
import { findReports, readReports } from './report-files.ts';
import { inSection, showInCi } from './failure/show-in-ci.ts';
import { submitReports, type Submission } from './submit.ts';
import { summarise } from './summary.ts';

export type CiContext = {
  readonly cwd: string;
  readonly env: CiEnv;
  readonly version: string;
};

export async function upload({ cwd, env, version }: CiContext, { options }: Given): Promise<number> {
  const ciOptions = parseOptions(options, env);
  const printer = createPrinter(process.stdout);
  const refused = (why: string): number => {
    if (ciOptions.isJson) console.log(JSON.stringify({ upload: null, why }));
    else printer.print([{ tone: 'bad', text: `Signalbox: nothing was uploaded. ${why}` }]);
    return ciOptions.mayFail ? 0 : 1;
  };
  try {
    const reports = await readReports(cwd, await findReports(cwd, ciOptions.patterns));
    if (reports.files.length === 0)
      return refused(
        ciOptions.patterns.length === 0
          ? 'There is no report in the usual places. Use --junit GLOB.'
          : `No file matches ${ciOptions.patterns.join(', ')}. Check --junit.`,
      );
    const place = await findPlace(ciOptions, env, cwd);
    const onStep = printer.step;
    const command = { command: '', canSelectTests: false };
    const deps = { cwd, env, ciOptions, place, ...command, version, onStep };
    const submission = await submitReports(deps, reports);
    printer.clear();
    if (submission.kind === 'absent' && ciOptions.isJson) return refused(submission.why);
    show(printer, ciOptions.isJson, submission, () =>
      inSection(env, summarise(reports, submission), new Date()),
    );
    const { gitlabFile } = ciOptions;
    if (!ciOptions.isJson)
      await showInCi({ cwd, env, gitlabFile }, describeFailures({ reports, submission }));
    return submission.kind === 'absent' && !ciOptions.mayFail ? 1 : 0;
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
  else if (submission.kind === 'classified')
    console.log(JSON.stringify({ upload: submission.upload, why: '' }));
  else console.log(JSON.stringify({ upload: null, why: submission.why }));
}
