import { describe, expect, it } from 'vitest';
import { describeDay, buildStrips } from './test-strip.ts';

const counts = { runs: 10, failed: 2, flaky: 1, suspect: 0, contradicted: 0 };
const onMain = (day: string, more: object = {}) => ({
  day,
  branch_class: 'default' as const,
  ...counts,
  ...more,
});

describe('the strips of a test', () => {
  it('have a cell for every day, also across the end of a month', () => {
    const [strip, ...others] = buildStrips([onMain('2026-11-01')], '2026-10-30', '2026-11-02');
    expect(others).toEqual([]);
    expect(strip?.cells.map(({ day, passed }) => [day, passed])).toEqual([
      ['2026-10-30', 0],
      ['2026-10-31', 0],
      ['2026-11-01', 7],
      ['2026-11-02', 0],
    ]);
    expect(strip?.cells.filter((cell) => cell.counts !== null)).toHaveLength(1);
  });

  it('there is one for each branch class with results, in a fixed order', () => {
    const days = [
      { ...onMain('2026-11-01'), branch_class: 'other' as const },
      { ...onMain('2026-11-01'), branch_class: 'queue' as const },
      onMain('2026-11-02'),
    ];
    const titles = buildStrips(days, '2026-11-01', '2026-11-02').map(({ title }) => title);
    expect(titles).toEqual(['Default branch', 'Merge queue', 'Other branches']);
  });

  it('compute the failure rate from known runs only', () => {
    const days = [onMain('2026-10-01', { runs: null, failed: 5, flaky: 0 }), onMain('2026-11-01')];
    expect(buildStrips(days, '2026-10-01', '2026-11-01')[0]?.summary).toBe(
      '7 failed, 20 % of 10 counted runs, 1 flaky',
    );
    const unknown = [onMain('2026-10-01', { runs: null })];
    expect(buildStrips(unknown, '2026-10-01', '2026-10-01')[0]?.summary).toBe('2 failed, 1 flaky');
  });

  it('have at most 92 cells', () => {
    expect(buildStrips([onMain('2026-11-01')], '2020-01-01', '2026-11-01')[0]?.cells).toHaveLength(92);
  });
});

it('describes a day', () => {
  expect(describeDay('2026-11-03', null)).toBe('3 Nov: no known runs');
  expect(describeDay('2026-11-03', onMain('2026-11-03', { runs: 1, suspect: 4, contradicted: 1 }))).toBe(
    '3 Nov: 1 run, 2 failed, 1 flaky, 4 in a mass failure, passed and failed on 1 commit',
  );
  expect(describeDay('2026-11-03', onMain('2026-11-03', { runs: null }))).toMatch(
    /^3 Nov: runs no longer stored, 2/,
  );
});
