// `npm run soak -- --prs 2000 --seed 1`: the real service with pull requests that break alone and together and with CI
// that flakes; afterwards every commit on every branch is green. Exits with 1 if a goal is missed.

import { parseArgs } from 'node:util';
import { falseRemovalsOf, type Figure, findingFigures, isMissed, lineOf, printProblems } from './report.ts';
import { endWorldsOnSignal, soak } from './soak.ts';
import { lines } from './workload.ts';

const { values } = parseArgs({
  options: {
    prs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '1' },
    minutes: { type: 'string', default: '15' },
    workers: { type: 'string', default: '1' },
    'in-flight': { type: 'string', default: '20' },
    branches: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

endWorldsOnSignal();
const minutes = Number(values.minutes);
const result = await soak({
  prs: Number(values.prs),
  seed: Number(values.seed),
  minutes,
  lines: lines.filter(({ branch }) => values.branches?.split(',').includes(branch) ?? true),
  flakeRate: 0.02,
  inFlight: Number(values['in-flight']),
  world: { workers: Number(values.workers), sweepSeconds: 5, durable: false },
});
const { course, findings } = result;
const landed = [...course.ends.values()].filter(({ state }) => state === 'merged').length;
const figures: Figure[] = [
  ...findingFigures(findings),
  { name: 'commits checked', value: findings.commits },
  { name: 'false removals', value: falseRemovalsOf(course) },
  { name: 'landed per minute', value: landed / course.minutes },
  { name: 'minutes', value: result.minutes, goal: `<= ${minutes}`, isMet: result.minutes <= minutes },
];
printProblems(findings);
if (values.json)
  console.log(JSON.stringify({ prs: Number(values.prs), seed: Number(values.seed), figures }, null, 2));
else for (const figure of figures) console.log(lineOf(figure));
process.exit(figures.some(isMissed) ? 1 : 0);
