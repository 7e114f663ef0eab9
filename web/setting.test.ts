import { expect, it } from 'vitest';
import { z } from 'zod';
import { changesOf, fieldOf, nested, problemOf, sayValue, valueAt } from './setting.ts';

const size = fieldOf('size', z.int().min(1).max(9).describe('How many.'), 4, { label: 'Size' });
const names = fieldOf('names', z.array(z.string().min(1).max(5)).nullable(), null, {
  label: 'Names',
  nullWords: 'those of the file',
});
const isOn = fieldOf('isOn', z.boolean(), true, { label: 'On' });
const way = fieldOf('way', z.enum(['one_way', 'other']), 'other', { label: 'Way' });

it('reads off a schema what a field takes', () => {
  expect(size).toMatchObject({
    description: 'How many.',
    takes: { kind: 'number', min: 1, max: 9, isWhole: true },
  });
  expect(names.takes).toEqual({ kind: 'lines', isNullable: true });
  expect(isOn.takes).toEqual({ kind: 'switch' });
  expect(way.takes).toEqual({ kind: 'choice', choices: ['one_way', 'other'] });
});

it('says what is wrong with a value, and where', () => {
  expect(problemOf(size, 9)).toBeNull();
  expect(problemOf(size, 10)).toMatch(/9/);
  expect(problemOf(size, '')).toBe('Must be a number');
  expect(problemOf(names, null)).toBeNull();
  expect(problemOf(names, ['a', 'too long'])).toMatch(/^Line 2: /);
});

it('says values as people read them', () => {
  expect(sayValue(isOn, false)).toBe('off');
  expect(sayValue(way, 'one_way')).toBe('one way');
  expect(sayValue(names, null)).toBe('those of the file');
  expect(sayValue(names, [])).toBe('none');
  expect(sayValue(size, 3)).toBe('3');
});

it('tells a change from what is merely touched', () => {
  const saved = { size: 4, names: ['a'], isOn: true };
  expect(changesOf([size, names, isOn], saved, { size: 4, names: ['a', 'b'] })).toEqual([
    { field: names, before: ['a'], after: ['a', 'b'] },
  ]);
});

it('nests paths and reads them back', () => {
  const whole = nested({ 'a.b': 1, 'a.c': [2], d: null });
  expect(whole).toEqual({ a: { b: 1, c: [2] }, d: null });
  expect(valueAt(whole, 'a.c')).toEqual([2]);
  expect(valueAt(whole, 'x.y')).toBeUndefined();
});
