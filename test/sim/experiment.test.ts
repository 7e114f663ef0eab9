import { describe, expect, it } from 'vitest';
import { type Goal, isWithin, playSeed, rowsOf, verdictsOf } from './experiment.ts';
import { sketchWorkload } from '#tool/simulate/kernel/fixture.ts';
import { createExperiment } from './experiments.ts';
import { isReferenceRun, parseOptions } from './options.ts';
import { plotCosts, plotTurnarounds } from './plot.ts';
import { graphOracle, single } from './policy-graph.ts';
import type { Policy } from '#tool/simulate/kernel/policy.ts';
import { formatScenario, formatVerdict } from './report.ts';
import { formatTable } from './table.ts';

const scenario = {
  name: 'pair',
  slots: 2,
  policies: [graphOracle, single],
  oracleFor: () => graphOracle,
  createWorkload: () =>
    sketchWorkload([{ arrivesAtMin: 0 }, { arrivesAtMin: 0, shares: [1] }, { arrivesAtMin: 60 }]),
};
const goalOf = (bound: Goal['bound']): Goal => ({
  scenario: 'pair',
  policy: 'single',
  figure: 'p99OverOracle',
  label: 'P99 over oracle',
  bound,
});

describe('an experiment', () => {
  it('plays each policy once for each seed and compares it with the oracle', () => {
    const played: string[] = [];
    const noting = (policy: Policy): Policy => ({
      ...policy,
      simulate: (workload, slots) => {
        played.push(policy.name);
        return policy.simulate(workload, slots);
      },
    });
    const oracle = noting(graphOracle);
    const noted = { ...scenario, policies: [oracle, noting(single)], oracleFor: () => oracle };
    const rows = rowsOf(
      noted,
      [1, 2].map((seed) => playSeed(noted, seed)),
    );
    expect(played).toEqual(['oracle', 'single', 'oracle', 'single']);
    expect(rows.map(({ policy, summary }) => [policy, summary.p99OverOracle])).toEqual([
      ['oracle', 1],
      ['single', 2],
    ]);
  });

  it('says of each goal whether it was met, unless the run was another', () => {
    const rows = rowsOf(scenario, [playSeed(scenario, 1)]);
    const goals = [goalOf({ kind: 'about', value: 2.2 }), goalOf({ kind: 'at-most', value: 1.5 })];
    expect(verdictsOf(rows, goals, true).map(formatVerdict)).toEqual([
      'pair single P99 over oracle: 2.00 (goal 2.2 ± 15 %)',
      'pair single P99 over oracle: 2.00 (goal at most 1.5, missed)',
    ]);
    expect(formatVerdict(verdictsOf(rows, goals, false)[1]!)).toContain('not judged');
    expect(verdictsOf([], goals, true)).toEqual([]);
  });

  it('takes a figure within 15 % for reproduced', () => {
    expect(isWithin(1.15, { kind: 'about', value: 1 })).toBe(true);
    expect(isWithin(0.84, { kind: 'about', value: 1 })).toBe(false);
    expect(isWithin(NaN, { kind: 'about', value: 1 })).toBe(false);
    expect(isWithin(3, { kind: 'at-least', value: 3 })).toBe(true);
  });
});

describe('the report', () => {
  const rows = rowsOf(scenario, [playSeed(scenario, 1)]);

  it('aligns text left and numbers right', () => {
    const columns = [
      { heading: 'name', text: ({ name }: { name: string; size: number }) => name, isText: true as const },
      { heading: 'size', text: ({ size }: { name: string; size: number }) => String(size) },
    ];
    const table = formatTable(
      [
        { name: 'a', size: 10 },
        { name: 'longer', size: 7 },
      ],
      columns,
    );
    expect(table.split('\n')).toEqual(['name    size', '------  ----', 'a         10', 'longer     7']);
  });

  it('names the policies and says what is counted per PR', () => {
    const text = formatScenario('pair', rows);
    expect(text).toContain('single');
    expect(text).toContain('decided/h (all PRs)');
  });

  it('plots without anything that is not a number', () => {
    for (const plot of [plotTurnarounds('a < b', rows), plotCosts('a < b', rows)]) {
      expect(plot).toMatch(/^<svg .*<\/svg>\n$/s);
      expect(plot).toContain('single');
      expect(plot).toContain('a &lt; b');
      expect(plot).not.toMatch(/NaN|Infinity|undefined/);
    }
  });
});

describe('the command line', () => {
  it('takes ten seeds that no setting was tuned on', () => {
    const options = parseOptions(['trains']);
    expect(options).toMatchObject({ experiment: 'trains', isJson: false });
    expect(options.seeds).toEqual([11, 12, 13, 14, 15, 16, 17, 18, 19, 20]);
    expect(isReferenceRun(options)).toBe(true);
  });

  it('takes other seeds and rows, and still holds the figures to the goals', () => {
    const options = parseOptions(['goals', '--seeds', '31-33', '--only', 'L1, L3']);
    expect(options).toMatchObject({ seeds: [31, 32, 33], only: ['L1', 'L3'] });
    expect(isReferenceRun(options)).toBe(true);
    expect(parseOptions(['goals', '--seeds', '7']).seeds).toEqual([7]);
  });

  it.each([
    [['submitqueue', '--n', '100']],
    [['submitqueue', '--pushed', '0.1']],
    [['goals', '--quick']],
    [['goals', '--settings', '{"batch":true}']],
  ])('does not take %j for the run that the goals were set for', (args) => {
    expect(isReferenceRun(parseOptions(args))).toBe(false);
  });

  it.each([
    ['Which experiment', []],
    ['Which experiment', ['lorry']],
    ['the other experiments none', ['trains', 'file.json']],
    ['A trace needs one file', ['trace']],
    ['--seeds must be', ['trains', '--seeds', '0']],
    ['--seeds must be', ['trains', '--seeds', '20-11']],
    ['--seeds must be', ['trains', '--seeds', '1-2-3']],
    ['belong to the goals', ['trains', '--quick']],
    ['--settings must be', ['goals', '--settings', 'batch']],
    ['no setting speed', ['goals', '--settings', '{"speed":1}']],
    ['--cancelled must be', ['trains', '--cancelled', '2']],
  ])('says "%s" to %j', (message, args) => {
    expect(() => parseOptions(args)).toThrow(message);
  });

  it('names the rows if one is asked for that does not exist', () => {
    expect(() => createExperiment(parseOptions(['goals', '--only', 'L99']))).toThrow(
      'No row L99; there are L1,',
    );
  });
});
