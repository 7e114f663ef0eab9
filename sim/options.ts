// The command line of the simulator.

import { parseArgs } from 'node:util';

export const usage = `npm run sim -- submitqueue | trains | trace FILE [options]
  --seeds N        workloads to average over (3)
  --first-seed N   the first of them (1); the reference figures belong to seeds 1 to 5
  --n N            changes of each workload
  --slots N        CI slots, for a trace (16)
  --policies a,b   only these policies, and the oracle
  --pushed S       share of the changes that are pushed to while they wait (0)
  --cancelled S    share of the changes that are cancelled (0)
  --json           one JSON document instead of tables
  --plots DIR      also write SVG plots`;

export type Options = {
  readonly experiment: 'submitqueue' | 'trains' | 'trace';
  readonly traceFile: string | undefined;
  readonly seeds: readonly number[];
  readonly count: number | undefined;
  readonly slots: number;
  readonly policies: readonly string[] | undefined;
  readonly pushedShare: number;
  readonly cancelledShare: number;
  readonly isJson: boolean;
  readonly plotsDir: string | undefined;
};

/** The reference figures are means over three of these; beyond them the workloads are others, and so are the means. */
const lastReferenceSeed = 5;

export function parseOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seeds: { type: 'string', default: '3' },
      'first-seed': { type: 'string', default: '1' },
      n: { type: 'string' },
      slots: { type: 'string', default: '16' },
      policies: { type: 'string' },
      pushed: { type: 'string', default: '0' },
      cancelled: { type: 'string', default: '0' },
      json: { type: 'boolean', default: false },
      plots: { type: 'string' },
    },
  });
  const [experiment, traceFile, ...rest] = positionals;
  if (experiment !== 'submitqueue' && experiment !== 'trains' && experiment !== 'trace')
    throw new Error('Which experiment: submitqueue, trains or trace?');
  if (rest.length > 0 || (experiment === 'trace') !== (traceFile !== undefined))
    throw new Error('A trace needs one file, the other experiments none.');
  const firstSeed = wholeNumber('first-seed', values['first-seed']);
  const seedCount = experiment === 'trace' ? 1 : wholeNumber('seeds', values.seeds);
  return {
    experiment,
    traceFile,
    seeds: Array.from({ length: seedCount }, (_, at) => firstSeed + at),
    count: values.n === undefined ? undefined : wholeNumber('n', values.n),
    slots: wholeNumber('slots', values.slots),
    policies: values.policies?.split(',').map((name) => name.trim()),
    pushedShare: share('pushed', values.pushed),
    cancelledShare: share('cancelled', values.cancelled),
    isJson: values.json,
    plotsDir: values.plots,
  };
}

/** Goals are held only against the run they were set for. */
export function isReferenceRun(options: Options): boolean {
  const { seeds, count, pushedShare, cancelledShare } = options;
  const hasReferenceSeeds = seeds[0] === 1 && seeds.at(-1)! <= lastReferenceSeed;
  return hasReferenceSeeds && count === undefined && pushedShare + cancelledShare === 0;
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
