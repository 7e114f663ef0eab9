import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createMemory } from './memory.ts';
import { openTalk, type TalkOptions } from './talk.ts';

const line = (bytes: Buffer) => (bytes.includes('\n') ? bytes.indexOf('\n') + 1 : null);

function talkTo(program: string, options: Partial<TalkOptions> = {}) {
  const talk = openTalk(() => spawn(program), { answerTimeoutMs: 5_000, ...options });
  onTestFinished(talk.close);
  return { ...talk, say: async (text: string) => (await talk.ask(`${text}\n`, line)).toString().trim() };
}

it('answers each question in turn, by one process', async () => {
  const { say, pid } = talkTo('cat');
  const first = say('0');
  expect(await Promise.all(['1', '2', '3'].map(say))).toEqual(['1', '2', '3']);
  expect(await first).toBe('0');
  const before = pid();
  await say('4');
  expect(pid()).toBe(before);
});

it('lets a process go that nobody asks anything, and starts another for the next question', async () => {
  const { say, pid } = talkTo('cat', { idleMs: 20 });
  await say('1');
  await sleep(200);
  expect(pid()).toBeUndefined();
  expect(await say('2')).toBe('2');
});

it.each([
  ['true', 'died'],
  ['no-such-program', 'not started'],
  ['tac', 'timed out'],
])('says how it ended with %s: %s', async (program, why) => {
  const { say } = talkTo(program, { answerTimeoutMs: 300 });
  await expect(say('1')).rejects.toMatchObject({ name: 'TalkEnded', why });
});

it('takes no question after it was closed', async () => {
  const { say, close } = talkTo('cat');
  await say('1');
  await close();
  await expect(say('2')).rejects.toMatchObject({ why: 'closed' });
});

it('remembers answers, not failures, and forgets what was not asked for the longest', async () => {
  const memory = createMemory<string>(2);
  const asked: string[] = [];
  const ask = (key: string) =>
    memory(key, async () => {
      asked.push(key);
      if (key === 'bad') throw new Error('bad');
      return key;
    });
  await Promise.all([ask('a'), ask('a'), ask('b')]);
  await ask('a');
  await ask('c');
  await ask('a');
  await ask('b');
  await expect(ask('bad')).rejects.toThrow('bad');
  await expect(ask('bad')).rejects.toThrow('bad');
  expect(asked).toEqual(['a', 'b', 'c', 'b', 'bad', 'bad']);
});
