// Shows the failed tests of a job where its CI system has a place for them beside the log:
//  - GitHub: the summary of the job, and annotations of files (workflow commands; documentation of GitHub Actions,
//    "Workflow commands"). Gitea and Forgejo set the same variables.
//  - Buildkite: an annotation of the build ("buildkite-agent annotate").
//  - GitLab: a section of the log, and links on the page of the job if a file for them is named (documentation of GitLab,
//    "artifacts:reports:annotations"). GitLab reads the JUnit reports themselves (artifacts:reports:junit).
// A job of which nothing failed shows nothing.

import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, stat, writeFile } from 'node:fs/promises';
import { isAbsolute, relative, resolve } from 'node:path';
import { countText } from '#base/number-text.ts';
import type { CiEnv } from '#config/ci-environment.ts';
import { code } from '#core/queue/text/markup.ts';
import { explainVerdict, isSuspicious, testReport } from '#core/queue/text/test-report.ts';
import { plainLine } from '../../terminal/plain-text.ts';
import { type LocatedTest, type JobReport, mayBeCausedByChange } from './job-report.ts';
import type { SummaryLine } from '../summary.ts';

type Annotation = {
  readonly level: 'error' | 'warning' | 'notice';
  /** Empty: of the job, not of a file. */
  readonly file: string;
  readonly line: number | null;
  readonly title: string;
  readonly message: string;
};

/** GitHub shows ten annotations of each level per step. */
const annotationsMax = 10;

/** `repositoryPath`: from a file in a report to its path in the repository. */
export function listAnnotations(
  { tests, failed }: JobReport,
  repositoryPath: (file: string) => string,
): readonly Annotation[] {
  const annotate = (level: 'error' | 'warning', of: readonly LocatedTest[]): readonly Annotation[] =>
    of.slice(0, annotationsMax).map(({ name, file, line, message, classification }) => ({
      level,
      file: file === '' ? '' : repositoryPath(file),
      line,
      title: name,
      message: [...(classification === null ? [] : [explainVerdict(classification)]), ...message].join('\n'),
    }));
  const shown = [
    ...annotate('error', tests.filter(isSuspicious)),
    ...annotate(
      'warning',
      tests.filter((test) => !isSuspicious(test)),
    ),
  ];
  const left = failed - shown.length;
  if (shown.length === 0 || left <= 0) return shown;
  const message = `${countText(left, 'more failed test')} without an annotation. The summary of the job has them.`;
  return [...shown, { level: 'notice', file: '', line: null, title: 'Signalbox', message }];
}

const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** A workflow command of GitHub Actions, on a line of its own. */
export function workflowCommand({ level, file, line, title, message }: Annotation): string {
  const properties = { file, line: line === null || file === '' ? '' : String(line), title };
  const given = Object.entries(properties)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${escapeProperty(value)}`);
  return `::${level} ${given.join(',')}::${escapeData(message)}`;
}

/** What runs in CI, and where. */
export type JobPlace = {
  readonly cwd: string;
  readonly env: CiEnv;
  /** The file that GitLab reads links from; null: none. */
  readonly gitlabFile?: string | null;
};

/** A summary or an annotation that cannot be shown changes nothing about the run. */
export async function showInCi(place: JobPlace, report: JobReport | null): Promise<void> {
  for (const show of [writeAnnotations, appendSummary, annotateBuild, writeGitlabLinks])
    // The log has everything.
    await show(place, report).catch(() => undefined);
}

async function writeAnnotations({ cwd, env }: JobPlace, report: JobReport | null): Promise<void> {
  if (env['GITHUB_ACTIONS'] !== 'true' || report === null) return;
  const workspace = env['GITHUB_WORKSPACE'] ?? cwd;
  const lines = listAnnotations(report, (file) => findInRepository(workspace, cwd, file));
  process.stderr.write(lines.map((each) => `${workflowCommand(each)}\n`).join(''));
}

/** Runners name files relative to the folder in which they ran, relative to the repository, or absolute. */
export function findInRepository(workspace: string, cwd: string, file: string): string {
  const path = relative(workspace, resolve(cwd, file));
  const isInside = path !== '' && !path.startsWith('..') && !isAbsolute(path);
  return plainLine(isInside && existsSync(resolve(workspace, path)) ? path : file, 500);
}

/** GitHub rejects the whole summary of a step that has more. */
const summaryBytesMax = 1024 * 1024;

async function appendSummary({ env }: JobPlace, report: JobReport | null): Promise<void> {
  const { GITHUB_STEP_SUMMARY: file = '' } = env;
  if (file === '' || report === null) return;
  const text = `${testReport(report)}\n\n`;
  const { size } = await stat(file).catch(() => ({ size: 0 }));
  if (size + Buffer.byteLength(text) <= summaryBytesMax) await appendFile(file, text);
}

/** Longest time for a call of the Buildkite agent. */
const agentTimeoutMs = 15_000;

/** One annotation for each job: its retry replaces it, and removes it if nothing failed. */
async function annotateBuild({ env }: JobPlace, report: JobReport | null): Promise<void> {
  if (env['BUILDKITE'] !== 'true') return;
  const { BUILDKITE_STEP_ID: step = '', BUILDKITE_PARALLEL_JOB: shard = '', BUILDKITE_LABEL: job = '' } = env;
  const context = ['signalbox', step, shard].filter((part) => part !== '').join(' ');
  if (report === null) return runAgent(['annotation', 'remove', '--context', context], '');
  const style = mayBeCausedByChange(report) ? 'error' : 'warning';
  const text = `${testReport(report)}\n\n`;
  const body = job === '' ? text : `${code(plainLine(job))}\n\n${text}`;
  return runAgent(['annotate', '--style', style, '--context', context], body);
}

async function runAgent(args: readonly string[], input: string): Promise<void> {
  const agent = spawn('buildkite-agent', args, {
    stdio: ['pipe', 'ignore', 'ignore'],
    timeout: agentTimeoutMs,
  });
  agent.stdin.on('error', () => {});
  agent.stdin.end(input);
  await new Promise<void>((done) => {
    agent.once('error', () => done());
    agent.once('close', () => done());
  });
}

/** The page of a job should stay readable. */
const gitlabLinksMax = 20;

async function writeGitlabLinks(
  { cwd, gitlabFile = null }: JobPlace,
  report: JobReport | null,
): Promise<void> {
  if (gitlabFile === null || report === null) return;
  const linked = report.tests.filter(({ pageUrl }) => pageUrl !== '').slice(0, gitlabLinksMax);
  if (linked.length === 0) return;
  const links = linked.map(({ name, pageUrl }) => ({ external_link: { label: name, url: pageUrl } }));
  await writeFile(resolve(cwd, gitlabFile), `${JSON.stringify({ Signalbox: links })}\n`);
}

/** The lines in a section that readers can collapse, if the CI system has such sections. */
export function inSection(env: CiEnv, lines: readonly SummaryLine[], now: Date): readonly SummaryLine[] {
  const [header, ...rest] = lines;
  if (env['GITLAB_CI'] !== 'true' || header === undefined || rest.length === 0) return lines;
  const second = Math.floor(now.getTime() / 1_000);
  const mark = (kind: 'start' | 'end') => `\u001b[0Ksection_${kind}:${second}:signalbox\r\u001b[0K`;
  return [
    { ...header, text: `${mark('start')}${header.text}` },
    ...rest,
    { tone: 'plain', text: mark('end') },
  ];
}
