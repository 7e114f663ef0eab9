import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openTalk, type TalkOptions } from './process-session.ts';

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

it('ends an idle process, and starts another for the next question', async () => {
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
