import { expect, it } from 'vitest';
import { z } from 'zod';
import { nested, valueAt } from '#contract/setting-path.ts';
import { listSettingChanges, createField, findValueProblem, formatSettingValue } from './setting.ts';

const size = createField('size', z.int().min(1).max(9).describe('How many.'), 4, { label: 'Size' });
const names = createField('names', z.array(z.string().min(1).max(5)).nullable(), null, {
  label: 'Names',
  nullText: 'the checks of the file',
});
const isOn = createField('isOn', z.boolean(), true, { label: 'On' });
const way = createField('way', z.enum(['one_way', 'other']), 'other', { label: 'Way' });

it('derives the input of a field from its schema', () => {
  expect(size).toMatchObject({
    description: 'How many.',
    input: { kind: 'number', min: 1, max: 9, isWhole: true },
  });
  expect(names.input).toEqual({ kind: 'lines', isNullable: true });
  expect(isOn.input).toEqual({ kind: 'switch' });
  expect(way.input).toEqual({ kind: 'choice', choices: ['one_way', 'other'] });
});

it('reports the problem of a value, with its line', () => {
  expect(findValueProblem(size, 9)).toBeNull();
  expect(findValueProblem(size, 10)).toMatch(/9/);
  expect(findValueProblem(size, '')).toBe('Must be a number');
  expect(findValueProblem(names, null)).toBeNull();
  expect(findValueProblem(names, ['a', 'too long'])).toMatch(/^Line 2: /);
});

it('formats values for people', () => {
  expect(formatSettingValue(isOn, false)).toBe('off');
  expect(formatSettingValue(way, 'one_way')).toBe('one way');
  expect(formatSettingValue(names, null)).toBe('the checks of the file');
  expect(formatSettingValue(names, [])).toBe('none');
  expect(formatSettingValue(size, 3)).toBe('3');
});

it('lists only values that differ from the saved ones', () => {
  const saved = { size: 4, names: ['a'], isOn: true };
  expect(listSettingChanges([size, names, isOn], saved, { size: 4, names: ['a', 'b'] })).toEqual([
    { field: names, before: ['a'], after: ['a', 'b'] },
  ]);
});

it('nests paths and reads them again', () => {
  const whole = nested({ 'a.b': 1, 'a.c': [2], d: null });
  expect(whole).toEqual({ a: { b: 1, c: [2] }, d: null });
  expect(valueAt(whole, 'a.c')).toEqual([2]);
  expect(valueAt(whole, 'x.y')).toBeUndefined();
});
