import { expect, it } from 'vitest';
import { filterCommands, matchesQuery } from './command.ts';

const command = (label: string) => ({ id: label, label, icon: 'queue' as const, run: () => undefined });

it('matches terms in any order and case', () => {
  expect(matchesQuery('QUEUE pause', 'Pause this queue')).toBe(true);
  expect(matchesQuery('pause drain', 'Pause this queue')).toBe(false);
  expect(matchesQuery('', 'anything')).toBe(true);
});

it('omits groups without a match', () => {
  const groups = [
    { title: 'Pages', commands: [command('Tests'), command('Uploads')] },
    { title: 'Actions', commands: [command('Sign out')] },
  ];
  expect(filterCommands(groups, 'up').map(({ title, commands }) => [title, commands.length])).toEqual([
    ['Pages', 1],
  ]);
  expect(filterCommands(groups, '')).toHaveLength(2);
});
