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
  new Option('--timeout <time>', 'longest wait, for example 90s, 30m or 2h (default: none)').argParser(
    parseSpan,
  );

export const addStatus: AddCommand = ({ program, context, run }) => {
  const add = (name: string, summary: string) =>
    withJson(withConnection(withQueue(withPullRequest(program.command(name).description(summary)))));

  const status = withJson(withConnection(withQueue(program.command('status'))))
    .description('show the state of a pull request, or of the whole queue')
    .argument(
      '[pr]',
      'number or URL of the pull request; . for the one in the checkout (default: the whole queue)',
      parsePullRequest,
    )
    .option('--watch', 'update the view until the pull request has left the queue');
  withExamples(
    status,
    {
      line: `signalbox status ${repo}`,
      does: 'list the queued pull requests and when each is expected to merge',
    },
    { line: `signalbox status 7 ${repo}`, does: 'show the state of pull request 7 and the reason for it' },
    {
      line: `signalbox status 7 ${repo} --watch`,
      does: 'update the view until pull request 7 has merged or left the queue',
    },
  );
  run(status, (given) => showStatus(context, given));

  const explain = add('explain', 'explain why a pull request is waiting or failed, and where its time went');
  withExamples(explain, { line: `signalbox explain 7 ${repo}`, does: 'explain the state of pull request 7' });
  run(explain, (given) => explainOne(context, given));

  const wait = add('wait', 'wait until a pull request has merged or left the queue').addOption(
    timeoutOption(),
  );
  withExamples(wait, {
    line: `signalbox wait 7 ${repo} --timeout 30m`,
    does: 'exit with status 0 if it merged, 3 failed, 4 cancelled, 5 timeout, 6 never submitted',
  });
  run(wait, async (given) => {
    const api = await openApi(context, given.options);
    const place = await findPullRequest(context, api, given);
    const { timeout, json } = given.options as { readonly timeout?: number; readonly json?: boolean };
    const { watchPullRequest } = await import('./watch.ts');
    const requestOptions = { timeoutMs: timeout ?? null, isJson: json === true, isLive: false };
    return watchPullRequest(api, place, requestOptions);
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
  const requestOptions = { includeTimeline: true, includeTimeSpent: true };
  const answer = await api.call('getSubmittedPullRequest', { ...place, ...requestOptions });
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
