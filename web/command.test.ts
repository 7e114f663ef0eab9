import { expect, it } from 'vitest';
import { fits, narrowed } from './command.ts';

const command = (label: string) => ({ id: label, label, icon: 'line' as const, run: () => undefined });

it('finds words in any order and case', () => {
  expect(fits('QUEUE pause', 'Pause this queue')).toBe(true);
  expect(fits('pause drain', 'Pause this queue')).toBe(false);
  expect(fits('', 'anything')).toBe(true);
});

it('leaves out groups in which nothing fits', () => {
  const groups = [
    { title: 'Pages', commands: [command('Tests'), command('Uploads')] },
    { title: 'Actions', commands: [command('Sign out')] },
  ];
  expect(narrowed(groups, 'up').map(({ title, commands }) => [title, commands.length])).toEqual([
    ['Pages', 1],
  ]);
  expect(narrowed(groups, '')).toHaveLength(2);
});
