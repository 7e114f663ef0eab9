// `signalbox explain`: why a pull request is where it is, what is ahead of it, where its time went, and
// whether it caused its failure.

import { countText } from '#base/number-text.ts';
import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import type { SubmittedPullRequest } from '#contract/pull-request.ts';
import { exactSpan, type TimeRow, timeRows, wholeSeconds } from '#contract/text/time-rows.ts';
import { stateLabels } from '../queue/state-text.ts';
import { getTerminalWidth, type Pen, wrapText } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { type Blame, attributeBlame } from './blame.ts';

type AheadEntry = ResponseOf<'getQueue'>['enqueuedPullRequests'][number];

const aheadMax = 5;
const barWidth = 24;

export function aheadLines(entries: readonly AheadEntry[], number: number, pen: Pen): readonly string[] {
  const at = entries.findIndex(({ prNumber }) => prNumber === number);
  if (at < 1) return [];
  const ahead = entries.slice(0, at);
  return [
    '',
    pen('strong', `${countText(at, 'pull request')} ahead of it`),
    ...ahead.slice(0, aheadMax).map(({ prNumber, state, prTitle }) => {
      const { label: stateLabel, tone } = stateLabels[state];
      return `  #${prNumber}  ${pen(tone, stateLabel)}  ${plainLine(prTitle, 60)}`;
    }),
    ...(ahead.length > aheadMax ? [pen('quiet', `  … and ${ahead.length - aheadMax} more`)] : []),
  ];
}

const tones = { good: 'good', busy: 'info', warn: 'warning', calm: 'quiet' } as const;

const causeText = ({ culprit, cause }: TimeRow): string =>
  cause === '' ? '' : `: ${culprit === null ? '' : `#${culprit} `}${cause}`;

export function timeLines({ timeSpent = [] }: SubmittedPullRequest, pen: Pen): readonly string[] {
  const [latestAttempt] = timeSpent;
  if (latestAttempt === undefined) return [];
  // Parts that took no time are left out.
  const rows = timeRows(latestAttempt).filter(({ seconds }) => seconds > 0);
  const total = Math.max(1, wholeSeconds(latestAttempt.totalMs));
  const spans = rows.map(({ seconds }) => exactSpan(seconds));
  const width = Math.max(0, ...spans.map((span) => span.length));
  return [
    '',
    pen('strong', `Where the time went: ${exactSpan(wholeSeconds(latestAttempt.totalMs))}`),
    ...rows.map((row, at) => {
      const filled = Math.round((row.seconds / total) * barWidth);
      const bar = pen(tones[row.tone], '█'.repeat(filled)) + pen('quiet', '·'.repeat(barWidth - filled));
      return `  ${bar}  ${spans[at]!.padStart(width)}  ${row.text}${causeText(row)}`;
    }),
    ...(timeSpent.length > 1
      ? [pen('quiet', `  It was in the queue ${countText(timeSpent.length - 1, 'time')} before.`)]
      : []),
  ];
}

const answers: { readonly [Answer in Blame['answer']]: string } = {
  likely: 'Most likely:',
  possible: 'It may be:',
  unlikely: 'Most likely not:',
  unknown: 'Unknown:',
  nothing_failed: '',
};

/** The failures are shown with the state; this is the conclusion. */
export function blameLines(
  { failedTests, state, prNumber }: SubmittedPullRequest,
  pen: Pen,
): readonly string[] {
  const { answer, why } = attributeBlame(failedTests);
  if (answer === 'nothing_failed') return [];
  const next =
    answer === 'unlikely' && state === 'failed' ? ` Try again with: signalbox submit ${prNumber}` : '';
  const said = `${answers[answer]} ${why.slice(0, 1).toLowerCase()}${why.slice(1)}${next}`;
  return ['', pen('strong', 'Was it me?'), ...wrapText(said, '  ', getTerminalWidth(process.stdout))];
}
