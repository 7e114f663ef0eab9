// `signalbox simulate`: what other settings would have done with the history of a queue, and which of them to take. It
// reads through the API, and plays what it read through the planner itself, here.

import { InvalidArgumentError, Option } from 'commander';
import { withConnection, withJson } from '../client/connection.ts';
import { withQueue } from '../client/place.ts';
import { type AddCommand, type CliContext, type Given, withExamples } from '../command.ts';

const where = '--repo sandbox.example/acme/widgets --branch main';

const numberFrom = (min: number, max: number) => (text: string) => {
  const value = Number(text);
  if (text.trim() === '' || !(value >= min && value <= max))
    throw new InvalidArgumentError(`It must be a number from ${min} to ${max}.`);
  return value;
};

const wholeFrom = (min: number, max: number) => (text: string) => {
  const value = numberFrom(min, max)(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError('It must be a whole number.');
  return value;
};

const collect = (pair: string, before: readonly string[]): readonly string[] => [...before, pair];

export type SimulateOptions = {
  readonly days: number;
  readonly set: readonly string[];
  readonly goal: 'latency' | 'cost';
  readonly ciBudget: number;
  readonly maxConcurrency?: number;
  readonly json?: true;
};

export const addSimulate: AddCommand = ({ program, context, run }) => {
  const command = withJson(
    withConnection(
      withQueue(
        program
          .command('simulate')
          .description('what other settings would have done with the history of a queue, and which to take'),
      ),
    ),
  )
    .option('--days <number>', 'how much of the history to play', numberFrom(0.01, 90), 14)
    .option(
      '--set <key=value>',
      'only ask what this setting would have done; can be repeated',
      collect,
      [] as readonly string[],
    )
    .addOption(
      new Option('--goal <goal>', 'lowest time in queue, or fewest CI minutes')
        .choices(['latency', 'cost'])
        .default('latency'),
    )
    .option(
      '--ci-budget <factor>',
      'CI minutes per merged, at most so many times as now',
      numberFrom(0.1, 100),
      1.2,
    )
    .option(
      '--max-concurrency <number>',
      'at most so many runs at once; else twice as now',
      wholeFrom(1, 1000),
    );
  withExamples(
    command,
    { line: `signalbox simulate ${where}`, does: 'tries many settings and recommends some' },
    {
      line: `signalbox simulate ${where} --set batch=on --set batchingMinSize=4`,
      does: 'what batches of four would have done',
    },
  );
  run(command, (given) => simulate(context, given));
};

async function simulate(context: CliContext, given: Given): Promise<number> {
  const { simulateQueue } = await import('./simulate-action.ts');
  return simulateQueue(context, given.options as unknown as SimulateOptions & Given['options']);
}
