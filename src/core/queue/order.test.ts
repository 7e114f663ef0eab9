import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { anEntry, endedStates, liveStates, underTestStates } from '../../../test/fixture/entry.ts';
import type { Entry } from './model.ts';
import { linePlaceOf } from './order.ts';

/** As the index orders: rank, then major, then minor. */
function inOrder(entries: readonly Entry[]): readonly Entry[] {
  const key = (entry: Entry) => {
    const place = linePlaceOf(entry);
    return place === null ? [] : [place.rank, place.major, place.minor];
  };
  return entries.toSorted((a, b) => {
    const [left, right] = [key(a), key(b)];
    const index = left.findIndex((part, i) => part !== right[i]);
    return index === -1 ? 0 : left[index]! - right[index]!;
  });
}

it.each(endedStates)('an entry that is %s has no place', (stage) => {
  expect(linePlaceOf(anEntry({ stage }))).toBeNull();
});

it.each(underTestStates)('what is %s stands first by seniority, whatever its priority', (stage) => {
  expect(linePlaceOf(anEntry({ stage, priority: 200, seniority: 5 }))).toEqual({
    rank: 0,
    major: 0,
    minor: 5,
  });
});

it('what is under test goes first, then pending by priority and seniority, then not_ready by submission', () => {
  const names = new Map<Entry, string>();
  const named = (name: string, overrides: Parameters<typeof anEntry>[0]) => {
    const entry = anEntry(overrides);
    names.set(entry, name);
    return entry;
  };
  const entries = [
    named('not ready, urgent, late', { stage: 'not_ready', priority: 0, seniority: 9 }),
    named('not ready, low, early', { stage: 'not_ready', priority: 200, seniority: 2 }),
    named('pending, low, first', { stage: 'pending', priority: 200, seniority: 1 }),
    named('pending, medium, late', { stage: 'pending', priority: 100, seniority: 8 }),
    named('pending, medium, early', { stage: 'pending', priority: 100, seniority: 3 }),
    named('pending, urgent', { stage: 'pending', priority: 0, seniority: 7 }),
    named('passed, low', { stage: 'tests_passed', priority: 200, seniority: 6 }),
    named('testing', { stage: 'testing', priority: 100, seniority: 5 }),
    named('pending failure', { stage: 'pending_failure', priority: 255, seniority: 4 }),
  ];
  expect(inOrder(entries).map((entry) => names.get(entry))).toEqual([
    'pending failure',
    'testing',
    'passed, low',
    'pending, urgent',
    'pending, medium, early',
    'pending, medium, late',
    'pending, low, first',
    'not ready, low, early',
    'not ready, urgent, late',
  ]);
});

it('no two live entries of different seniority share a place', () => {
  const entries = fc
    .record({ stage: fc.constantFrom(...liveStates), priority: fc.nat(255), seniority: fc.nat() })
    .map(anEntry);
  fc.assert(
    fc.property(entries, entries, (a, b) => {
      fc.pre(a.seniority !== b.seniority);
      expect(linePlaceOf(a)).not.toEqual(linePlaceOf(b));
    }),
  );
});
