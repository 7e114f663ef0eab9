// `npm run eval:demo [-- --seeds 11-13] [--pull-requests 300] [--speed 4] [--json]`: what the default strategy changes on the
// real service. Two demos of each seed handle the same pull requests, one with the default settings and one with
// `strategy=manual`, which was the default before. Exits with 1 if the default is worse in any figure.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { QueueFigures } from '#tool/demo/figures.ts';
import { createCleanup, root } from '../bench/fixture.ts';
import { positive, positiveWhole } from '../bench/option.ts';
import { type Figure, isMissed, lineOf } from '../soak/report.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '11-13' },
    'pull-requests': { type: 'string', default: '300' },
    speed: { type: 'string', default: '4' },
    json: { type: 'boolean', default: false },
  },
});
const pullRequests = positiveWhole(values, 'pull-requests');
const speed = positive(values, 'speed');
const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(values.seeds) ?? [];
if (first === undefined) throw new Error('--seeds must be a whole number or a range, such as 11-13.');
const seeds = Array.from({ length: Number(last) - Number(first) + 1 }, (_, at) => Number(first) + at);

/** The settings of the demo's queue, beside its defaults. */
const variants = { default: [], manual: ['--set', 'strategy=manual'] } as const;
type Variant = keyof typeof variants;

const cleanup = createCleanup();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void cleanup.run().then(() => process.exit(1)));

/** Runs a demo until every pull request has left its queue. */
async function runDemo(seed: number, variant: Variant): Promise<QueueFigures> {
  const options = { seed, speed, queues: 1, 'pull-requests': pullRequests };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const program = join(root, 'src', 'signalbox.ts');
  const child = spawn(
    process.execPath,
    [program, 'demo', '--exit', '--json', ...args, ...variants[variant]],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  cleanup.add(() => child.kill('SIGINT'));
  const [chunks, [code]] = await Promise.all([child.stdout.toArray(), once(child, 'exit')]);
  if (code !== 0) throw new Error(`The demo with seed ${seed} ended with ${String(code)}.`);
  const { queues } = JSON.parse(Buffer.concat(chunks as Buffer[]).toString()) as { queues: QueueFigures[] };
  return queues[0]!;
}

/** The figures that are compared: less is better in each. Times are those of the demo's team at speed 1. */
const compared: Readonly<Record<string, (figures: QueueFigures) => number>> = {
  'CI minutes per merge': ({ ciMinutes, merged }) => (speed * ciMinutes) / merged,
  'P50 in the queue, s': ({ timeInQueueP50Seconds }) => speed * (timeInQueueP50Seconds ?? Number.NaN),
  'P95 in the queue, s': ({ timeInQueueP95Seconds }) => speed * (timeInQueueP95Seconds ?? Number.NaN),
  'false removals': ({ resubmitted }) => resubmitted,
};

const mean = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;

const results: Record<Variant, QueueFigures[]> = { default: [], manual: [] };
for (const seed of seeds)
  for (const variant of ['default', 'manual'] as const) {
    const figures = await runDemo(seed, variant);
    results[variant].push(figures);
    console.error(`seed ${seed}, ${variant}: ${JSON.stringify(figures)}`);
  }
const figures = Object.entries(compared).flatMap(([name, read]): Figure[] => {
  const before = mean(results.manual.map(read));
  const now = mean(results.default.map(read));
  const goal = `<= ${before.toFixed(2)}, with strategy=manual`;
  return [{ name, value: now, goal, isMet: now <= before }];
});
if (values.json) console.log(JSON.stringify({ seeds, pullRequests, speed, results, figures }, null, 2));
else for (const figure of figures) console.log(lineOf(figure));
process.exit(figures.some(isMissed) ? 1 : 0);
