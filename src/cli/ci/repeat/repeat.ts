// Runs some tests of the user's command once more, and keeps the reports: a repeat overwrites those of the run before.

import { copyFile, mkdir } from 'node:fs/promises';
import { createReadStream } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import type { CiEnv } from '#config/ci-environment.ts';
import type { SelectedTest } from '#contract/health/test-selection.ts';
import { readContent } from '#report/bundle/content.ts';
import type { CiOptions } from '../ci-options.ts';
import { findReports, type ReportFile, writtenSince } from '../report-files.ts';
import type { CommandEnd } from '../run-command.ts';
import { runNarrowed } from '../run-narrowed.ts';
import type { CaseFields } from './shake-result.ts';

export type RepeatDeps = {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: CiEnv;
  readonly ciOptions: CiOptions;
};

/** Cases of reports that are kept. */
export const casesMax = 200_000;

export async function readCases(cwd: string, files: readonly ReportFile[]): Promise<readonly CaseFields[]> {
  const cases: CaseFields[] = [];
  for (const { path } of files)
    await readContent(createReadStream(resolve(cwd, path)), {
      onCase: ({ name, classname, parent, file, variant, ownId, outcome }) => {
        if (cases.length <= casesMax) cases.push({ name, classname, parent, file, variant, ownId, outcome });
      },
    });
  return cases;
}

/** Copies reports into the folder; answers with the copies. */
async function copyReports(
  cwd: string,
  files: readonly ReportFile[],
  folder: string,
): Promise<readonly ReportFile[]> {
  const copies: ReportFile[] = [];
  for (const [index, file] of files.entries()) {
    const path = join(folder, String(index), basename(file.path));
    await mkdir(dirname(path), { recursive: true });
    await copyFile(resolve(cwd, file.path), path);
    copies.push({ ...file, path });
  }
  return copies;
}

/** Other steps of the job may read the reports of the first run: after the repeats they are there again. */
export async function keepReports<Result>(
  cwd: string,
  reports: readonly ReportFile[],
  folder: string,
  repeat: () => Promise<Result>,
): Promise<Result> {
  const kept = await copyReports(cwd, reports, join(folder, 'suite'));
  try {
    return await repeat();
  } finally {
    for (const [index, { path }] of reports.entries()) {
      await mkdir(dirname(resolve(cwd, path)), { recursive: true });
      await copyFile(kept[index]!.path, resolve(cwd, path));
    }
  }
}

export type Repeat = {
  readonly end: Extract<CommandEnd, { kind: 'ended' }>;
  readonly files: readonly ReportFile[];
  readonly cases: readonly CaseFields[];
};

type RepeatRequest = {
  readonly tests: readonly SelectedTest[];
  readonly timeoutMs: number;
  /** The temporary folder for its reports; all of them are in its parent folder. */
  readonly folder: string;
};

/** The temporary folder may be below that of the command, and is no place of reports then. */
const isOutside = (cwd: string, folder: string) => (file: ReportFile) =>
  !resolve(cwd, file.path).startsWith(`${folder}${sep}`);

/** Null: the command cannot run only these tests. A text: why there is no repeat. */
export async function repeatOnce(
  { command, cwd, env, ciOptions }: RepeatDeps,
  { tests, timeoutMs, folder }: RepeatRequest,
): Promise<Repeat | string | null> {
  const before = await findReports(cwd, ciOptions.patterns);
  const end = await runNarrowed({ command, cwd, env, isRepeat: true, timeoutMs }, tests);
  if (end === null) return null;
  if (end.kind === 'not-started') return end.why;
  if (end.isInterrupted) return 'The run was interrupted.';
  // A report of a terminated command may be cut anywhere.
  if (end.isTimedOut) return { end, files: [], cases: [] };
  const written = writtenSince(before, await findReports(cwd, ciOptions.patterns));
  const files = await copyReports(cwd, written.filter(isOutside(cwd, dirname(folder))), folder);
  return { end, files, cases: await readCases(cwd, files) };
}
