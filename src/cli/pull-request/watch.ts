// `signalbox status --watch`, `wait` and `submit --wait`: show a pull request as it changes. A terminal shows
// one view that is updated in place; anything else gets a line for each change.

import type { SubmittedPullRequest } from '#contract/pull-request.ts';
import type { Api } from '../client/api.ts';
import type { PullRequestPlace } from '../client/pull-request-place.ts';
import { exitCodes } from '../exit-codes.ts';
import { getTerminalWidth, penFor, printJson, printLines, wrapText } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { openScreen } from '../terminal/screen.ts';
import { chooseExitName, follow, type Follower, type FollowEnd } from './follow.ts';
import { eventLine, failedLines, statusLines } from './status-view.ts';

type WatchOptions = {
  readonly timeoutMs: number | null;
  readonly isJson: boolean;
  /** True: a view that is updated in place, on a terminal; false: always lines. */
  readonly isLive: boolean;
};

const frameMs = 250;
const eventsMax = 12;

/** The exit code. */
export async function watchPullRequest(
  api: Api,
  place: PullRequestPlace,
  { timeoutMs, isJson, isLive }: WatchOptions,
): Promise<number> {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  process.once('SIGINT', interrupt);
  process.once('SIGTERM', interrupt);
  const view = isJson ? silent : isLive && process.stdout.isTTY ? picture(place) : log();
  let end: FollowEnd;
  try {
    end = await follow(api, place, view, { timeoutMs, signal: interruption.signal });
  } finally {
    view.close();
    process.off('SIGINT', interrupt);
    process.off('SIGTERM', interrupt);
  }
  const exit = chooseExitName(end);
  if (end.kind === 'ended' && isJson) printJson(end.answer);
  if (end.kind === 'timeout')
    console.error(`#${place.pr.number} is still in the queue after ${(timeoutMs ?? 0) / 1000} s.`);
  return exitCodes[exit].code;
}

type View = Follower & { readonly close: () => void };

const silent: View = { onAnswer: () => undefined, onSilence: () => undefined, close: () => undefined };

/** The events of the latest attempt, oldest first. */
function listAttemptEvents({
  timeline = [],
}: SubmittedPullRequest): NonNullable<SubmittedPullRequest['timeline']> {
  const attemptNumber = timeline[0]?.trip;
  return timeline.filter((event) => event.trip === attemptNumber).toReversed();
}

function log(): View {
  const pen = penFor(process.stdout);
  let printedCount = 0;
  let silence = '';
  return {
    onAnswer: (answer) => {
      silence = '';
      const events = listAttemptEvents(answer);
      if (events.length === printedCount) return;
      printLines(events.slice(printedCount).map((event) => eventLine(event, pen)));
      printedCount = events.length;
      printLines(answer.waitingFor.map((sentence) => `          ${plainLine(sentence, 500)}`));
      if (answer.failedTests !== null) printLines(failedLines(answer.failedTests, pen));
    },
    onSilence: (why) => {
      if (why !== silence) console.error(`${why} Trying again.`);
      silence = why;
    },
    close: () => undefined,
  };
}

function picture(place: PullRequestPlace): View {
  const pen = penFor(process.stdout);
  const screen = openScreen(process.stdout);
  let answer: SubmittedPullRequest | null = null;
  let silence = '';
  let frame = 0;
  const draw = (isLast: boolean) => {
    frame += 1;
    const columns = getTerminalWidth(process.stdout);
    const events = answer === null ? [] : listAttemptEvents(answer).slice(-eventsMax);
    screen.draw([
      ...(answer === null
        ? [pen('quiet', `#${place.pr.number} …`)]
        : statusLines(place, answer, pen, new Date(), isLast ? null : frame)),
      '',
      ...events.map((event) => `  ${eventLine(event, pen)}`),
      ...(silence === ''
        ? []
        : wrapText(`${silence} Trying again.`, '  ', columns).map((line) => pen('warning', line))),
    ]);
  };
  draw(false);
  const timer = setInterval(() => draw(false), frameMs);
  return {
    onAnswer: (next) => {
      answer = next;
      silence = '';
      draw(false);
    },
    onSilence: (why) => {
      silence = why;
    },
    close: () => {
      clearInterval(timer);
      draw(true);
      screen.close();
    },
  };
}
