import { expect, it } from 'vitest';
import { forgetTold, noteTold, toldId } from './told.ts';

it('an event without an id of its own is known by its number', () => {
  noteTold('7f3a-12', '{"queue":"a/b/c@main","version":12}');
  expect(toldId()).toBe('7f3a-12');
  noteTold('7f3a-12', '{"queue":"a/b/c@main","version":14}');
  expect(toldId()).toBe('7f3a-14');
  forgetTold();
  expect(toldId()).toBeUndefined();
});

it('without an epoch or a number nothing is known', () => {
  noteTold('7f3a-12', '{"version":12}');
  noteTold('', '{"version":13}');
  expect(toldId()).toBeUndefined();
  noteTold('7f3a-12', '{}');
  expect(toldId()).toBeUndefined();
});
