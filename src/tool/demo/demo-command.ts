// `signalbox demo` and its options. The demo itself brings a database and the service, so it is passed in.

import { InvalidArgumentError } from 'commander';
import { type AddCommand, withExamples } from '#cli/command.ts';

export type DemoOptions = {
  readonly seed: number;
  readonly speed: number;
  /** Null: 8080, or any free port. */
  readonly port: number | null;
  /** Null: without end. */
  readonly pullRequests: number | null;
  readonly exit: boolean;
  readonly json: boolean;
  /** How many of the repositories, from the first on. */
  readonly queues: number;
  /** Share of test runs that fail though nothing is wrong. */
  readonly flakes: number;
  /** Settings of the first queue, as in updateQueue. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** Null: the demo's own database. */
  readonly database: string | null;
};

const again = (text: string, before: readonly string[]): readonly string[] => [...before, text];

const numberFrom = (min: number, max: number, isWhole: boolean) => (text: string) => {
  const value = Number(text);
  if (text.trim() === '' || !(value >= min && value <= max) || (isWhole && !Number.isInteger(value)))
    throw new InvalidArgumentError(`Use a ${isWhole ? 'whole ' : ''}number from ${min} to ${max}.`);
  return value;
};

/** The command, and what runs the demo until it ends. */
export const addDemo =
  (demo: (demoOptions: DemoOptions) => Promise<number>): AddCommand =>
  ({ program, run }) => {
    const command = program
      .command('demo')
      .description('run Signalbox on this machine with a temporary database and a simulated team')
      .option(
        '--seed <number>',
        'seed of the simulation; the same seed gives the same pull requests',
        numberFrom(0, 2 ** 31, true),
        1,
      )
      .option('--speed <factor>', 'speed of the team and its CI', numberFrom(0.01, 100, false), 1)
      .option(
        '--port <port>',
        'port of the dashboard (default: 8080, or any free port)',
        numberFrom(1, 65_535, true),
      )
      .option(
        '--pull-requests <number>',
        'number of pull requests to open (default: no limit)',
        numberFrom(1, 100_000, true),
      )
      .option(
        '--exit',
        'exit after every pull request has left the queue, and print metrics (needs --pull-requests)',
        false,
      )
      .option('--json', 'print the metrics as JSON', false)
      .option('--queues <number>', 'number of queues, 1 to 3', numberFrom(1, 3, true), 3)
      .option('--flakes <share>', 'share of test runs that fail by chance', numberFrom(0, 1, false), 0.05)
      .option('--set <key=value>', 'setting of the first queue; can be repeated', again, [])
      .option(
        '--database <url>',
        'URL of an empty PostgreSQL database to use instead; the tables stay in it',
      );
    withExamples(
      command,
      { line: 'signalbox demo', does: 'start the demo; Ctrl-C stops it' },
      {
        line: 'signalbox demo --queues 1 --pull-requests 8 --speed 5 --exit --set batch=false',
        does: 'send eight pull requests through a queue without batches, and print metrics',
      },
    );
    run(command, async ({ options }) => {
      const demoOptions = options as Partial<DemoOptions>;
      if (demoOptions.exit === true && demoOptions.pullRequests === undefined)
        command.error(
          '--exit needs --pull-requests, because the team otherwise opens pull requests without end. Add --pull-requests.',
        );
      const { set, ...rest } = options;
      // Imported here: the schema of settings is large, and would slow the start of every other command.
      const { settingsIn } = await import('#cli/queue/queue-setting.ts');
      const settings = settingsIn(set as readonly string[]);
      return demo({
        port: null,
        pullRequests: null,
        database: null,
        ...rest,
        settings,
      } as DemoOptions);
    });
  };
