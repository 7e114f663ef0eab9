// `signalbox submit`, `cancel` and `restart`: the actions of a person or a script on a pull request.

import { Option } from 'commander';
import type { SubmittedPullRequest } from '#contract/pull-request.ts';
import { openApi, withConnection, withJson } from '../client/connection.ts';
import { type QueueReference, withQueue } from '../client/place.ts';
import { findPullRequest, withPullRequest } from '../client/pull-request-place.ts';
import { type AddCommand, type CliContext, type Given, withExamples } from '../command.ts';
import { penFor, printJson, printLines } from '../terminal/output.ts';
import { timeoutOption } from './status.ts';

const repo = '--repo sandbox.example/acme/widgets';

export const addPullRequest: AddCommand = ({ program, context, run }) => {
  const add = (name: string, summary: string) =>
    withJson(withConnection(withQueue(withPullRequest(program.command(name).description(summary)))));

  const submit = add('submit', 'add a pull request to its queue')
    .addOption(
      new Option('--priority <priority>', 'urgent, high, medium, low, or a number from 0 (first) to 255'),
    )
    .addOption(new Option('--sha <sha>', 'head commit to submit (default: the current head at the Git host)'))
    .option('--no-batch', 'test it alone even if the queue uses batches')
    .option('--wait', 'wait until it has merged or left the queue')
    .addOption(timeoutOption());
  withExamples(
    submit,
    { line: `signalbox submit 7 ${repo}`, does: 'submit pull request 7' },
    {
      line: `signalbox submit 8 ${repo} --priority high`,
      does: 'submit pull request 8 ahead of those with a lower priority',
    },
    {
      line: `signalbox submit 11 ${repo} --wait`,
      does: 'submit pull request 11 and exit with status 0 once it is merged',
    },
  );
  run(submit, (given) => submitOne(context, given));

  const cancel = add('cancel', 'remove a pull request from its queue');
  withExamples(cancel, { line: `signalbox cancel 9 ${repo}`, does: 'remove pull request 9 from the queue' });
  run(cancel, async (given) => {
    const api = await openApi(context, given.options);
    const place = await findPullRequest(context, api, given);
    const answer = await api.call('cancelPullRequest', place);
    if (given.options['json'] === true) printJson(answer);
    else printLines([`#${place.pr.number} is removed from the queue of ${place.targetBranch}.`]);
    return 0;
  });

  const restart = add('restart', 'restart the tests of a pull request; it keeps its position in the queue');
  withExamples(restart, {
    line: `signalbox restart 10 ${repo}`,
    does: 'restart the tests of pull request 10',
  });
  run(restart, async (given) => {
    const api = await openApi(context, given.options);
    const place = await findPullRequest(context, api, given);
    return show(given, place, await api.call('restartTestsOnPullRequest', place));
  });
};

type SubmitCommandOptions = {
  readonly sha?: string;
  readonly priority?: string;
  readonly batch: boolean;
  readonly wait?: boolean;
  readonly timeout?: number;
  readonly json?: boolean;
};

async function submitOne(context: CliContext, given: Given): Promise<number> {
  const { sha, priority, batch, wait, timeout, json } = given.options as SubmitCommandOptions;
  const api = await openApi(context, given.options);
  const place = await findPullRequest(context, api, given);
  const submitOptions = {
    ...(priority === undefined ? {} : { priority }),
    ...(batch ? {} : { noBatch: true }),
  };
  // The request always names the head, so that a push in between is refused instead of submitted.
  const head = sha ?? (await api.call('getPullRequestFromHost', place)).prSha;
  const pr = { ...place.pr, sha: head };
  const answer = await api.call('submitPullRequest', { ...place, pr, ...submitOptions });
  if (wait !== true) return show(given, place, answer);
  const { watchPullRequest } = await import('./watch.ts');
  return watchPullRequest(api, place, { timeoutMs: timeout ?? null, isJson: json === true, isLive: true });
}

async function show(
  { options }: Given,
  place: QueueReference,
  answer: SubmittedPullRequest,
): Promise<number> {
  if (options['json'] === true) {
    printJson(answer);
    return 0;
  }
  const { statusLines } = await import('./status-view.ts');
  printLines(statusLines(place, answer, penFor(process.stdout), new Date()));
  return 0;
}
