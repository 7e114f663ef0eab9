// The command line of the simulator.

import { parseArgs } from 'node:util';
import { type QueueSettings, queueSettingTable } from '#core/queue/settings.ts';

export const usage = `npm run sim -- goals | risk | submitqueue | trains | trace FILE [options]
  --seeds A-B      workloads to average over (11-20); a seed alone is that one
  --n N            changes of each workload
  --only L1,L3     goals, risk: only these rows
  --quick          goals, risk: two seeds, and a tenth of the changes; goals are not judged
  --settings JSON  goals, risk: settings of the queue instead of the defaults; goals are not judged
  --slots N        CI slots, for a trace (16)
  --policies a,b   only these policies, and the oracle
  --pushed S       share of the changes that are pushed to while they wait (0)
  --cancelled S    share of the changes that are cancelled (0)
  --json           one JSON document instead of tables
  --plots DIR      also write SVG plots`;

const experiments = ['goals', 'risk', 'submitqueue', 'trains', 'trace'] as const;

export type Options = {
  readonly experiment: (typeof experiments)[number];
  readonly traceFile: string | undefined;
  readonly seeds: readonly number[];
  readonly count: number | undefined;
  /** Ids of rows of the goals. */
  readonly only: readonly string[] | undefined;
  readonly isQuick: boolean;
  readonly settings: Partial<QueueSettings>;
  readonly slots: number;
  readonly policies: readonly string[] | undefined;
  readonly pushedShare: number;
  readonly cancelledShare: number;
  readonly isJson: boolean;
  readonly plotsDir: string | undefined;
};

/** Whether its rows are rows of the goals. */
export const hasGoalRows = ({ experiment }: Pick<Options, 'experiment'>): boolean =>
  experiment === 'goals' || experiment === 'risk';

export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seeds: { type: 'string' },
      n: { type: 'string' },
      only: { type: 'string' },
      quick: { type: 'boolean', default: false },
      settings: { type: 'string' },
      slots: { type: 'string', default: '16' },
      policies: { type: 'string' },
      pushed: { type: 'string', default: '0' },
      cancelled: { type: 'string', default: '0' },
      json: { type: 'boolean', default: false },
      plots: { type: 'string' },
    },
  });
  const [name, traceFile, ...rest] = positionals;
  const experiment = experiments.find((known) => known === name);
  if (experiment === undefined) throw new Error(`Which experiment: ${experiments.join(', ')}?`);
  if (rest.length > 0 || (experiment === 'trace') !== (traceFile !== undefined))
    throw new Error('A trace needs one file, the other experiments none.');
  const { only, quick: isQuick, settings } = values;
  if (
    !hasGoalRows({ experiment }) &&
    [only, settings, isQuick || undefined].some((value) => value !== undefined)
  )
    throw new Error('--only, --quick and --settings belong to the goals and to risk.');
  const seedsDefault = experiment === 'trace' ? '1' : isQuick ? '11-12' : '11-20';
  return {
    experiment,
    traceFile,
    seeds: seedRange(values.seeds ?? seedsDefault),
    only: only === undefined ? undefined : listOf(only),
    isQuick,
    settings: settings === undefined ? {} : parseSettings(settings),
    count: values.n === undefined ? undefined : wholeNumber('n', values.n),
    slots: wholeNumber('slots', values.slots),
    policies: values.policies === undefined ? undefined : listOf(values.policies),
    pushedShare: share('pushed', values.pushed),
    cancelledShare: share('cancelled', values.cancelled),
    isJson: values.json,
    plotsDir: values.plots,
  };
}

/** Goals are held only against the workloads they were set for, with default settings; the seeds are free. */
export function isReferenceRun(options: Options): boolean {
  const { count, isQuick, settings, pushedShare, cancelledShare } = options;
  const isDefault = !isQuick && Object.keys(settings).length === 0;
  return isDefault && count === undefined && pushedShare + cancelledShare === 0;
}

const listOf = (text: string) => text.split(',').map((name) => name.trim());

function seedRange(text: string): readonly number[] {
  const [first = '', last = first, ...rest] = text.split('-');
  const from = wholeNumber('seeds', first);
  const to = wholeNumber('seeds', last);
  if (rest.length > 0 || to < from)
    throw new Error('--seeds must be a seed or a range of seeds, as in 11-20.');
  return Array.from({ length: to - from + 1 }, (_, at) => from + at);
}

function parseSettings(text: string): Partial<QueueSettings> {
  let settings: unknown;
  try {
    settings = JSON.parse(text);
  } catch {
    throw new Error('--settings must be JSON.');
  }
  const unknown = Object.keys(Object(settings)).find((name) => !(name in queueSettingTable));
  if (unknown !== undefined) throw new Error(`There is no setting ${unknown}.`);
  return settings as Partial<QueueSettings>;
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} must be a whole number from 1.`);
  return value;
}

function share(name: string, text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value <= 1)) throw new Error(`--${name} must be a number from 0 to 1.`);
  return value;
}
