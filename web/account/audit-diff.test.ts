import { expect, it } from 'vitest';
import { listDifferences, formatAuditAction, formatAuditValue } from './audit-diff.ts';

it('lists only the fields that differ, at any depth', () => {
  const before = { quarantine: { enabled: false, auto: true }, names: ['a'], same: 1 };
  const after = { quarantine: { enabled: true, auto: true }, names: ['a', 'b'], same: 1 };
  expect(listDifferences(before, after)).toEqual([
    { name: 'quarantine.enabled', before: false, after: true },
    { name: 'names', before: ['a'], after: ['a', 'b'] },
  ]);
});

it('lists a field that exists on one side only', () => {
  expect(listDifferences(null, { a: 1 })).toEqual([{ name: 'a', before: undefined, after: 1 }]);
  expect(listDifferences({ a: { b: 'x' } }, null)).toEqual([{ name: 'a.b', before: 'x', after: undefined }]);
  expect(listDifferences(null, null)).toEqual([]);
});

it('lists a field that became null, and not one that was null before', () => {
  expect(listDifferences({ a: 'x', b: null }, { a: null, b: null })).toEqual([
    { name: 'a', before: 'x', after: null },
  ]);
});

it('formats values and actions as text', () => {
  expect(['x', null, true, [], ['a', 'b'], 3].map(formatAuditValue)).toEqual([
    'x',
    'not set',
    'on',
    'none',
    'a, b',
    '3',
  ]);
  expect(formatAuditAction('queue.stop')).toBe('Queue stopped automatically');
  expect(formatAuditAction('some.thing')).toBe('some.thing');
});
