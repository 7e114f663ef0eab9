// A pull request in its queue, as the command line shows it:
//
//   #7 Fix the cart  ada
//   git.example/acme/widgets → main
//
//   ●───────────●────────◉─────────○────────○
//   submitted   queued   testing   passed   merged
//
//   testing for 2 min, first in the queue
//   merges in about 4 min (18:24), most likely within 3 to 9 min
//   Its tests have been running for 2 min. Running: ci/test. It is tested with the branch as it is now.

import { reasonText } from '#contract/text/reason-text.ts';
import type { SubmittedPullRequest } from '#contract/pull-request.ts';
import { repositoryText, type QueueReference } from '../client/place.ts';
import { hasEnded, stateLabels } from '../queue/state-text.ts';
import { clockText, getTerminalWidth, type Pen, spanText, wrapText } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';

type SubmittedState = SubmittedPullRequest['state'];
type StatusTimelineEvent = NonNullable<SubmittedPullRequest['timeline']>[number];

const steps = ['submitted', 'queued', 'testing', 'passed', 'merged'];

const turning = ['◐', '◓', '◑', '◒'];

/** The progress of the pull request, as a track of stations. */
function trackLines(state: SubmittedState, pen: Pen, frame: number | null): readonly string[] {
  const { step, tone } = stateLabels[state];
  const isDone = state === 'merged';
  const isOut = state === 'failed' || state === 'cancelled';
  const here = isOut ? '✗' : frame === null ? '◉' : turning[frame % turning.length]!;
  const marks = steps.map((_, at) => {
    if (at < step || isDone) return pen('good', '●');
    return at === step ? pen(tone, here) : pen('quiet', '○');
  });
  const rails = steps.map((name, at) =>
    at === steps.length - 1 ? '' : pen(at < step || isDone ? 'good' : 'quiet', '─'.repeat(name.length + 2)),
  );
  const names = steps.map(
    (name, at) =>
      (at === step ? pen(tone, name) : pen('quiet', name)) + (at === steps.length - 1 ? '' : '   '),
  );
  return [`  ${marks.map((mark, at) => mark + rails[at]!).join('')}`, `  ${names.join('')}`];
}

const ordinal = (position: number): string =>
  position === 0 ? 'first in the queue' : `${position} ahead of it in the queue`;

function estimateLine({ estimatedMergeAt, estimatedMergeInterval }: SubmittedPullRequest, now: Date): string {
  if (estimatedMergeAt === null) return '';
  const untilMs = (instant: string) => new Date(instant).getTime() - now.getTime();
  const about = `merges in about ${spanText(untilMs(estimatedMergeAt))} (${clockText(estimatedMergeAt, now)})`;
  const [early, late] = estimatedMergeInterval ?? [];
  return early === undefined || late === undefined
    ? about
    : `${about}, most likely within ${spanText(untilMs(early))} to ${spanText(untilMs(late))}`;
}

const formatReason = (reason: StatusTimelineEvent['reason']): string =>
  reason === null ? '' : reasonText[reason];

function stateLine(pullRequest: SubmittedPullRequest, pen: Pen, now: Date): string {
  const { state, stateChangedAt, queuePosition, conclusionReason } = pullRequest;
  const { label: stateLabel, tone } = stateLabels[state];
  const spent = spanText(now.getTime() - new Date(stateChangedAt).getTime());
  if (hasEnded(state)) {
    const why = formatReason(conclusionReason);
    return `${pen(tone, stateLabel)} ${spent} ago (${clockText(stateChangedAt, now)})${why === '' ? '' : `: ${why}`}`;
  }
  return `${pen(tone, stateLabel)} for ${spent}${queuePosition === null ? '' : `, ${ordinal(queuePosition)}`}`;
}

/** `frame`: the frame of the animated mark while it is watched; null: no animation. */
export function statusLines(
  place: QueueReference,
  pullRequest: SubmittedPullRequest,
  pen: Pen,
  now: Date,
  frame: number | null = null,
): readonly string[] {
  const { prNumber, prTitle, prAuthor, state, waitingFor, failedTests } = pullRequest;
  const columns = getTerminalWidth(process.stdout);
  const title = plainLine(`#${prNumber} ${prTitle}`, Math.min(100, columns));
  const author = title.length + prAuthor.length + 2 > columns ? '' : pen('quiet', plainLine(prAuthor, 50));
  const estimate = estimateLine(pullRequest, now);
  return [
    `${pen('strong', title)}  ${author}`.trimEnd(),
    pen('quiet', plainLine(`${repositoryText(place.repo)} → ${place.targetBranch}`, Math.min(200, columns))),
    '',
    ...trackLines(state, pen, frame),
    '',
    `  ${stateLine(pullRequest, pen, now)}`,
    ...(estimate === '' ? [] : wrapText(estimate, '  ', columns)),
    ...waitingFor.flatMap((sentence) => wrapText(plainLine(sentence, 500), '  ', columns)),
    ...(failedTests === null ? [] : failedLines(failedTests, pen)),
  ];
}

type StatusFailedTests = NonNullable<SubmittedPullRequest['failedTests']>;
type FailedTestVerdict = StatusFailedTests['first'][number]['verdict'];

const verdicts: {
  readonly [Name in FailedTestVerdict]: { readonly tone: Parameters<Pen>[0]; readonly means: string };
} = {
  flaky: { tone: 'warning', means: 'known to be flaky' },
  broken: { tone: 'warning', means: 'already broken on the default branch' },
  new: { tone: 'bad', means: 'passed before: check this change first' },
  unknown: { tone: 'bad', means: 'no history yet' },
};

/** The failed tests, and whether the change caused them. */
export function failedLines({ count, first }: StatusFailedTests, pen: Pen): readonly string[] {
  const more = count - first.length;
  return [
    ...first.map(({ name, verdict, isQuarantined }) => {
      const { tone, means } = verdicts[verdict];
      const quarantined = isQuarantined ? ' (quarantined)' : '';
      return `    ${pen(tone, verdict.padEnd(7))}  ${plainLine(name)}${quarantined}  ${pen('quiet', means)}`;
    }),
    ...(more > 0 ? [pen('quiet', `    … and ${more} more`)] : []),
  ];
}

/** One event, with the person or program that caused it. */
export function eventLine({ timestamp, state, reason, actor }: StatusTimelineEvent, pen: Pen): string {
  const { label: usual, tone } = stateLabels[state];
  const stateLabel = state === 'not_ready' && reason === null ? 'submitted' : usual;
  const at = new Date(timestamp);
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
  const why = formatReason(reason);
  const who = actor === '' ? '' : ` (${plainLine(actor, 100)})`;
  return `${pen('quiet', time)}  ${pen(tone, stateLabel)}${why === '' ? '' : `: ${why}`}${pen('quiet', who)}`;
}
