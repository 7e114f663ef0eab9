// What the commands of `signalbox queue` do.

import type { Api } from '../client/api.ts';
import { openApi } from '../client/connection.ts';
import { findQueue, findRepository, type QueueReference } from '../client/place.ts';
import type { CliContext, Given } from '../command.ts';
import { CliError } from '../exit-codes.ts';
import { penFor, printJson, printLines } from '../terminal/output.ts';
import { plainLine } from '../terminal/plain-text.ts';
import { confirm } from '../terminal/prompt.ts';
import { changeLines } from '../terminal/setting-change.ts';
import { settingsIn } from './queue-setting.ts';
import { queueLines, queueListLines } from './queue-view.ts';

type QueueCommandContext = { readonly api: Api; readonly place: QueueReference; readonly isJson: boolean };

async function settle(context: CliContext, { options }: Given): Promise<QueueCommandContext> {
  const api = await openApi(context, options);
  return { api, place: await findQueue(context, api, options), isJson: options['json'] === true };
}

const pen = penFor(process.stdout);

export async function listQueues(context: CliContext, { args: [query], options }: Given): Promise<number> {
  const api = await openApi(context, options);
  const answer = await api.call('listQueues', {
    take: 100,
    ...(query === undefined ? {} : { query: query as string }),
  });
  if (options['json'] === true) printJson(answer);
  else printLines(queueListLines(answer, pen));
  return 0;
}

export async function showQueue(context: CliContext, given: Given): Promise<number> {
  const { api, place, isJson } = await settle(context, given);
  const answer = await api.call('getQueue', place);
  if (isJson) printJson(answer);
  else printLines(queueLines(answer, pen));
  return 0;
}

export async function createQueue(context: CliContext, { args: [pairs], options }: Given): Promise<number> {
  const settings = settingsIn(pairs as readonly string[]);
  const { branch: targetBranch } = options as { readonly branch?: string };
  if (targetBranch === undefined)
    throw new CliError('The target branch is missing. Use --branch, for example --branch main.', 'usage');
  const api = await openApi(context, options);
  const repo = await findRepository(context, options);
  const answer = await api.call('createQueue', { repo, targetBranch, ...settings });
  if (options['json'] === true) printJson(answer);
  else printLines([`Created the queue for ${plainLine(targetBranch)} of ${repo.owner}/${repo.name}.`]);
  return 0;
}

export async function setQueue(context: CliContext, given: Given): Promise<number> {
  const pairs = given.args[0] as readonly string[];
  const settings = settingsIn(pairs);
  const { api, place, isJson } = await settle(context, given);
  const before = await api.call('getQueue', place);
  const answer = await api.call('updateQueue', { ...place, ...settings });
  if (isJson) printJson(answer);
  else printLines(changeLines(before, answer, Object.keys(settings), pen));
  return 0;
}

export async function setState(
  context: CliContext,
  given: Given,
  state: 'RUNNING' | 'PAUSED' | 'DRAINING',
): Promise<number> {
  const { api, place, isJson } = await settle(context, given);
  const before = await api.call('getQueue', place);
  const answer = await api.call('updateQueue', { ...place, state });
  if (isJson) printJson(answer);
  else printLines(changeLines(before, answer, ['state'], pen));
  return 0;
}

export async function deleteQueue(context: CliContext, given: Given): Promise<number> {
  const { api, place, isJson } = await settle(context, given);
  const name = `the queue for ${place.targetBranch} of ${place.repo.owner}/${place.repo.name}`;
  if (given.options['yes'] !== true && !(await confirm(`Delete ${name}?`))) {
    printLines(['Nothing was deleted.']);
    return 1;
  }
  const answer = await api.call('deleteQueue', place);
  if (isJson) printJson(answer);
  else printLines([`Deleted ${name}.`]);
  return 0;
}
