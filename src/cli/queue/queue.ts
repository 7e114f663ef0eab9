// `signalbox queue`: the queues of an organization and their settings.

import type { Command } from 'commander';
import { defaultSettings } from '#core/queue/settings.ts';
import { withConnection, withJson } from '../client/connection.ts';
import { withQueue } from '../client/place.ts';
import { type AddCommand, withExamples } from '../command.ts';

const where = '--repo sandbox.example/acme/widgets --branch main';
const settingNames = Object.keys(defaultSettings).join(', ');

export const addQueue: AddCommand = ({ program, context, run }) => {
  const queue = program.command('queue').description('list, show, create, change, pause and delete queues');
  const add = (name: string, summary: string): Command =>
    withJson(withConnection(withQueue(queue.command(name).description(summary))));
  const pairs = (command: Command, isNeeded: boolean): Command =>
    command
      .argument(
        isNeeded ? '<key=value...>' : '[key=value...]',
        'settings, for example concurrency=8 batch=on',
      )
      .addHelpText('after', `\nSettings: ${settingNames}.\nsignalbox queue show lists their values.`);

  const list = withJson(
    withConnection(queue.command('list').description('list queues with their state and length')),
  ).argument('[query]', 'part of a repository name or branch name');
  withExamples(list, { line: 'signalbox queue list', does: 'list all queues of the organization' });
  run(list, async (given) => (await import('./queue-action.ts')).listQueues(context, given));

  const show = add('show', 'show a queue and its settings');
  withExamples(show, {
    line: `signalbox queue show ${where}`,
    does: 'show the state and every setting of the queue',
  });
  run(show, async (given) => (await import('./queue-action.ts')).showQueue(context, given));

  const create = pairs(add('create', 'create a queue for a branch'), false);
  withExamples(create, {
    line: 'signalbox queue create --repo sandbox.example/acme/widgets --branch release concurrency=3',
    does: 'create a queue for the branch release with up to 3 concurrent runs',
  });
  run(create, async (given) => (await import('./queue-action.ts')).createQueue(context, given));

  const set = pairs(add('set', 'change the named settings of a queue'), true);
  withExamples(
    set,
    {
      line: `signalbox queue set ${where} concurrency=8 batch=on`,
      does: 'change two settings, and print the old and the new values',
    },
    { line: `signalbox queue set ${where} requiredStatuses=ci/test`, does: 'require one check' },
  );
  run(set, async (given) => (await import('./queue-action.ts')).setQueue(context, given));

  const states = [
    ['pause', 'pause a queue; no tests start and nothing merges', 'PAUSED'],
    ['drain', 'drain a queue; the pull requests in it finish, new ones wait', 'DRAINING'],
    ['resume', 'resume a paused or draining queue', 'RUNNING'],
  ] as const;
  for (const [name, summary, state] of states) {
    const command = add(name, summary);
    withExamples(command, { line: `signalbox queue ${name} ${where}`, does: summary });
    run(command, async (given) => (await import('./queue-action.ts')).setState(context, given, state));
  }

  const remove = add('delete', 'delete an empty queue; its history is kept').option(
    '--yes',
    'do not ask for confirmation',
  );
  withExamples(remove, {
    line: 'signalbox queue delete --repo sandbox.example/acme/widgets --branch release --yes',
    does: 'delete the queue without asking for confirmation',
  });
  run(remove, async (given) => (await import('./queue-action.ts')).deleteQueue(context, given));
};
