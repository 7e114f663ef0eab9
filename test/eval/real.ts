// `node test/eval/real.ts --profile mid --seeds 1-3`: how right our classification is on CI that is closer to reality. Exits
// with 1 if a goal is missed. `npm run eval:health` quotes seeds 11 and up; rules are tuned on seeds 1 to 5.
//
//   --profile mid           one of low, mid and high; without it all of them
//   --seeds 1-3,7           whole numbers and ranges
//   --without outages,wip   phenomena that are switched off
//   --losses 20             lists false verdicts
//   --write-events FILE     writes the uploads of one profile and seed as JSON lines, for `npm run eval:replay`, and exits
//   --json                  one JSON document instead of tables

import { parseArgs } from 'node:util';
import { lineOf, isMissed } from '../soak/report.ts';
import type { RealOutcome } from './real/experiment.ts';
import { runReals } from './real/pool.ts';
import { isPhenomenon, phenomena, profileNames } from './real/profile.ts';
import { writeReal } from './real/write-real.ts';
import { figuresOfReal, outcomesOf, tableOfReal } from './real/report.ts';

const { values } = parseArgs({
  options: {
    profile: { type: 'string' },
    seeds: { type: 'string', default: '1-2' },
    without: { type: 'string', default: '' },
    losses: { type: 'string', default: '0' },
    'write-events': { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});

function stop(message: string): never {
  console.error(message);
  process.exit(2);
}

function parseSeeds(text: string): readonly number[] {
  return text.split(',').flatMap((part) => {
    const [, from, to = from] =
      /^(\d+)(?:-(\d+))?$/u.exec(part) ?? stop(`\`${part}\` is not a seed. Use 1,2 or 1-5.`);
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => Number(from) + at);
  });
}

const seeds = parseSeeds(values.seeds);
const without = values.without.split(',').filter((name) => name !== '');
const unknown = without.find((name) => !isPhenomenon(name));
if (unknown !== undefined) stop(`\`${unknown}\` is not a phenomenon. Use one of ${phenomena.join(', ')}.`);
const chosen = profileNames.filter((name) => values.profile === undefined || values.profile === name);
if (chosen.length === 0) stop(`\`${values.profile}\` is not a profile. Use ${profileNames.join(', ')}.`);

const eventsFile = values['write-events'];
if (eventsFile !== undefined) {
  if (chosen.length !== 1 || seeds.length !== 1) stop('`--write-events` takes one profile and one seed.');
  const count = writeReal(eventsFile, chosen[0]!, seeds[0]!, new Set(without.filter(isPhenomenon)));
  console.error(`${count} uploads were written to ${eventsFile}.`);
  process.exit(0);
}

const outcomes: RealOutcome[] = [];
await runReals(
  chosen.flatMap((profile) =>
    seeds.map((seed) => ({ profile, seed, without: without.filter(isPhenomenon) })),
  ),
  (outcome) => {
    outcomes.push(outcome);
    const { task, uploads, seconds } = outcome;
    console.error(`${task.profile}, seed ${task.seed}: ${uploads} uploads in ${seconds.toFixed(0)} s`);
  },
);
const figures = chosen.flatMap((profile) => figuresOfReal(profile, outcomesOf(profile, outcomes)));
if (values.json) console.log(JSON.stringify({ figures, outcomes }, null, 2));
else {
  for (const profile of chosen) {
    const own = outcomesOf(profile, outcomes);
    for (const line of tableOfReal(profile, own, Number(values.losses))) console.log(line);
  }
  for (const figure of figures)
    console.log(lineOf(figure).replace(/: 0\.\d+/u, `: ${figure.value.toFixed(4)}`));
}
if (figures.some(isMissed)) process.exitCode = 1;
