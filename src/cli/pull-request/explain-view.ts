// `signalbox explain`: why a pull request is where it is, who is ahead, where its time went, and whether a failure was its
// own.

import type { ResponseOf } from '#contract/endpoint.ts';
import type { SubmittedPullRequest } from '#contract/pull-request.ts';
import { exactSpan, type TimeRow, timeRows, wholeSeconds } from '#contract/time-rows.ts';
import { stateWords } from '../queue/state-words.ts';
import { columnsOf, countText, type Pen, wrapText } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { type Blame, blameOf } from './blame.ts';

type Entry = ResponseOf<'getQueue'>['enqueuedPullRequests'][number];

const aheadMax = 5;
const barWidth = 24;

export function aheadLines(entries: readonly Entry[], number: number, pen: Pen): readonly string[] {
  const at = entries.findIndex(({ prNumber }) => prNumber === number);
  if (at < 1) return [];
  const ahead = entries.slice(0, at);
  return [
    '',
    pen('strong', `${countText(at, 'pull request')} ahead of it`),
    ...ahead.slice(0, aheadMax).map(({ prNumber, state, prTitle }) => {
      const { word, tone } = stateWords[state];
      return `  #${prNumber}  ${pen(tone, word)}  ${plainLine(prTitle, 60)}`;
    }),
    ...(ahead.length > aheadMax ? [pen('quiet', `  … and ${ahead.length - aheadMax} more`)] : []),
  ];
}

const tones = { good: 'good', busy: 'info', warn: 'warning', calm: 'quiet' } as const;

const causeText = ({ culprit, cause }: TimeRow): string =>
  cause === '' ? '' : `: ${culprit === null ? '' : `#${culprit} `}${cause}`;

export function timeLines({ timeSpent = [] }: SubmittedPullRequest, pen: Pen): readonly string[] {
  const [trip] = timeSpent;
  if (trip === undefined) return [];
  // What took no time tells nothing.
  const rows = timeRows(trip).filter(({ seconds }) => seconds > 0);
  const total = Math.max(1, wholeSeconds(trip.totalMs));
  const spans = rows.map(({ seconds }) => exactSpan(seconds));
  const width = Math.max(0, ...spans.map((span) => span.length));
  return [
    '',
    pen('strong', `Where the time went: ${exactSpan(wholeSeconds(trip.totalMs))}`),
    ...rows.map((row, at) => {
      const filled = Math.round((row.seconds / total) * barWidth);
      const bar = pen(tones[row.tone], '█'.repeat(filled)) + pen('quiet', '·'.repeat(barWidth - filled));
      return `  ${bar}  ${spans[at]!.padStart(width)}  ${row.words}${causeText(row)}`;
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
  unknown: 'Nobody can tell:',
  nothing_failed: '',
};

/** What failed is shown with the state; this is what it comes to. */
export function blameLines(
  { failedTests, state, prNumber }: SubmittedPullRequest,
  pen: Pen,
): readonly string[] {
  const { answer, why } = blameOf(failedTests);
  if (answer === 'nothing_failed') return [];
  const next =
    answer === 'unlikely' && state === 'failed' ? ` Try again with: signalbox submit ${prNumber}` : '';
  const said = `${answers[answer]} ${why.slice(0, 1).toLowerCase()}${why.slice(1)}${next}`;
  return ['', pen('strong', 'Was it me?'), ...wrapText(said, '  ', columnsOf(process.stdout))];
}
