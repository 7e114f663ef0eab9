import { describe, expect, it } from 'vitest';
import { playSeed, rowsOf } from './experiment.ts';
import { createExperiment } from './experiments.ts';
import { goalScenarios, goalsOf, rowsAskedFor } from './goals.ts';
import { parseOptions } from './options.ts';
import { playScenarios } from './pool.ts';
import { formatGoalRows } from './report.ts';

const small = { count: 40, isQuick: false, settings: {} };

describe('the goals', () => {
  it('have a row for each workload, and no row may merge a bad change', () => {
    const rows = rowsAskedFor(undefined);
    expect(rows.map(({ id }) => id)).toEqual(
      'L1 L2 L3 L4 L5 L6 L6 L7 L7 L8 L12 H1 L11 L11 L11 G1 G2 G5 G7 G8 G4'.split(' '),
    );
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length);
    for (const row of rows)
      expect(goalsOf(row)).toContainEqual(
        expect.objectContaining({ figure: 'badMerges', bound: { kind: 'at-most', value: 0 } }),
      );
  });

  it('ask for at least so many decisions an hour, and for at most so much of all else', () => {
    const [busy] = rowsAskedFor(['L1']);
    expect(goalsOf(busy!).map(({ label, bound }) => `${label} ${bound.kind} ${bound.value}`)).toEqual([
      'decided per hour at-least 52',
      'CI minutes per change at-most 17',
      'false removals in percent at-most 0.1',
      'P95 minutes at-most 240',
      'bad merges at-most 0',
    ]);
  });

  it('are not measured on more slots than the workload has', () => {
    const [scenario] = goalScenarios(rowsAskedFor(['L1']), {
      ...small,
      settings: { concurrency: 17 },
    });
    expect(() => playSeed(scenario!, 11)).toThrow('17 runs at once on 16 slots');
  });

  it.each(['H1', 'L4', 'G1'])('of %s are the same in a thread as here', async (id) => {
    const options = parseOptions(['goals', '--only', id, '--seeds', '11-12', '--n', '40']);
    const { scenarios } = createExperiment(options);
    const rows = await playScenarios(options, scenarios);
    expect(rows).toEqual(
      rowsOf(
        scenarios[0]!,
        [11, 12].map((seed) => playSeed(scenarios[0]!, seed)),
      ),
    );
    // Lanes are compared with the oracle, a line is not.
    expect(formatGoalRows('goals', rows).includes('P50/oracle')).toBe(id === 'G1');
  });
});
