// `signalbox simulate`: what other settings would have done with the history of a queue, and which of them to
// choose. It reads the history through the API, and replays it locally through the planner itself.

import { InvalidArgumentError, Option } from 'commander';
import { withConnection, withJson } from '#cli/client/connection.ts';
import { withQueue } from '#cli/client/place.ts';
import { type AddCommand, type CliContext, type Given, withExamples } from '#cli/command.ts';

const where = '--repo sandbox.example/acme/widgets --branch main';

const numberFrom = (min: number, max: number) => (text: string) => {
  const value = Number(text);
  if (text.trim() === '' || !(value >= min && value <= max))
    throw new InvalidArgumentError(`Use a number from ${min} to ${max}.`);
  return value;
};

const wholeFrom = (min: number, max: number) => (text: string) => {
  const value = numberFrom(min, max)(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError('Use a whole number.');
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
          .description('replay the history of a queue with other settings and recommend the best'),
      ),
    ),
  )
    .option('--days <number>', 'days of history to replay', numberFrom(0.01, 90), 14)
    .option(
      '--set <key=value>',
      'simulate only this setting, without a recommendation; can be repeated',
      collect,
      [] as readonly string[],
    )
    .addOption(
      new Option('--goal <goal>', 'latency: lowest time in queue; cost: fewest CI minutes')
        .choices(['latency', 'cost'])
        .default('latency'),
    )
    .option(
      '--ci-budget <factor>',
      'most CI minutes per merge, as a multiple of the current value',
      numberFrom(0.1, 100),
      1.2,
    )
    .option(
      '--max-concurrency <number>',
      'most concurrent runs (default: twice the current concurrency)',
      wholeFrom(1, 1000),
    );
  withExamples(
    command,
    { line: `signalbox simulate ${where}`, does: 'try many settings and recommend the best' },
    {
      line: `signalbox simulate ${where} --set batch=on --set batchingMinSize=4`,
      does: 'simulate batches of four',
    },
  );
  run(command, (given) => simulate(context, given));
};

async function simulate(context: CliContext, given: Given): Promise<number> {
  const { simulateQueue } = await import('./simulate-action.ts');
  return simulateQueue(context, given.options as unknown as SimulateOptions & Given['options']);
}
