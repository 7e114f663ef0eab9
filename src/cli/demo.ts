// `signalbox demo`: what can be asked of it. The demo itself brings a database and the service, so it is handed on.

import { InvalidArgumentError } from 'commander';
import { type AddCommand, withExamples } from './command.ts';

export type DemoWishes = {
  readonly seed: number;
  readonly speed: number;
  /** Null: 8080, or any that is free. */
  readonly port: number | null;
  /** Null: without end. */
  readonly pullRequests: number | null;
  readonly exit: boolean;
  readonly json: boolean;
  /** How many of the repositories, from the first on. */
  readonly queues: number;
  /** Share of test runs that fail though nothing is wrong. */
  readonly flakes: number;
  /** Of the first queue, as in updateQueue. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Null: one of its own. */
  readonly database: string | null;
};

const again = (text: string, before: readonly string[]): readonly string[] => [...before, text];

const numberFrom = (min: number, max: number, isWhole: boolean) => (text: string) => {
  const value = Number(text);
  if (text.trim() === '' || !(value >= min && value <= max) || (isWhole && !Number.isInteger(value)))
    throw new InvalidArgumentError(`It must be a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}.`);
  return value;
};

export const addDemo: AddCommand = ({ program, context, run }) => {
  const command = program
    .command('demo')
    .description('start Signalbox with a database and a simulated team, on this machine alone, to look at')
    .option('--seed <number>', 'the same number is the same story', numberFrom(0, 2 ** 31, true), 1)
    .option('--speed <factor>', 'how much faster the team and its CI are', numberFrom(0.01, 100, false), 1)
    .option(
      '--port <port>',
      'of the dashboard (default: 8080, or any that is free)',
      numberFrom(1, 65_535, true),
    )
    .option('--pull-requests <number>', 'open so many and no more', numberFrom(1, 100_000, true))
    .option('--exit', 'end when all of them have ended, and print figures (needs --pull-requests)', false)
    .option('--json', 'the figures as JSON', false)
    .option('--queues <number>', 'how many queues, 1 to 3', numberFrom(1, 3, true), 3)
    .option('--flakes <share>', 'test runs that fail though nothing is wrong', numberFrom(0, 1, false), 0.05)
    .option('--set <key=value>', 'a setting of the first queue; can be repeated', again, [])
    .option('--database <url>', 'an empty PostgreSQL database to use; the demo leaves its tables in it');
  withExamples(
    command,
    { line: 'signalbox demo', does: 'start, and run until Ctrl-C' },
    {
      line: 'signalbox demo --queues 1 --pull-requests 8 --speed 5 --exit --set batch=false',
      does: 'let eight pull requests go through a queue without batches, and print what came of it',
    },
  );
  run(command, async ({ options }) => {
    const wishes = options as Partial<DemoWishes>;
    if (wishes.exit === true && wishes.pullRequests === undefined)
      command.error('--exit needs --pull-requests: the team would never end by itself.');
    const { set, ...rest } = options;
    // Only here: what settings can be is a large thing to know, and would slow the start of every other command.
    const { settingsIn } = await import('./queue/queue-setting.ts');
    const settings = settingsIn(set as readonly string[]);
    return context.demo({
      port: null,
      pullRequests: null,
      database: null,
      ...rest,
      settings,
    } as DemoWishes);
  });
};
