// `npm run bench:sizes [-- --only PART[,PART]] [--full] [--json]`: what must hold at the sizes of large installations. Some
// parts take their full size only with --full, and say so: without it all of them take minutes. Exits with 1 if a goal is
// missed.

import { parseArgs } from 'node:util';
import { runBenchmark } from './run.ts';
import { diskPart } from './sizes/disk.ts';
import { fetchPart } from './sizes/fetch.ts';
import { linePart } from './sizes/line.ts';
import { livePart } from './sizes/live.ts';
import type { Part, PartResult } from './sizes/part.ts';
import { refsPart } from './sizes/refs.ts';

const parts: readonly Part[] = [linePart, livePart, refsPart, fetchPart, diskPart];

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: parts.map(({ name }) => name).join(',') },
    full: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const wanted = values.only.split(',');
for (const name of wanted)
  if (!parts.some((part) => part.name === name))
    throw new Error(`There is no part ${name}. Use ${parts.map((part) => part.name).join(', ')}.`);

await runBenchmark({
  json: values.json,
  measure: async (cleanup) => {
    const results: Record<string, PartResult> = {};
    for (const part of parts)
      if (wanted.includes(part.name)) results[part.name] = await part.measure(cleanup, values.full);
    return { results };
  },
  goalsOf: ({ results }) => Object.values(results).flatMap(({ goals }) => goals),
  print: ({ results }) => {
    for (const [name, { lines }] of Object.entries(results)) console.log([`${name}:`, ...lines].join('\n  '));
  },
});
