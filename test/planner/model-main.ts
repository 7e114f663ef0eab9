// `npm run model-check`: every world of the model check with all of its disturbances. Exits with 1 if the planner breaks a promise
// on some path, or if a goal is missed.
//
//   --minutes N   what all worlds together may take (default: 30)
//   --json        the figures as JSON

import { parseArgs } from 'node:util';
import { goal, printGoals } from '../bench/figure.ts';
import { exploreWorlds, worldsIn } from './model-pool.ts';

const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '30' }, json: { type: 'boolean', default: false } },
});

const worlds = worldsIn('whole');
let states = 0;
let transitions = 0;
let unfinished = 0;
let violations = 0;
for (const [index, pending] of exploreWorlds('whole', Number(values.minutes) * 60_000).entries()) {
  const { name, disturbances } = worlds[index]!;
  const outcome = await pending;
  if ('violation' in outcome) {
    violations += 1;
    console.error(`${name}: ${outcome.violation}`);
    continue;
  }
  states += outcome.states;
  transitions += outcome.transitions;
  if (outcome.level < disturbances) unfinished += 1;
  console.error(
    `${name}: ${outcome.states} states, ${outcome.transitions} transitions, ${outcome.level} of ${disturbances} disturbances`,
  );
}
const goals = [
  goal('states', states, '>=', 5_000_000),
  goal('worlds that were not finished', unfinished, '<=', 0),
  goal('worlds with a broken promise', violations, '<=', 0),
];
if (values.json) console.log(JSON.stringify({ transitions, goals }));
else printGoals(goals);
process.exitCode = goals.every(({ isMet }) => isMet) ? 0 : 1;
