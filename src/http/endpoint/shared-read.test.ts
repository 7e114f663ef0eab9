import { expect, it } from 'vitest';
import { createSharedReads, parseStreamVersion } from './shared-read.ts';

const at = (epoch: string, version: number) => ({ epoch, version });

function open() {
  let readings = 0;
  let now = 0;
  const clock = { now: () => new Date(now) };
  const shared = createSharedReads<string>({ clock }, (answer) => answer !== 'refused');
  const ask = (pagePosition: string, processPosition: string, nowMs = 0, key = 'queue', says?: string) => {
    now = nowMs;
    return shared.read(
      key,
      parseStreamVersion(pagePosition)!,
      parseStreamVersion(processPosition)!,
      async () => says ?? `reading ${++readings}`,
    );
  };
  return { ask };
}

it('a page that knows of no later event is given the shared result', async () => {
  const { ask } = open();
  expect(await ask('a-11', 'a-12')).toBe('reading 1');
  expect(await ask('a-11', 'a-13')).toBe('reading 1');
  expect(await ask('a-12', 'a-13')).toBe('reading 1');
});

it('a page that knows of a later event gets its own reading, also while the first is running', async () => {
  const { ask } = open();
  const first = ask('a-12', 'a-12');
  const second = ask('a-13', 'a-13');
  expect(await Promise.all([first, second])).toEqual(['reading 1', 'reading 2']);
  expect(await ask('a-12', 'a-14')).toBe('reading 2');
});

it('events of another process are not compared', async () => {
  const { ask } = open();
  await ask('a-12', 'a-12');
  expect(await ask('b-1', 'a-12')).toBe('reading 2');
  expect(await ask('b-1', 'a-12')).toBe('reading 3');
  expect(await ask('a-12', 'a-12')).toBe('reading 1');
});

it('an answer is kept for a moment, by its key, and only if it is one', async () => {
  const { ask } = open();
  expect(await ask('a-1', 'a-1', 0)).toBe('reading 1');
  expect(await ask('a-1', 'a-1', 999)).toBe('reading 1');
  expect(await ask('a-1', 'a-1', 1_000)).toBe('reading 2');
  expect(await ask('a-1', 'a-1', 1_000, 'other')).toBe('reading 3');
  expect(await ask('a-1', 'a-1', 0, 'refusing', 'refused')).toBe('refused');
  expect(await ask('a-1', 'a-1', 0, 'refusing')).toBe('reading 4');
});

it('an id is an epoch and a number', () => {
  expect(parseStreamVersion('7f3a-12')).toEqual(at('7f3a', 12));
  for (const text of [undefined, '', '7f3a', '7f3a-', '-1', 'x-1', '7f3a-1-2', `7f3a-${'9'.repeat(16)}`])
    expect(parseStreamVersion(text)).toBeNull();
});
