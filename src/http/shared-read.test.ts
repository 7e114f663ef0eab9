import { expect, it } from 'vitest';
import { createSharedReads, heardOf } from './shared-read.ts';

const at = (epoch: string, version: number) => ({ epoch, version });

function open() {
  let readings = 0;
  const shared = createSharedReads<string>((answer) => answer !== 'refused');
  const ask = (told: string, heard: string, nowMs = 0, key = 'queue', says?: string) =>
    shared.read(key, heardOf(told)!, heardOf(heard)!, nowMs, async () => says ?? `reading ${++readings}`);
  return { ask };
}

it('who was told of nothing later is given what was read', async () => {
  const { ask } = open();
  expect(await ask('a-11', 'a-12')).toBe('reading 1');
  expect(await ask('a-11', 'a-13')).toBe('reading 1');
  expect(await ask('a-12', 'a-13')).toBe('reading 1');
});

it('who was told of something later has a reading of its own, also while the first is under way', async () => {
  const { ask } = open();
  const first = ask('a-12', 'a-12');
  const second = ask('a-13', 'a-13');
  expect(await Promise.all([first, second])).toEqual(['reading 1', 'reading 2']);
  expect(await ask('a-12', 'a-14')).toBe('reading 2');
});

it('what another process told is not compared', async () => {
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
  expect(heardOf('7f3a-12')).toEqual(at('7f3a', 12));
  for (const text of [undefined, '', '7f3a', '7f3a-', '-1', 'x-1', '7f3a-1-2', `7f3a-${'9'.repeat(16)}`])
    expect(heardOf(text)).toBeNull();
});
