// `signalbox status`, `explain` and `wait`: where a pull request or a queue is, and why.

import { Option } from 'commander';
import { openApi, withConnection, withJson } from '../client/connection.ts';
import { findQueue, parsePullRequest, withQueue } from '../client/place.ts';
import { findPullRequest, withPullRequest } from '../client/pull-request-place.ts';
import { type AddCommand, type CliContext, type Given, withExamples } from '../command.ts';
import { parseSpan } from '../parse-span.ts';
import { penFor, printJson, printLines } from '../terminal/output.ts';

const repo = '--repo sandbox.example/acme/widgets';

export const timeoutOption = (): Option =>
  new Option('--timeout <time>', 'longest wait, such as 90s, 30m or 2h; else without end').argParser(
    parseSpan,
  );

export const addStatus: AddCommand = ({ program, context, run }) => {
  const add = (name: string, summary: string) =>
    withJson(withConnection(withQueue(withPullRequest(program.command(name).description(summary)))));

  const status = withJson(withConnection(withQueue(program.command('status'))))
    .description('show where a pull request is; without one, the line of its queue')
    .argument('[pr]', 'its number or address; . is the one that is checked out', parsePullRequest)
    .option('--watch', 'go on showing it until it has left the queue');
  withExamples(
    status,
    { line: `signalbox status ${repo}`, does: 'who is in line, and when each is expected to land' },
    { line: `signalbox status 7 ${repo}`, does: 'where number 7 is, and why' },
    { line: `signalbox status 7 ${repo} --watch`, does: 'the same, live, until it has merged or left' },
  );
  run(status, (given) => showStatus(context, given));

  const explain = add('explain', 'say why a pull request is where it is, and where its time went');
  withExamples(explain, { line: `signalbox explain 7 ${repo}`, does: 'the whole story of number 7' });
  run(explain, (given) => explainOne(context, given));

  const wait = add('wait', 'wait until a pull request has merged or left the queue').addOption(
    timeoutOption(),
  );
  withExamples(wait, {
    line: `signalbox wait 7 ${repo} --timeout 30m`,
    does: 'ends with 0 when it is merged, 3 failed, 4 cancelled, 5 timeout, 6 never submitted',
  });
  run(wait, async (given) => {
    const api = await openApi(context, given.options);
    const place = await findPullRequest(context, api, given);
    const { timeout, json } = given.options as { readonly timeout?: number; readonly json?: boolean };
    const { watchPullRequest } = await import('./watch.ts');
    const wishes = { timeoutMs: timeout ?? null, isJson: json === true, isLive: false };
    return watchPullRequest(api, place, wishes);
  });
};

async function showStatus(context: CliContext, given: Given): Promise<number> {
  const { watch, json } = given.options as { readonly watch?: boolean; readonly json?: boolean };
  const api = await openApi(context, given.options);
  if (given.args[0] === undefined) {
    const place = await findQueue(context, api, given.options);
    const { showLine, watchLine } = await import('../queue/watch-queue.ts');
    return watch === true && json !== true ? watchLine(api, place) : showLine(api, place, json === true);
  }
  const place = await findPullRequest(context, api, given);
  if (watch === true) {
    const { watchPullRequest } = await import('./watch.ts');
    return watchPullRequest(api, place, { timeoutMs: null, isJson: json === true, isLive: true });
  }
  const answer = await api.call('getSubmittedPullRequest', { ...place, includeTimeline: json === true });
  if (json === true) printJson(answer);
  else {
    const { statusLines } = await import('./status-view.ts');
    printLines(statusLines(place, answer, penFor(process.stdout), new Date()));
  }
  return 0;
}

async function explainOne(context: CliContext, given: Given): Promise<number> {
  const api = await openApi(context, given.options);
  const place = await findPullRequest(context, api, given);
  const wishes = { includeTimeline: true, includeTimeSpent: true };
  const answer = await api.call('getSubmittedPullRequest', { ...place, ...wishes });
  if (given.options['json'] === true) {
    printJson(answer);
    return 0;
  }
  const isWaiting = (answer.queuePosition ?? 0) > 0;
  const queue = isWaiting ? await api.call('getQueue', place) : null;
  const { statusLines } = await import('./status-view.ts');
  const { aheadLines, blameLines, timeLines } = await import('./explain-view.ts');
  const pen = penFor(process.stdout);
  printLines([
    ...statusLines(place, answer, pen, new Date()),
    ...blameLines(answer, pen),
    ...aheadLines(queue?.enqueuedPullRequests ?? [], place.pr.number, pen),
    ...timeLines(answer, pen),
  ]);
  return 0;
}
