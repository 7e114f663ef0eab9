// `npm run fuzz:report -- [--inputs N] [--seconds S] [--seed N] [--from N] [--json]`: reports and uploads that are damaged
// in every way that files are, a million by default. An input follows from the seed and its number alone: what is found
// in number N is there again with `--from N --inputs 1`.

import { parseArgs } from 'node:util';
import { type Figure, isMissed, lineOf, noneOf } from '../soak/report.ts';
import { runFuzz } from './run.ts';

const growthMax = 256;
const msPerMibMax = 1_000;

const { values } = parseArgs({
  options: {
    inputs: { type: 'string' },
    seconds: { type: 'string' },
    seed: { type: 'string', default: '1' },
    from: { type: 'string', default: '0' },
    json: { type: 'boolean', default: false },
  },
});
const inputsWanted = Number(
  values.inputs ?? (values.seconds === undefined ? 1_000_000 : Number.MAX_SAFE_INTEGER),
);
const run = await runFuzz({
  seed: Number(values.seed),
  from: Number(values.from),
  inputs: inputsWanted,
  seconds: Number(values.seconds ?? 3_600),
});
for (const { number, what } of run.findings) console.error(`input ${number} of seed ${values.seed}: ${what}`);
const { inputs, megabytes, crashes, silent, slowestMsPerMib, growthMib, found } = run;
const figures: readonly Figure[] = [
  values.seconds === undefined
    ? { name: 'inputs', value: inputs, goal: `>= ${inputsWanted}`, isMet: inputs >= inputsWanted }
    : { name: 'inputs', value: inputs },
  { name: 'megabytes', value: megabytes },
  noneOf('crashes', crashes),
  noneOf('reports that silently have no tests', silent),
  {
    name: 'slowest, ms of processor per MiB',
    value: slowestMsPerMib,
    goal: `<= ${msPerMibMax}`,
    isMet: slowestMsPerMib <= msPerMibMax,
  },
  { name: 'growth of memory, MiB', value: growthMib, goal: `<= ${growthMax}`, isMet: growthMib <= growthMax },
  noneOf('findings', found),
];
if (values.json) console.log(JSON.stringify({ seed: values.seed, figures, findings: run.findings }, null, 2));
else for (const figure of figures) console.log(lineOf(figure));
process.exitCode = figures.some(isMissed) ? 1 : 0;
