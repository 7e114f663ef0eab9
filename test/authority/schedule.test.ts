import { describe, expect, it } from 'vitest';
import { createRandom } from '#base/random.ts';
import { checkAct } from '#core/queue/rule/authority.ts';
import { runSchedule } from './schedule.ts';

/** A small generator: the whole schedule follows from its seed. */
function chanceOf(seed: number) {
  const next = createRandom(seed);
  const below = (max: number) => Math.floor(next() * max);
  return { below, odds: (percent: number) => below(100) < percent };
}

const schedules = 100_000;
const steps = 25;

describe('a head', () => {
  it(`is submitted only by an act later than it, in ${schedules} random schedules of pushes, closes, labels, comments, polls and restarts`, () => {
    const base = Date.now() % 1_000_000_000;
    let submissions = 0;
    let found: string | null = null;
    for (let seed = base; seed < base + schedules && found === null; seed += 1) {
      const run = runSchedule(chanceOf(seed), steps);
      submissions += run.submissions;
      if (run.violation !== null) found = `seed ${seed}\n${run.violation}`;
    }
    expect(found).toBeNull();
    // The schedules do submit: a rule that refuses everything would pass without proving anything.
    expect(submissions).toBeGreaterThan(schedules / 2);
  });

  // The property can fail: each rule that is left out is found out within a few schedules.
  it.each([
    ['a label counts whatever was pushed after it', { headSince: 0 }],
    ['an unknown age counts as old', { headSince: 'known' }],
  ] as const)('is submitted by an older act if %s', (_rule, weaker) => {
    const check: typeof checkAct = (act, state) => {
      const headSince = weaker.headSince === 'known' ? (state.headSince ?? 0) : weaker.headSince;
      return checkAct(act, { ...state, headSince });
    };
    const found = Array.from({ length: 5_000 }, (_, seed) => runSchedule(chanceOf(seed), steps, check));
    expect(found.some(({ violation }) => violation !== null)).toBe(true);
  });

  it('is submitted by people who may not write if nobody asks who did it', () => {
    const check: typeof checkAct = (act, state) => checkAct({ ...act, mayWrite: true }, state);
    const found = Array.from({ length: 5_000 }, (_, seed) => runSchedule(chanceOf(seed), steps, check));
    expect(found.some(({ violation }) => violation !== null)).toBe(true);
  });
});
