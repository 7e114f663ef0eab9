import { expect, it } from 'vitest';
import { differencesOf, sayAction, sayJson } from './audit-diff.ts';

it('names only what differs, however deep', () => {
  const before = { quarantine: { enabled: false, auto: true }, names: ['a'], same: 1 };
  const after = { quarantine: { enabled: true, auto: true }, names: ['a', 'b'], same: 1 };
  expect(differencesOf(before, after)).toEqual([
    { name: 'quarantine.enabled', before: false, after: true },
    { name: 'names', before: ['a'], after: ['a', 'b'] },
  ]);
});

it('shows what is on one side alone', () => {
  expect(differencesOf(null, { a: 1 })).toEqual([{ name: 'a', before: undefined, after: 1 }]);
  expect(differencesOf({ a: { b: 'x' } }, null)).toEqual([{ name: 'a.b', before: 'x', after: undefined }]);
  expect(differencesOf(null, null)).toEqual([]);
});

it('tells a value that became null from one that stays', () => {
  expect(differencesOf({ a: 'x', b: null }, { a: null, b: null })).toEqual([
    { name: 'a', before: 'x', after: null },
  ]);
});

it('says values and actions in words', () => {
  expect(['x', null, true, [], ['a', 'b'], 3].map(sayJson)).toEqual([
    'x',
    'not set',
    'on',
    'none',
    'a, b',
    '3',
  ]);
  expect(sayAction('queue.stop')).toBe('Queue stopped by itself');
  expect(sayAction('some.thing')).toBe('some.thing');
});
