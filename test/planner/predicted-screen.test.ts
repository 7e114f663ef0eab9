// Screens of entries whose failures are predicted: those that fail about as probably are tested together.
import { describe, expect, it } from 'vitest';
import { emptySnapshot } from '#core/queue/planner/empty.ts';
import type { Item } from '#core/queue/planner/model.ts';
import { busy, entries, entry, now, pendingSince, propose, shapes } from './proposing.ts';

const { settings } = emptySnapshot({ weight: 'ci_minutes' }, 'T');

/** The screens of entries with these odds, in a queue whose CI minutes matter more, so that it does not spread them. */
const screensOf = (odds: readonly number[], rest: Partial<Item> = {}) =>
  propose(
    odds.map((each, index) => entry(index + 1, { odds: each, ...rest })),
    2,
    { settings },
  ).proposals.map((proposal) => ('screen' in proposal ? proposal.screen : proposal));

describe('predicted screens', () => {
  it('are formed by what is predicted of each entry, where something is', () => {
    const odds = [0.99, 0.6, 0.97, 0.85, 0.96, 0.84];
    const pending = odds.map((each, index) => entry(index + 1, { odds: each }));
    // Together with those that are alike, the most probable failure last; the oldest that is left begins the next one.
    expect(
      propose(pending, 2, { settings: { ...emptySnapshot({}, 'T').settings, weight: 'ci_minutes' } })
        .proposals,
    ).toEqual([{ screen: [1, 3, 5, 4] }, { screen: [2] }]);
    expect(shapes(propose(entries(40, { odds: 0.99 }), 1))).toEqual(['screen 16']);
    expect(shapes(propose(entries(20, { odds: 0.8 }), 1))).toEqual(['screen 1']);
    // A screen that passed says more than a prediction.
    expect(shapes(propose(entries(9, { odds: 0.02, screen: 'doubted' }), 1))).toEqual(['screen 6']);
  });

  it('have the entries that are most like the first, not the next ones', () => {
    expect(screensOf([0.95, 0.75, 0.94, 0.95, 0.96])).toEqual([[5, 1, 4, 3], [2]]);
  });

  it('have only entries that wait near the first', () => {
    const far = [0.99, ...Array.from({ length: 45 }, () => 0.97), ...Array.from({ length: 9 }, () => 0.99)];
    const [first] = screensOf(far) as number[][];
    expect(first).toHaveLength(12);
    expect(Math.max(...first!)).toBeLessThanOrEqual(41);
  });

  it('leave out those that must be alone', () => {
    const pending = [0.99, 0.99, 0.99].map((odds, index) => entry(index + 1, { odds, noBatch: index === 1 }));
    expect(propose(pending, 1).proposals).toEqual([{ screen: [1, 3] }]);
  });

  it('are evenly filled if the slots allow that', () => {
    const pending = entries(16, { odds: 0.99 });
    expect(shapes(propose(pending, busy))).toEqual(Array.from({ length: 8 }, () => 'screen 2'));
  });

  it('wait for more entries until another would be too many', () => {
    const fresh = (count: number, odds: number) => entries(count, { odds, place: pendingSince(now) });
    expect(shapes(propose(fresh(3, 0.9), 1))).toEqual([]);
    expect(shapes(propose(fresh(4, 0.9), 1))).toEqual(['screen 3']);
    expect(shapes(propose(fresh(15, 0.99), 1))).toEqual([]);
    expect(shapes(propose(fresh(16, 0.99), 1))).toEqual(['screen 16']);
  });
});
