// A pull request in its queue, as the command line shows it:
//
//   #7 Fix the cart  ada
//   git.example/acme/widgets → main
//
//   ●────────●─────────◉─────────○────────○
//   submitted  in line  testing   passed   merged
//
//   testing for 2 min, first in line
//   lands in about 4 min (18:24), most likely within 3 to 9 min
//   Its tests have run for 2 min. Under way: ci/test. It is tested on the branch.

import { reasonWords } from '#contract/reason-words.ts';
import type { SubmittedPullRequest } from '#contract/pull-request.ts';
import { repositoryText, type QueuePlace } from '../client/place.ts';
import { hasEnded, stateWords } from '../queue/state-words.ts';
import { clockText, columnsOf, type Pen, spanText, wrapText } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';

type State = SubmittedPullRequest['state'];
type Event = NonNullable<SubmittedPullRequest['timeline']>[number];

const steps = ['submitted', 'in line', 'testing', 'passed', 'merged'];

const turning = ['◐', '◓', '◑', '◒'];

/** How far it has come, as a line of stations. */
function trackLines(state: State, pen: Pen, frame: number | null): readonly string[] {
  const { step, tone } = stateWords[state];
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
  position === 0 ? 'first in line' : `${position} ahead of it in the line`;

function estimateLine({ estimatedMergeAt, estimatedMergeInterval }: SubmittedPullRequest, now: Date): string {
  if (estimatedMergeAt === null) return '';
  const untilMs = (instant: string) => new Date(instant).getTime() - now.getTime();
  const about = `lands in about ${spanText(untilMs(estimatedMergeAt))} (${clockText(estimatedMergeAt, now)})`;
  const [early, late] = estimatedMergeInterval ?? [];
  return early === undefined || late === undefined
    ? about
    : `${about}, most likely within ${spanText(untilMs(early))} to ${spanText(untilMs(late))}`;
}

const reasonOf = (reason: Event['reason']): string => (reason === null ? '' : reasonWords[reason]);

function stateLine(pullRequest: SubmittedPullRequest, pen: Pen, now: Date): string {
  const { state, stateChangedAt, queuePosition, conclusionReason } = pullRequest;
  const { word, tone } = stateWords[state];
  const spent = spanText(now.getTime() - new Date(stateChangedAt).getTime());
  if (hasEnded(state)) {
    const why = reasonOf(conclusionReason);
    return `${pen(tone, word)} ${spent} ago (${clockText(stateChangedAt, now)})${why === '' ? '' : `: ${why}`}`;
  }
  return `${pen(tone, word)} for ${spent}${queuePosition === null ? '' : `, ${ordinal(queuePosition)}`}`;
}

/** `frame`: of the mark that moves while it is watched; null: it stands still. */
export function statusLines(
  place: QueuePlace,
  pullRequest: SubmittedPullRequest,
  pen: Pen,
  now: Date,
  frame: number | null = null,
): readonly string[] {
  const { prNumber, prTitle, prAuthor, state, waitingFor, failedTests } = pullRequest;
  const columns = columnsOf(process.stdout);
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

type FailedTests = NonNullable<SubmittedPullRequest['failedTests']>;
type Verdict = FailedTests['first'][number]['verdict'];

const verdicts: {
  readonly [Name in Verdict]: { readonly tone: Parameters<Pen>[0]; readonly means: string };
} = {
  flaky: { tone: 'warning', means: 'known to fail without a change' },
  broken: { tone: 'warning', means: 'fails on the default branch already' },
  new: { tone: 'bad', means: 'passed until now: look at this change first' },
  unknown: { tone: 'bad', means: 'never seen before' },
};

/** What failed, and whether it was the change. */
export function failedLines({ count, first }: FailedTests, pen: Pen): readonly string[] {
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

/** One move of it, with who or what moved it. */
export function eventLine({ timestamp, state, reason, actor }: Event, pen: Pen): string {
  const { word: usual, tone } = stateWords[state];
  const word = state === 'not_ready' && reason === null ? 'submitted' : usual;
  const at = new Date(timestamp);
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()]
    .map((part) => String(part).padStart(2, '0'))
    .join(':');
  const why = reasonOf(reason);
  const who = actor === '' ? '' : ` (${plainLine(actor, 100)})`;
  return `${pen('quiet', time)}  ${pen(tone, word)}${why === '' ? '' : `: ${why}`}${pen('quiet', who)}`;
}
