// What CI shows of the failed tests beside its log, if the CI system has a place for it:
//  - GitHub: the summary of the job, and annotations of files (workflow commands; documentation of GitHub Actions,
//    "Workflow commands"). Gitea and Forgejo set the same variables.
//  - Buildkite: an annotation of the build ("buildkite-agent annotate").
// A job of which nothing failed shows nothing. GitLab reads the JUnit reports themselves (artifacts:reports:junit).
//
// The name of a test is untrusted: it stays on one line, and is code in Markdown.

import { spawn } from 'node:child_process';
import { appendFile } from 'node:fs/promises';
import type { CiEnv } from '#config/ci-environment.ts';
import { code, quoted, unmarked } from '#core/queue/text/markup.ts';
import { plainLine } from '../terminal/plain-text.ts';
import type { ReadReports } from './report-files.ts';
import type { Submission } from './submit.ts';
import {
  countLine,
  explainFailure,
  findClassified,
  formatTestName,
  type SummaryFailure,
  verdictMarks,
} from './summary.ts';

export type JobReport = {
  readonly markdown: string;
  /** Whether a failure may have been caused by the change. */
  readonly isSuspicious: boolean;
  readonly annotations: readonly Annotation[];
};

type Annotation = {
  readonly level: 'error' | 'warning';
  readonly file: string;
  readonly title: string;
  readonly message: string;
};

/** GitHub shows ten annotations of each level per step. */
const annotationsMax = 10;
const listedMax = 50;

/** Null: nothing failed. */
export function describeFailures(reports: ReadReports, submission: Submission | null): JobReport | null {
  const upload = findClassified(submission);
  // A test that failed and passed in a repeat may still have decided how the job ends.
  const isShown = ({ outcome }: SummaryFailure): boolean =>
    outcome === 'failed' || (outcome === 'flaky' && reports.outcomes.failed > 0);
  const failures = upload?.failures.filter(isShown) ?? [];
  const failedCount = Math.max(upload?.failed ?? reports.outcomes.failed, failures.length);
  if (failedCount === 0) return null;
  const lines =
    upload === null
      ? reports.failed.slice(0, listedMax).map((name) => `- ${quoted(plainLine(name))}`)
      : failures.slice(0, listedMax).map(describeFailure);
  const left = failedCount - lines.length;
  const heading = `### ${unmarked(countLine(reports, upload))}`;
  return {
    markdown: `${[heading, '', ...lines, ...(left > 0 ? [`- and ${left} more`] : [])].join('\n')}\n\n`,
    isSuspicious: upload === null || failures.some(isSuspicious) || failedCount > failures.length,
    annotations: [
      ...annotate(failures.filter(isSuspicious), 'error'),
      ...annotate(
        failures.filter((failure) => !isSuspicious(failure)),
        'warning',
      ),
    ],
  };
}

const isSuspicious = ({ verdict, quarantined, is_excused: isExcused }: SummaryFailure): boolean =>
  verdict === 'new' || verdict === 'unknown' || (verdict === 'flaky' && quarantined && !isExcused);

function describeFailure(failure: SummaryFailure): string {
  const { mark } = verdictMarks[failure.verdict];
  const said = failure.summary === '' ? '' : `<br>${quoted(plainLine(failure.summary, 300))}`;
  return `- **${mark}** ${quoted(formatTestName(failure))}: ${unmarked(explainFailure(failure))}${said}`;
}

const annotate = (failures: readonly SummaryFailure[], level: Annotation['level']): readonly Annotation[] =>
  failures
    .filter(({ file }) => file !== '')
    .slice(0, annotationsMax)
    .map((failure) => ({
      level,
      file: plainLine(failure.file, 500),
      title: formatTestName(failure),
      message: `${plainLine(failure.summary)} ${explainFailure(failure)}`.trim(),
    }));

const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');

/** A workflow command of GitHub Actions, on a line of its own. */
export const workflowCommand = ({ level, file, title, message }: Annotation): string =>
  `::${level} file=${escapeProperty(file)},title=${escapeProperty(title)}::${escapeData(message)}`;

/** A summary or an annotation that cannot be shown changes nothing about the run. */
export async function showInCi(env: CiEnv, report: JobReport | null): Promise<void> {
  try {
    await show(env, report);
  } catch {
    // The log has everything.
  }
}

async function show(env: CiEnv, report: JobReport | null): Promise<void> {
  const { GITHUB_STEP_SUMMARY: summaryFile = '', GITHUB_ACTIONS: isActions, BUILDKITE: isBuildkite } = env;
  if (isBuildkite === 'true') await annotateBuild(env, report);
  if (report === null) return;
  if (isActions === 'true')
    process.stderr.write(report.annotations.map((each) => `${workflowCommand(each)}\n`).join(''));
  if (summaryFile !== '') await appendFile(summaryFile, report.markdown);
}

/** Longest time for a call of the Buildkite agent. */
const agentTimeoutMs = 15_000;

/** One annotation for each job: its retry replaces it, and removes it if nothing failed. */
async function annotateBuild(env: CiEnv, report: JobReport | null): Promise<void> {
  const { BUILDKITE_STEP_ID: step = '', BUILDKITE_PARALLEL_JOB: shard = '', BUILDKITE_LABEL: job = '' } = env;
  const context = ['signalbox', step, shard].filter((part) => part !== '').join(' ');
  if (report === null) return runAgent(['annotation', 'remove', '--context', context], '');
  const style = report.isSuspicious ? 'error' : 'warning';
  const body = job === '' ? report.markdown : `${code(plainLine(job))}\n\n${report.markdown}`;
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
