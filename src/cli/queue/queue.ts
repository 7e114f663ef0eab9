// `signalbox queue`: the queues of an organization and their settings.

import type { Command } from 'commander';
import { defaultSettings } from '#core/queue/settings.ts';
import { withConnection, withJson } from '../client/connection.ts';
import { withQueue } from '../client/place.ts';
import { type AddCommand, withExamples } from '../command.ts';

const where = '--repo sandbox.example/acme/widgets --branch main';
const settingNames = Object.keys(defaultSettings).join(', ');

export const addQueue: AddCommand = ({ program, context, run }) => {
  const queue = program.command('queue').description('list, show, create, change and stop queues');
  const add = (name: string, summary: string): Command =>
    withJson(withConnection(withQueue(queue.command(name).description(summary))));
  const pairs = (command: Command, isNeeded: boolean): Command =>
    command
      .argument(isNeeded ? '<key=value...>' : '[key=value...]', 'settings, such as concurrency=8 batch=on')
      .addHelpText('after', `\nSettings: ${settingNames}.\nsignalbox queue show tells their values.`);

  const list = withJson(
    withConnection(queue.command('list').description('list queues with what is in them')),
  ).argument('[query]', 'part of the name of the repository or the branch');
  withExamples(list, { line: 'signalbox queue list', does: 'all queues of the organization' });
  run(list, async (given) => (await import('./queue-action.ts')).listQueues(context, given));

  const show = add('show', 'show a queue and its settings');
  withExamples(show, { line: `signalbox queue show ${where}`, does: 'its state and every setting' });
  run(show, async (given) => (await import('./queue-action.ts')).showQueue(context, given));

  const create = pairs(add('create', 'create the queue of a branch'), false);
  withExamples(create, {
    line: 'signalbox queue create --repo sandbox.example/acme/widgets --branch release concurrency=3',
    does: 'a queue for the branch release that tests three at once',
  });
  run(create, async (given) => (await import('./queue-action.ts')).createQueue(context, given));

  const set = pairs(add('set', 'change settings of a queue; what is not named stays'), true);
  withExamples(
    set,
    { line: `signalbox queue set ${where} concurrency=8 batch=on`, does: 'shows what was and what is' },
    { line: `signalbox queue set ${where} requiredStatuses=ci/test`, does: 'one required check' },
  );
  run(set, async (given) => (await import('./queue-action.ts')).setQueue(context, given));

  const states = [
    ['pause', 'start no more tests and land nothing', 'PAUSED'],
    ['drain', 'take no more in, and finish what is there', 'DRAINING'],
    ['resume', 'go on after a pause or a drain', 'RUNNING'],
  ] as const;
  for (const [name, summary, state] of states) {
    const command = add(name, summary);
    withExamples(command, { line: `signalbox queue ${name} ${where}`, does: summary });
    run(command, async (given) => (await import('./queue-action.ts')).setState(context, given, state));
  }

  const remove = add('delete', 'delete an empty queue; its history is kept').option('--yes', 'do not ask');
  withExamples(remove, {
    line: 'signalbox queue delete --repo sandbox.example/acme/widgets --branch release --yes',
    does: 'deletes it without a question',
  });
  run(remove, async (given) => (await import('./queue-action.ts')).deleteQueue(context, given));
};
