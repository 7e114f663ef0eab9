// Finds test reports by glob, detects which of them a command wrote, and reads them as the service will.

import { createReadStream } from 'node:fs';
import { glob, readdir, stat } from 'node:fs/promises';
import { basename, isAbsolute, relative, resolve } from 'node:path';
import type { ReportedCase, RunOutcome } from '#core/health/reported-case.ts';
import { readContent } from '#report/bundle/content.ts';
import { failureLine, messageLines } from './failure/failure-text.ts';
import { formatTestName } from './test-name.ts';

/** The file names that runners and their guides use for reports, for when no pattern is given. */
const isReportName = (name: string): boolean =>
  /^(?:junit|TEST-).*\.xml$/.test(name) ||
  name.endsWith('junit.xml') ||
  (name.endsWith('.json') && name.includes('ctrf'));
/** Such folders hold other files too: a file that is not a report is ignored. */
const reportFolders: ReadonlySet<string> = new Set([
  'test-results',
  'test-reports',
  'surefire-reports',
  'failsafe-reports',
  'reports',
]);
/** Bazel's link to where its reports are. */
const bazelFolder = 'bazel-testlogs';

/** A glob that matches more files is a mistake. */
const filesMax = 10_000;
const bytesMax = 512 * 1024 * 1024;

/** Reports in these folders belong to the tests of other projects. */
const skippedFolders: ReadonlySet<string> = new Set(['node_modules', '.git']);

export type ReportFile = {
  /** Relative to the folder that was searched. */
  readonly path: string;
  readonly bytes: number;
  /** Changes when the file is written again. */
  readonly stamp: string;
  /** The file was found without a pattern, so it may be something other than a report. */
  readonly isGuess: boolean;
};

type Found = { readonly path: string; readonly isGuess: boolean };

/** `patterns` empty: the usual places. */
export async function findReports(cwd: string, patterns: readonly string[]): Promise<readonly ReportFile[]> {
  const found =
    patterns.length > 0
      ? (await matchFiles(cwd, patterns, { max: filesMax, advice: 'Use a narrower --junit.' })).map(
          (path) => ({
            path,
            isGuess: false,
          }),
        )
      : [...(await scanFolder(cwd, '', false)), ...(await scanFolder(cwd, bazelFolder, true))];
  if (found.length > filesMax)
    throw new Error(`There are more than ${filesMax} reports. Select fewer with --junit.`);
  const files: ReportFile[] = [];
  for (const { path, isGuess } of found) {
    // A file may disappear after the search has found it.
    const facts = await stat(resolve(cwd, path), { bigint: true }).catch(() => null);
    if (facts?.isFile() !== true) continue;
    const stamp = `${facts.dev}:${facts.ino}:${facts.size}:${facts.mtimeNs}`;
    files.push({ path, bytes: Number(facts.size), stamp, isGuess });
  }
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

/**
 * Lists every file that may be a report, by its name or its folder, without links to folders and hidden
 * folders. It is a single walk, since it runs before each command: with a glob for each place it takes ten
 * times as long.
 */
async function scanFolder(cwd: string, folder: string, isReports: boolean): Promise<readonly Found[]> {
  const entries = await readdir(resolve(cwd, folder), { withFileTypes: true }).catch(() => []);
  const found: Found[] = [];
  for (const entry of entries) {
    const { name } = entry;
    const path = folder === '' ? name : `${folder}/${name}`;
    if (entry.isDirectory()) {
      if (name.startsWith('.') || skippedFolders.has(name) || path === bazelFolder) continue;
      found.push(...(await scanFolder(cwd, path, isReports || reportFolders.has(name))));
    } else if (isReportName(name)) found.push({ path, isGuess: false });
    else if (isReports && name.endsWith('.xml')) found.push({ path, isGuess: true });
  }
  return found;
}

/** The files that match one of the globs, without those of other projects; `max`: more than so many are an error. */
export async function matchFiles(
  cwd: string,
  patterns: readonly string[],
  { max, advice }: { readonly max: number; readonly advice: string },
): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const pattern of patterns) {
    // A pattern that names a skipped folder includes it.
    const wanted = new Set(pattern.split('/'));
    const exclude = (path: string) => skippedFolders.has(basename(path)) && !wanted.has(basename(path));
    for await (const path of glob(pattern, { cwd, exclude })) {
      found.add(isAbsolute(path) ? relative(cwd, path) : path);
      if (found.size > max) throw new Error(`More than ${max} files match ${pattern}. ${advice}`);
    }
  }
  return [...found];
}

/** New or changed files: by their state in the file system, not by a clock. */
export function writtenSince(
  before: readonly ReportFile[],
  after: readonly ReportFile[],
): readonly ReportFile[] {
  const stamps = new Map(before.map(({ path, stamp }) => [path, stamp]));
  return after.filter(({ path, stamp }) => stamps.get(path) !== stamp);
}

type UnreadReport = { readonly file: string; readonly why: string };

export type ReadReports = {
  /** Those that are reports. */
  readonly files: readonly ReportFile[];
  /** By the outcome of each test in the reports; the same test in two reports counts twice. */
  readonly outcomes: Readonly<Record<RunOutcome, number>>;
  /** The first failed tests. */
  readonly failed: readonly FailedCase[];
  /** Reports that could not be read to their end. */
  readonly unread: readonly UnreadReport[];
};

/** A failed test as its report has it, before the service classified it. */
export type FailedCase = {
  /** As `formatTestName` has it. */
  readonly name: string;
  /** Empty: the report does not say. */
  readonly file: string;
  /** Where it failed in the file of the test; null: the report does not say. */
  readonly line: number | null;
  /** The first lines of its failure. */
  readonly message: readonly string[];
};

const failedMax = 200;

export async function readReports(cwd: string, files: readonly ReportFile[]): Promise<ReadReports> {
  const outcomes = { passed: 0, failed: 0, flaky: 0, skipped: 0 };
  const failed: FailedCase[] = [];
  const unread: UnreadReport[] = [];
  const reports: ReportFile[] = [];
  let bytes = 0;
  for (const file of files) {
    bytes += file.bytes;
    if (bytes > bytesMax) {
      unread.push({
        file: file.path,
        why: 'The reports are larger than 512 MiB in total. Select fewer with --junit.',
      });
      continue;
    }
    const isReport = await readOne(cwd, file, unread, (reported) => {
      outcomes[reported.outcome] += 1;
      if (reported.outcome === 'failed' && failed.length < failedMax)
        failed.push(describeFailedCase(reported));
    });
    if (isReport) reports.push(file);
  }
  return { files: reports, outcomes, failed, unread };
}

/** False: the file is not a report, and was found without a pattern. */
async function readOne(
  cwd: string,
  { path, bytes, isGuess }: ReportFile,
  unread: UnreadReport[],
  onCase: (reported: ReportedCase) => void,
): Promise<boolean> {
  try {
    const read = await readContent(createReadStream(resolve(cwd, path)), { onCase });
    const notOne = read.problems.find(({ code }) => code === 'NOT_A_REPORT');
    // An empty file in a folder of reports is a report that was not written to its end.
    if (isGuess && bytes > 0 && read.cases === 0 && notOne !== undefined) return false;
    if (!read.isComplete || notOne !== undefined)
      unread.push({ file: path, why: (notOne ?? read.problems[0])?.message ?? 'The report is truncated.' });
  } catch (error) {
    unread.push({ file: path, why: (error as Error).message });
  }
  return true;
}

const describeFailedCase = (reported: ReportedCase): FailedCase => ({
  name: formatTestName(reported),
  file: reported.file,
  line: failureLine(reported),
  message: messageLines(reported),
});
