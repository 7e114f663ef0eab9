// The planner's figures on one busy line, as `npm run sim -- trains --n 600` prints them. The simulation is deterministic, so a
// figure that is worse than here was made worse by the change under test, which must say so and why.

import { expect, it } from 'vitest';
import { playSeed, rowsOf } from './experiment.ts';
import { ourPolicies } from './ours.ts';
import { trainScenarios } from './trains.ts';

const known: Readonly<Record<string, { decidedPerHour: number; ciMinutesPerChange: number }>> = {
  'Signalbox, default settings': { decidedPerHour: 48.67, ciMinutesPerChange: 17.56 },
  'Signalbox, as the offline model': { decidedPerHour: 27.42, ciMinutesPerChange: 28.2 },
  'Signalbox, best settings': { decidedPerHour: 28.9, ciMinutesPerChange: 26.2 },
};

it('decides no fewer changes an hour, at no more minutes of CI each, than before', () => {
  const [rush] = trainScenarios(600, []);
  const policies = [rush!.oracleFor(rush!.policies[0]!), ...ourPolicies.filter(({ name }) => name in known)];
  const scenario = { ...rush!, policies };
  const rows = rowsOf(
    scenario,
    [1, 2, 3].map((seed) => playSeed(scenario, seed)),
  ).slice(1);
  expect(rows.map(({ policy }) => policy)).toEqual(Object.keys(known));
  const worse = rows.filter(({ policy, summary }) => {
    const { decidedPerHour, ciMinutesPerChange } = known[policy]!;
    return (
      summary.decidedPerHour < decidedPerHour - 0.005 ||
      summary.ciMinutesPerChange > ciMinutesPerChange + 0.005 ||
      summary.badMerges > 0
    );
  });
  expect(worse).toEqual([]);
});
