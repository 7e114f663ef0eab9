import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainLine } from './plain-text.ts';

describe('text of reports', () => {
  it('shows what would colour, move or hide as what it is', () => {
    expect(plainLine('\u001b[2J\u001b[31mred\u0007')).toBe('\\u001b[2J\\u001b[31mred\\u0007');
    expect(plainLine('gpj.\u202efdp')).toBe('gpj.\\u202efdp');
    expect(plainLine('a\u009b31mb')).toBe('a\\u009b31mb');
  });

  it('stays on its line', () => {
    expect(plainLine('one\r\n  two\n\nthree')).toBe('one   two three');
  });

  it('gives no orders to CI', () => {
    expect(plainLine('##vso[task.setvariable variable=x]y')).not.toMatch(/##vso\[/);
    expect(plainLine('a ##[error]b ##teamcity[x]')).not.toMatch(/##[a-z]*\[/);
    expect(plainLine('  ::set-output name=x::y')).not.toMatch(/^\s*::/);
  });

  it('keeps letters of every language, and emoji', () => {
    expect(plainLine('zählt 数える 👩‍🚒'.replace('\u200d', ''))).toBe('zählt 数える 👩🚒');
  });

  it('is never longer than a line, and never has a control character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        const line = plainLine(text, 50);
        // oxlint-disable-next-line no-control-regex -- what must not be there
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
        expect(line.isWellFormed()).toBe(true);
        expect(line.length).toBeLessThanOrEqual(50 * 6);
      }),
    );
  });
});
