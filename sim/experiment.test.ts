import { describe, expect, it } from 'vitest';
import { type Goal, isWithin, runScenario, verdictsOf } from './experiment.ts';
import { sketchWorkload } from '#sim/fixture.ts';
import { isReferenceRun, parseOptions } from './options.ts';
import { plotCosts, plotTurnarounds } from './plot.ts';
import { graphOracle, single } from './policy-graph.ts';
import { formatScenario, formatVerdict } from './report.ts';
import { formatTable } from './table.ts';

const scenario = {
  name: 'pair',
  slots: 2,
  policies: [graphOracle, single],
  oracleFor: () => graphOracle,
  createWorkload: () => sketchWorkload([{ arrivesAtMin: 0 }, { arrivesAtMin: 0, shares: [1] }]),
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
    const rows = runScenario(scenario, [1, 2], (_, policy, seed) => played.push(`${policy} ${seed}`));
    expect(played).toEqual(['oracle 1', 'single 1', 'oracle 2', 'single 2']);
    expect(rows.map(({ policy, summary }) => [policy, summary.p99OverOracle])).toEqual([
      ['oracle', 1],
      ['single', 2],
    ]);
  });

  it('says of each goal whether it was met, unless the run was another', () => {
    const rows = runScenario(scenario, [1], () => {});
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
  const rows = runScenario(scenario, [1], () => {});

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
  it('has the defaults of the reference run', () => {
    const options = parseOptions(['trains']);
    expect(options).toMatchObject({ experiment: 'trains', seeds: [1, 2, 3], isJson: false });
    expect(isReferenceRun(options)).toBe(true);
  });

  it.each([
    ['--n', '100'],
    ['--first-seed', '2'],
    ['--seeds', '6'],
    ['--pushed', '0.1'],
  ])('does not take a run with %s for the reference', (name, value) => {
    expect(isReferenceRun(parseOptions(['submitqueue', name, value]))).toBe(false);
  });

  it.each([
    ['Which experiment', []],
    ['Which experiment', ['lorry']],
    ['the other experiments none', ['trains', 'file.json']],
    ['A trace needs one file', ['trace']],
    ['--seeds must be', ['trains', '--seeds', '0']],
    ['--cancelled must be', ['trains', '--cancelled', '2']],
  ])('says "%s" to %j', (message, args) => {
    expect(() => parseOptions(args)).toThrow(message);
  });
});
