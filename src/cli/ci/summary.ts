// What a person reads after a run: how much ran, and of each test that failed whether it was their change.
//
//   Signalbox: 140 tests in 3 reports: 138 passed, 2 failed.
//
//     NEW      cart.test.ts › cart › adds two items
//              It passed before, and never failed like this: look at this change first.
//     FLAKY    login.test.ts › session ends (quarantined)
//              Passed and failed on 3 sources in 14 days. Most likely not your change.

import type { RunOutcome } from '#core/health/reported-case.ts';
import type { Tone } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import type { UploadDetails } from './client.ts';
import type { ExitDecision } from './decide-exit-code.ts';
import type { ReadReports } from './report-files.ts';
import type { Submission } from './submit.ts';

/** A line, and how a terminal with colours shows it. */
export type SummaryLine = { readonly tone: Tone; readonly text: string };

type Failure = UploadDetails['failures'][number];

const shownMax = 50;

export function summarise(reports: ReadReports, submission: Submission | null): readonly SummaryLine[] {
  const upload =
    submission?.kind === 'judged' && submission.upload.state === 'ingested' ? submission.upload : null;
  return [
    { tone: 'plain', text: countLine(reports, upload) },
    ...unreadLines(reports),
    ...(upload === null ? localLines(reports) : judgedLines(upload)),
    ...(submission === null ? [] : serviceLines(submission)),
  ];
}

function countLine(reports: ReadReports, upload: UploadDetails | null): string {
  const counts: Readonly<Record<RunOutcome, number>> = upload ?? reports.outcomes;
  const { passed, failed, flaky, skipped } = counts;
  const parts = [
    `${passed} passed`,
    failed > 0 ? `${failed} failed` : '',
    flaky > 0 ? `${flaky} passed only in another attempt` : '',
    skipped > 0 ? `${skipped} skipped` : '',
  ].filter((part) => part !== '');
  const tests = many(passed + failed + flaky + skipped, 'test');
  return `Signalbox: ${tests} in ${many(reports.files.length, 'report')}: ${parts.join(', ')}.`;
}

const unreadLines = ({ unread }: ReadReports): readonly SummaryLine[] =>
  unread.slice(0, shownMax).map(({ file, why }) => ({
    tone: 'warning',
    text: `  Not read to its end: ${plainLine(file)}: ${plainLine(why)}`,
  }));

/** Without a judgement there are still names. */
function localLines({ failed, outcomes }: ReadReports): readonly SummaryLine[] {
  const shown = failed.slice(0, shownMax);
  return [
    ...shown.map((name): SummaryLine => ({ tone: 'bad', text: `  FAILED   ${plainLine(name)}` })),
    ...more(outcomes.failed - shown.length),
  ];
}

function judgedLines(upload: UploadDetails): readonly SummaryLine[] {
  const failed = upload.failures.filter(({ outcome }) => outcome === 'failed').slice(0, shownMax);
  const retried = upload.failures.filter(({ outcome }) => outcome === 'flaky').slice(0, shownMax);
  return [
    ...failed.flatMap((failure) => failureLines(failure)),
    ...more(upload.failed - failed.length),
    ...retried.map((failure): SummaryLine => ({ tone: 'quiet', text: `  RETRIED  ${nameOf(failure)}` })),
    ...more(upload.flaky - retried.length),
  ];
}

const more = (left: number): readonly SummaryLine[] =>
  left > 0 ? [{ tone: 'quiet', text: `  … and ${left} more` }] : [];

const words: { readonly [Verdict in Failure['verdict']]: { readonly mark: string; readonly tone: Tone } } = {
  flaky: { mark: 'FLAKY', tone: 'warning' },
  broken: { mark: 'BROKEN', tone: 'warning' },
  new: { mark: 'NEW', tone: 'bad' },
  unknown: { mark: 'FIRST', tone: 'bad' },
};

function failureLines(failure: Failure): readonly SummaryLine[] {
  const { mark, tone } = words[failure.verdict];
  const quarantined = failure.quarantined ? ' (quarantined)' : '';
  const said: readonly SummaryLine[] =
    failure.summary === '' ? [] : [{ tone: 'quiet', text: `           ${plainLine(failure.summary)}` }];
  return [
    { tone, text: `  ${mark.padEnd(8)} ${nameOf(failure)}${quarantined}` },
    ...said,
    { tone: 'plain', text: `           ${meaningOf(failure)}` },
  ];
}

function nameOf({ file, parent, classname, name }: Failure): string {
  const parts = [file, parent === '' ? classname : parent, name];
  return plainLine(parts.filter((part, at) => part !== '' && part !== parts[at - 1]).join(' › '));
}

function meaningOf(failure: Failure): string {
  switch (failure.verdict) {
    case 'flaky':
      return `${reasonOf(failure, 'It failed like this on a commit on which it also passed.')} ${
        failure.quarantined && !failure.is_excused
          ? 'But it is not known to flake like this: it may be your change.'
          : 'Most likely not your change.'
      }`;
    case 'broken':
      return `${reasonOf(failure, 'Broken on the default branch already.')} Not your change.`;
    case 'new':
      return 'It passed before, and never failed like this: look at this change first.';
    case 'unknown':
      return 'Seen for the first time: nothing is known of it yet.';
  }
}

/** The service's sentence on the test, if what it is about is this failure. */
const reasonOf = ({ status, status_reason: reason, verdict }: Failure, otherwise: string): string =>
  status === verdict && reason !== '' ? plainLine(reason, 300) : otherwise;

function serviceLines(submission: Submission): readonly SummaryLine[] {
  if (submission.kind !== 'judged') return [{ tone: 'warning', text: `Signalbox: ${submission.why}` }];
  const { upload } = submission;
  const problems = upload.problems.slice(0, 5).map(({ file, message }): SummaryLine => {
    const where = file === '' ? '' : `${plainLine(file)}: `;
    return { tone: 'quiet', text: `  ${where}${plainLine(message, 300)}` };
  });
  if (upload.state === 'failed')
    return [{ tone: 'warning', text: 'Signalbox: nothing in the reports could be used.' }, ...problems];
  const suspect: readonly SummaryLine[] = upload.is_suspect
    ? [
        {
          tone: 'warning',
          text: 'Signalbox: far more failed than this job ever shows. Nothing is judged by this run.',
        },
      ]
    : [];
  const untrusted: readonly SummaryLine[] =
    upload.trust === 'untrusted'
      ? [
          {
            tone: 'quiet',
            text: 'Signalbox: the token may only upload: the results are shown and judge nothing.',
          },
        ]
      : [];
  return [...problems, ...suspect, ...untrusted];
}

/** The last word of `signalbox test`. */
export function decisionLine({ exitCode, isChanged, why }: ExitDecision): SummaryLine | null {
  if (why === '') return null;
  return isChanged
    ? { tone: 'good', text: `Signalbox: the exit code is now 0: ${why}` }
    : { tone: 'plain', text: `Signalbox: the exit code stays ${exitCode}: ${plainLine(why, 500)}` };
}

const many = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
