import { describe, expect, it } from 'vitest';
import { mayBeCommand, parseComment } from './comment-command.ts';
import { priorities } from '../priority.ts';

const parse = (text: string) => parseComment(text, ['signalbox', 'sb']);
const merge = { kind: 'merge', priority: null, noBatch: false, force: false, sha: null };

describe('a comment', () => {
  it('asks for something on a line of its own, under any command name', () => {
    expect(parse('/signalbox merge')).toEqual(merge);
    expect(parse('  /SB  Merge ')).toEqual(merge);
    expect(parse('Looks good!\r\n\r\n/signalbox cancel\r\nThanks')).toEqual({ kind: 'cancel' });
    expect(parse('/signalbox restart')).toEqual({ kind: 'restart' });
    expect(parse('/signalbox status')).toEqual({ kind: 'status' });
  });

  it('is for other people otherwise', () => {
    for (const text of [
      '',
      'merge',
      'please /signalbox merge',
      '/other merge',
      '/signalboxes merge',
      '> /signalbox merge',
    ])
      expect(parse(text)).toBeNull();
  });

  it('counts with its first command only', () => {
    expect(parse('/signalbox cancel\n/signalbox merge')).toEqual({ kind: 'cancel' });
  });

  it('names the commit that is meant, by seven digits or more', () => {
    expect(parse('/signalbox merge 0A1b2c3 --no-batch')).toEqual({
      ...merge,
      noBatch: true,
      sha: '0a1b2c3',
    });
    const whole = 'f'.repeat(40);
    expect(parse(`/signalbox merge -p high ${whole}`)).toEqual({ ...merge, priority: 10, sha: whole });
    for (const text of ['0a1b2c', 'main', `${whole} ${whole}`, 'f'.repeat(65)])
      expect(parse(`/signalbox merge ${text}`)?.kind).toBe('mistake');
  });

  it('gives a priority by name or number, in every spelling', () => {
    for (const text of ['--priority=high', '-p high', '-p=HIGH', '--priority high'])
      expect(parse(`/signalbox merge ${text}`)).toEqual({ ...merge, priority: priorities.high });
    expect(parse('/signalbox merge -p 0')).toEqual({ ...merge, priority: 0 });
    expect(parse('/signalbox merge --priority=255 --no-batch --force')).toEqual({
      kind: 'merge',
      priority: 255,
      noBatch: true,
      force: true,
      sha: null,
    });
  });

  it('that is not understood says what would be', () => {
    for (const [text, message] of [
      ['/signalbox', /command is missing.*\/signalbox merge/],
      ['/signalbox mrege', /no command `mrege`/],
      ['/signalbox cancel now', /does not accept `now`/],
      ['/signalbox merge --fast', /does not accept `--fast`/],
      ['/signalbox merge -p', /not a valid priority/],
      ['/signalbox merge -p 256', /`256` is not a valid priority/],
      ['/signalbox merge -p soon', /`soon` is not a valid priority\. Use .*urgent/],
    ] as const)
      expect(parse(text)).toEqual({ kind: 'mistake', message: expect.stringMatching(message) as string });
  });

  it('cannot put its own markup into our answer', () => {
    const answer = parse('/signalbox <img/src=x>`@all`');
    expect(answer).toMatchObject({ kind: 'mistake', message: expect.not.stringMatching(/[<>@]/) as string });
  });

  it('is looked for in time that grows with the text', () => {
    const timeOf = (size: number) => {
      const texts = ['\n', ' ', '\r\n', '\t\n', 'x ', '\u2028'].map(
        (part) => `${part.repeat(size / part.length)}x`,
      );
      const start = performance.now();
      for (const text of texts) {
        expect(mayBeCommand(text)).toBe(false);
        expect(parse(text)).toBeNull();
      }
      return performance.now() - start;
    };
    timeOf(65_536);
    // With the square of the size it would be minutes.
    expect(timeOf(524_288)).toBeLessThan(2_000);
  });

  it('is looked at only if a line begins with a slash', () => {
    expect([mayBeCommand('hello'), mayBeCommand('a/b'), mayBeCommand('x\n /signalbox merge')]).toEqual([
      false,
      false,
      true,
    ]);
  });
});
