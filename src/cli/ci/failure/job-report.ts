// What a job reports of its failed tests, for people who do not read its log. The name of a test is untrusted: it stays on one
// line here, and is code in Markdown.

import { isSuspicious, type ReportedTest, type TestReport } from '#core/queue/text/test-report.ts';
import { plainLine } from '../../terminal/plain-text.ts';
import type { ExitDecision } from '../decide-exit-code.ts';
import { isFlaky, type ShakeResult } from '../repeat/shake-result.ts';
import type { FailedCase, ReadReports } from '../report-files.ts';
import type { Submission } from '../submit.ts';
import {
  classificationOf,
  countLine,
  decisionLine,
  findClassified,
  type SummaryFailure,
} from '../summary.ts';
import { formatTestName } from '../test-name.ts';

/** A test that failed, and the file in which people look for it. */
export type LocatedTest = ReportedTest & { readonly file: string; readonly line: number | null };

export type JobReport = Omit<TestReport, 'tests'> & { readonly tests: readonly LocatedTest[] };

export type JobReportParts = {
  readonly reports: ReadReports;
  readonly submission: Submission | null;
  /** Absent: no command ran. */
  readonly decision?: ExitDecision;
  /** What repeats of new tests showed. */
  readonly shaken?: ShakeResult | null;
};

/** Null: nothing failed. */
export function describeFailures({
  reports,
  submission,
  decision,
  shaken,
}: JobReportParts): JobReport | null {
  const upload = findClassified(submission);
  // A test that failed and passed in a repeat may still have decided how the job ends.
  const isShown = ({ outcome }: SummaryFailure): boolean =>
    outcome === 'failed' || (outcome === 'flaky' && reports.outcomes.failed > 0);
  const failures = upload?.failures.filter(isShown) ?? [];
  const failed = Math.max(upload?.failed ?? reports.outcomes.failed, failures.length);
  const flakyNew = (shaken?.tests ?? []).filter(isFlaky);
  if (failed === 0 && flakyNew.length === 0) return null;
  const cases = new Map(reports.failed.map((reported) => [reported.name, reported]));
  const decided = decision === undefined ? null : decisionLine(decision);
  return {
    failed,
    tests:
      upload === null
        ? reports.failed.map((reported) => ({ ...reported, ...unclassified(reported) }))
        : failures.map((failure) => describeFailure(failure, cases.get(formatTestName(failure)))),
    flakyNew: flakyNew.map(({ test, passed, failed: times }) => ({
      name: formatTestName(test),
      failed: times,
      runs: passed + times,
    })),
    notes: [countLine(reports, upload), ...(decided === null ? [] : [decided.text])],
  };
}

const unclassified = ({ file, line }: FailedCase) => ({
  place: formatPlace(file, line),
  pageUrl: '',
  classification: null,
});

function describeFailure(failure: SummaryFailure, reported: FailedCase | undefined): LocatedTest {
  const { file, summary, html_url: pageUrl = '' } = failure;
  const line = reported?.line ?? null;
  const message = reported?.message ?? [];
  return {
    name: formatTestName(failure),
    file,
    line,
    place: formatPlace(file, line),
    message: message.length > 0 || summary === '' ? message : [plainLine(summary, 300)],
    pageUrl,
    classification: classificationOf(failure),
  };
}

const formatPlace = (file: string, line: number | null): string =>
  line === null ? '' : `${plainLine(file)}:${line}`;

/** Whether a failure may have been caused by the change. */
export const mayBeCausedByChange = ({ failed, tests, flakyNew }: JobReport): boolean =>
  tests.some(isSuspicious) || failed > tests.length || flakyNew.length > 0;
