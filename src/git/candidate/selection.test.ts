import { expect, it } from 'vitest';
import { formatSelection, selectsTests, withSelection } from './selection.ts';

const test = (name: string) => ({ file: 'a.ts', classname: '', name });

it('names each test on a line of its own, whatever is in its name', () => {
  expect(formatSelection({ count: 1, tests: [test('a\nb [x] 😀')] })).toBe(
    'Signalbox-Test-Count: 1\nSignalbox-Test: {"file":"a.ts","classname":"","name":"a\\nb \\u005bx] \\ud83d\\ude00"}\n',
  );
});

it('names no test if one is not known any more, or if the names are too long', () => {
  expect(formatSelection({ count: 2, tests: [test('a')] })).toBe('Signalbox-Test-Count: 2\n');
  const long = Array.from({ length: 100 }, () => test('x'.repeat(1_000)));
  expect(formatSelection({ count: 100, tests: long })).toBe('Signalbox-Test-Count: 100\n');
});

it('says how often to run the tests, if that is more than once', () => {
  const named = { count: 1, tests: [test('a')] };
  expect(formatSelection({ ...named, repeats: 50 })).toBe(
    'Signalbox-Test-Count: 1\nSignalbox-Test-Repeats: 50\nSignalbox-Test: {"file":"a.ts","classname":"","name":"a"}\n',
  );
  expect(formatSelection({ ...named, repeats: 1 })).not.toContain('Repeats');
  expect(selectsTests('Title\n\nSignalbox-Test-Repeats: 50\n')).toBe(true);
});

it('is the last paragraph of the message', () => {
  const selection = { count: 2, tests: [] };
  for (const message of ['Title', 'Title\n', 'Title\n\n\n'])
    expect(withSelection(Buffer.from(message), selection).toString()).toBe(
      'Title\n\nSignalbox-Test-Count: 2\n',
    );
});
