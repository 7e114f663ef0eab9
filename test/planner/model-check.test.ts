import { expect, it } from 'vitest';
import type { Result } from './model-check.ts';
import { type MoveName, moveNames } from './model-events.ts';
import { disturbancesIn, exploreWorlds, type Scope, worldsIn } from './model-pool.ts';

/** `npm run model-check` explores all worlds, with all of their disturbances. */
const scope: Scope = 'usual';
const worlds = worldsIn(scope);

/** What all worlds together may take; one that is not finished by then says how far it came. */
const budgetMs = 900_000;

/** What must have happened in every world; everything else must have in some. */
const everywhere: readonly MoveName[] = [
  'pass',
  'fail',
  'time-out',
  'cancel',
  'push',
  'priority',
  'pause',
  'drain',
  'external push',
];

const startedAt = performance.now();
const outcomes = exploreWorlds(scope, budgetMs);
const results: Result[] = [];

/** What must have happened in a world that only some events disturb. */
const calmly: readonly MoveName[] = ['pass', 'fail', 'no result'];

it.each(
  worlds.map((world, index) => ({
    name: world.name,
    disturbances: disturbancesIn(scope, world),
    only: world.only,
    index,
  })),
)(
  'keeps its promises on every path: $name',
  { timeout: budgetMs * 2 },
  async ({ name, disturbances, only, index }) => {
    const outcome = await outcomes[index]!;
    if ('violation' in outcome) throw new Error(outcome.violation);
    const { states, transitions, level, moves } = outcome;
    const end = level === disturbances ? 'exhaustive' : 'out of time';
    console.log(
      `${name}: ${states} states, ${transitions} transitions, ${level} of ${disturbances} disturbances: ${end}`,
    );
    expect(level).toBeGreaterThanOrEqual(1);
    const expected = only === undefined ? everywhere : calmly;
    expect(expected.filter((move) => moves.get(move) === 0)).toEqual([]);
    results.push(outcome);
  },
);

it('makes every kind of move, and reaches 700,000 states', () => {
  const sum = (count: (result: Result) => number) =>
    results.reduce((total, result) => total + count(result), 0);
  const moves = moveNames.map((name) => ({ name, count: sum((result) => result.moves.get(name)!) }));
  const states = sum((result) => result.states);
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  console.log(moves.map(({ name, count }) => `${name} ${count}`).join(', '));
  console.log(`in total: ${states} states, ${sum((result) => result.transitions)} transitions, ${seconds} s`);
  expect(moves.filter(({ count }) => count === 0)).toEqual([]);
  // How many states there are does not depend on the machine; whether it gets through with all of them does.
  const isExhaustive = worlds.every((world, index) => results[index]?.level === disturbancesIn(scope, world));
  expect(states).toBeGreaterThan(isExhaustive ? 700_000 : 0);
});
