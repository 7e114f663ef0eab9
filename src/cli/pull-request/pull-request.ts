// `signalbox submit`, `cancel` and `restart`: what a person or a script does with a pull request.

import { Option } from 'commander';
import type { SubmittedPullRequest } from '#contract/pull-request.ts';
import { openApi, withConnection, withJson } from '../client/connection.ts';
import { type QueuePlace, withQueue } from '../client/place.ts';
import { findPullRequest, withPullRequest } from '../client/pull-request-place.ts';
import { type AddCommand, type CliContext, type Given, withExamples } from '../command.ts';
import { penFor, printJson, printLines } from '../terminal/output.ts';
import { timeoutOption } from './status.ts';

const repo = '--repo sandbox.example/acme/widgets';

export const addPullRequest: AddCommand = ({ program, context, run }) => {
  const add = (name: string, summary: string) =>
    withJson(withConnection(withQueue(withPullRequest(program.command(name).description(summary)))));

  const submit = add('submit', 'put a pull request into its queue')
    .addOption(new Option('--priority <priority>', 'urgent, high, medium, low, or 0 (first) to 255'))
    .addOption(
      new Option('--sha <sha>', 'the head that you mean (default: the head as the host reports it now)'),
    )
    .option('--no-batch', 'test it alone even where the queue tests several at once')
    .option('--wait', 'wait until it has merged or left the queue')
    .addOption(timeoutOption());
  withExamples(
    submit,
    { line: `signalbox submit 7 ${repo}`, does: 'submits number 7' },
    { line: `signalbox submit 8 ${repo} --priority high`, does: 'and lets it go ahead of others' },
    { line: `signalbox submit 11 ${repo} --wait`, does: 'and ends with 0 once it is merged' },
  );
  run(submit, (given) => submitOne(context, given));

  const cancel = add('cancel', 'take a pull request out of its queue');
  withExamples(cancel, { line: `signalbox cancel 9 ${repo}`, does: 'takes number 9 out' });
  run(cancel, async (given) => {
    const api = await openApi(context, given.options);
    const place = await findPullRequest(context, api, given);
    const answer = await api.call('cancelPullRequest', place);
    if (given.options['json'] === true) printJson(answer);
    else printLines([`#${place.pr.number} is taken out of the queue of ${place.targetBranch}.`]);
    return 0;
  });

  const restart = add('restart', 'run the tests of a pull request anew, in its place in the line');
  withExamples(restart, { line: `signalbox restart 10 ${repo}`, does: 'tests number 10 once more' });
  run(restart, async (given) => {
    const api = await openApi(context, given.options);
    const place = await findPullRequest(context, api, given);
    return show(given, place, await api.call('restartTestsOnPullRequest', place));
  });
};

type SubmitWishes = {
  readonly sha?: string;
  readonly priority?: string;
  readonly batch: boolean;
  readonly wait?: boolean;
  readonly timeout?: number;
  readonly json?: boolean;
};

async function submitOne(context: CliContext, given: Given): Promise<number> {
  const { sha, priority, batch, wait, timeout, json } = given.options as SubmitWishes;
  const api = await openApi(context, given.options);
  const place = await findPullRequest(context, api, given);
  const wishes = { ...(priority === undefined ? {} : { priority }), ...(batch ? {} : { noBatch: true }) };
  // The head is named in any case, so that a push in between is refused instead of submitted.
  const head = sha ?? (await api.call('getPullRequestFromHost', place)).prSha;
  const pr = { ...place.pr, sha: head };
  const answer = await api.call('submitPullRequest', { ...place, pr, ...wishes });
  if (wait !== true) return show(given, place, answer);
  const { watchPullRequest } = await import('./watch.ts');
  return watchPullRequest(api, place, { timeoutMs: timeout ?? null, isJson: json === true, isLive: true });
}

async function show({ options }: Given, place: QueuePlace, answer: SubmittedPullRequest): Promise<number> {
  if (options['json'] === true) {
    printJson(answer);
    return 0;
  }
  const { statusLines } = await import('./status-view.ts');
  printLines(statusLines(place, answer, penFor(process.stdout), new Date()));
  return 0;
}
