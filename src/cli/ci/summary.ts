// What a person reads after a run: how much ran, and for each failed test whether their change caused it.
//
//   Signalbox: 140 tests in 3 reports: 138 passed, 2 failed.
//
//     NEW      cart.test.ts › cart › adds two items
//              It passed before and never failed like this. Check your change first.
//     FLAKY    login.test.ts › session ends (quarantined)
//              Passed and failed on 3 sources in 14 days. Most likely not your change.

import { countText } from '#base/number-text.ts';
import type { RunOutcome } from '#core/health/reported-case.ts';
import { type Classification, explainVerdict, verdictMarks } from '#core/queue/text/test-report.ts';
import type { Tone } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import type { CiUploadDetails } from './client.ts';
import type { ExitDecision } from './decide-exit-code.ts';
import type { ReadReports } from './report-files.ts';
import type { Submission } from './submit.ts';
import { formatTestName } from './test-name.ts';

/** A line, and how a terminal with colours shows it. */
export type SummaryLine = { readonly tone: Tone; readonly text: string };

export type SummaryFailure = CiUploadDetails['failures'][number];

const shownMax = 50;

/** What the service concluded; null: nothing. */
export const findClassified = (submission: Submission | null): CiUploadDetails | null =>
  submission?.kind === 'classified' && submission.upload.state === 'ingested' ? submission.upload : null;

export function summarise(reports: ReadReports, submission: Submission | null): readonly SummaryLine[] {
  const upload = findClassified(submission);
  return [
    { tone: 'plain', text: countLine(reports, upload) },
    ...unreadLines(reports),
    ...(upload === null ? localLines(reports) : classifiedLines(upload)),
    ...(submission === null ? [] : serviceLines(submission)),
  ];
}

export function countLine(reports: ReadReports, upload: CiUploadDetails | null): string {
  const counts: Readonly<Record<RunOutcome, number>> = upload ?? reports.outcomes;
  const { passed, failed, flaky, skipped } = counts;
  const parts = [
    `${passed} passed`,
    failed > 0 ? `${failed} failed` : '',
    flaky > 0 ? `${flaky} passed on retry` : '',
    skipped > 0 ? `${skipped} skipped` : '',
  ].filter((part) => part !== '');
  const tests = countText(passed + failed + flaky + skipped, 'test');
  return `Signalbox: ${tests} in ${countText(reports.files.length, 'report')}: ${parts.join(', ')}.`;
}

const unreadLines = ({ unread }: ReadReports): readonly SummaryLine[] =>
  unread.slice(0, shownMax).map(({ file, why }) => ({
    tone: 'warning',
    text: `  Not read completely: ${plainLine(file)}: ${plainLine(why)}`,
  }));

/** Without a classification the names of the failed tests are still known. */
function localLines({ failed, outcomes }: ReadReports): readonly SummaryLine[] {
  const shown = failed.slice(0, shownMax);
  return [
    ...shown.map(({ name }): SummaryLine => ({ tone: 'bad', text: `  FAILED   ${name}` })),
    ...more(outcomes.failed - shown.length),
  ];
}

function classifiedLines(upload: CiUploadDetails): readonly SummaryLine[] {
  const failed = upload.failures.filter(({ outcome }) => outcome === 'failed').slice(0, shownMax);
  const retried = upload.failures.filter(({ outcome }) => outcome === 'flaky').slice(0, shownMax);
  return [
    ...failed.flatMap((failure) => failureLines(failure)),
    ...more(upload.failed - failed.length),
    ...retried.map((failure): SummaryLine => ({
      tone: 'quiet',
      text: `  RETRIED  ${formatTestName(failure)}`,
    })),
    ...more(upload.flaky - retried.length),
  ];
}

const more = (left: number): readonly SummaryLine[] =>
  left > 0 ? [{ tone: 'quiet', text: `  … and ${left} more` }] : [];

const verdictTones: { readonly [Verdict in SummaryFailure['verdict']]: Tone } = {
  flaky: 'warning',
  broken: 'warning',
  new: 'bad',
  unknown: 'bad',
};

function failureLines(failure: SummaryFailure): readonly SummaryLine[] {
  const { verdict } = failure;
  const quarantined = failure.quarantined ? ' (quarantined)' : '';
  const url = plainLine(failure.html_url ?? '', 500);
  const said: readonly SummaryLine[] =
    failure.summary === '' ? [] : [{ tone: 'quiet', text: `           ${plainLine(failure.summary)}` }];
  return [
    {
      tone: verdictTones[verdict],
      text: `  ${verdictMarks[verdict].padEnd(8)} ${formatTestName(failure)}${quarantined}`,
    },
    ...said,
    { tone: 'plain', text: `           ${explainVerdict(classificationOf(failure))}` },
    ...(url === '' ? [] : [{ tone: 'quiet', text: `           ${url}` } as const]),
  ];
}

/** The service's explanation of the status is about this failure only if its verdict is the same. */
export const classificationOf = ({
  verdict,
  quarantined: isQuarantined,
  is_excused: isExcused,
  status,
  status_reason: reason,
}: SummaryFailure): Classification => ({
  verdict,
  isQuarantined,
  isExcused,
  reason: status === verdict ? plainLine(reason, 300) : '',
});

function serviceLines(submission: Submission): readonly SummaryLine[] {
  if (submission.kind !== 'classified') return [{ tone: 'warning', text: `Signalbox: ${submission.why}` }];
  const { upload } = submission;
  const problems = upload.problems.slice(0, 5).map(({ file, message }): SummaryLine => {
    const where = file === '' ? '' : `${plainLine(file)}: `;
    return { tone: 'quiet', text: `  ${where}${plainLine(message, 300)}` };
  });
  if (upload.state === 'failed')
    return [{ tone: 'warning', text: 'Signalbox: the reports contain no usable result.' }, ...problems];
  const suspect: readonly SummaryLine[] = upload.is_suspect
    ? [
        {
          tone: 'warning',
          text: 'Signalbox: far more tests failed than this job has ever shown. This run changes the status of no test.',
        },
      ]
    : [];
  const untrusted: readonly SummaryLine[] =
    upload.trust === 'untrusted'
      ? [
          {
            tone: 'quiet',
            text: 'Signalbox: the token has only the scope upload. The results are shown but change the status of no test.',
          },
        ]
      : [];
  return [...problems, ...suspect, ...untrusted];
}

/** The last line that `signalbox test` prints. */
export function decisionLine({ exitCode, isChanged, why }: ExitDecision): SummaryLine | null {
  if (why === '') return null;
  return isChanged
    ? { tone: 'good', text: `Signalbox: the exit code is now 0: ${why}` }
    : { tone: 'plain', text: `Signalbox: the exit code stays ${exitCode}: ${plainLine(why, 500)}` };
}
