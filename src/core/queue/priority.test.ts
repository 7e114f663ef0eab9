import { expect, it } from 'vitest';
import { defaultPriorityName, isUrgent, priorities, priorityMax, formatPriority } from './priority.ts';

it('the named priorities have the values of the contract, and medium is the default', () => {
  expect(priorities).toEqual({ urgent: 0, high: 10, medium: 100, low: 200 });
  expect(defaultPriorityName).toBe('medium');
  expect(priorityMax).toBe(255);
});

it.each([
  [0, 'urgent'],
  [10, 'high'],
  [100, 'medium'],
  [200, 'low'],
  [1, '1'],
  [99, '99'],
  [255, '255'],
])('the priority %i is called %s', (value, name) => {
  expect(formatPriority(value)).toBe(name);
});

it('only the priority 0 is urgent', () => {
  const values = Array.from({ length: priorityMax + 1 }, (_, value) => value);
  expect(values.filter(isUrgent)).toEqual([0]);
});
