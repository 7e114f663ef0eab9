import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprintFailure } from './fingerprint.ts';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

const of = (message: string, body = '', type = '') =>
  fingerprintFailure({ type, message, body }, 'the test', hash);

describe('a fingerprint', () => {
  it.each([
    [
      'Timeout of 5000ms exceeded at http://127.0.0.1:43521/',
      'Timeout of 5003ms exceeded at http://127.0.0.1:501/a',
    ],
    ['no user 6fa459ea-ee8a-3ca4-894e-db77e160355e', 'no user 11111111-ee8a-3ca4-894e-db77e160355e'],
    ['failed at 2026-11-15T10:00:00.123Z', 'failed at 2026-01-02T03:04:05Z'],
    ['object Foo@1a2b3c4d is gone', 'object Foo@99887766 is gone'],
    ['pointer 0x7ffe12', 'pointer 0x10'],
    ['expected 3 but was 4', 'expected 31 but was -2.5'],
    ['cannot open /tmp/abc-123/file', 'cannot open /tmp/xyz/other'],
    ['cannot open /home/a/work/repo/src/x.ts', 'cannot open /builds/7/repo/src/x.ts'],
    ['commit deadbeef01 not found', 'commit 0123456789abcdef not found'],
    ['connect ECONNREFUSED 10.0.0.1:5432', 'connect ECONNREFUSED 192.168.7.12:5433'],
    ['\u001b[31mexpected\u001b[39m true', 'expected true'],
    ['cafe\u0301 is closed', 'caf\u00e9 is closed'],
    ['took 3.5 s', 'took 12 seconds'],
  ])('is the same for %j and %j', (a, b) => {
    expect(of(a).key).toBe(of(b).key);
  });

  it.each([
    ['expected true', 'expected false'],
    ['http2 is off', 'http3 is off'],
    ['expected 3 but was 3', 'expected 3 but was 4'],
    ['ENOENT: no such file', 'EACCES: permission denied'],
  ])('is another for %j and %j', (a, b) => {
    expect(of(a).key).not.toBe(of(b).key);
  });

  it('is another for another type, and for another function of the repository', () => {
    expect(of('gone', '', 'TypeError').key).not.toBe(of('gone', '', 'RangeError').key);
    const at = (name: string, line: number) =>
      of('gone', `Error: gone\n    at ${name} (/work/repo/src/a.ts:${line}:7)\n    at node:internal/x:1:2`);
    expect(at('load', 1).key).toBe(at('load', 99).key);
    expect(at('load', 1).key).not.toBe(at('save', 1).key);
  });

  it.each([
    ['JavaScript', '    at load (/ci/repo/src/a.ts:LINE:2)'],
    ['Java', '\tat com.acme.Shop.load(Shop.java:LINE)'],
    ['Python', '  File "/ci/repo/src/a.py", line LINE, in load'],
    ['.NET', '   at Acme.Shop.Load(Int32 id) in /ci/repo/Shop.cs:line LINE'],
    ['Ruby', "     # ./spec/shop_spec.rb:LINE:in `load'"],
    ['Rust', "thread 'main' panicked at src/shop.rs:LINE:9:"],
    ['Go', '    shop_test.go:LINE: not loaded'],
  ])('knows the frames of %s, without their lines', (_, line) => {
    const at = (number: string) => of('gone', line.replace('LINE', number)).key;
    expect(at('7')).toBe(at('88'));
    expect(at('7')).not.toBe(of('gone', '').key);
  });

  it('leaves frames of runtimes and packages out', () => {
    const foreign =
      '    at run (/ci/repo/node_modules/jest/x.js:1:2)\n\tat org.junit.Assert.fail(Assert.java:1)';
    expect(of('gone', foreign).key).toBe(of('gone', '').key);
  });

  it('looks into the body where the message says nothing', () => {
    expect(of('the test', 'FAILURE\nno room at 5').summary).toBe('no room at <number>');
    expect(of('exited with error code 1', 'no room').summary).toBe('no room');
    expect(of('', '').summary).toBe('(no message)');
  });

  it('has a summary that a person can read, in one line of at most 200 characters', () => {
    expect(of('expected 3 to be 4', '', 'AssertionError').summary).toBe(
      'AssertionError: expected <number> to be <number>',
    );
    expect(of('java.lang.IllegalStateException: no room').summary).toBe(
      'java.lang.IllegalStateException: no room',
    );
    expect(of('a 7 and 7\nand 8').summary).toBe('a <number 1> and <number 1> and <number>');
    expect(of(`😀${'x'.repeat(500)}`).summary.length).toBeLessThanOrEqual(200);
  });

  it('is made of any text, without control characters in what is shown', () => {
    const anyText = fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
      .map((units) => String.fromCharCode(...units));
    fc.assert(
      fc.property(anyText, anyText, anyText, (type, message, body) => {
        const { key, summary } = of(message, body, type);
        expect(key).toMatch(/^[0-9a-f]{16}$/u);
        expect(summary.isWellFormed()).toBe(true);
        expect(Array.from(summary).every((character) => character >= ' ' && character !== '\u007f')).toBe(
          true,
        );
      }),
    );
  });

  it('takes no text long, whatever it repeats', () => {
    const pieces = [
      'a',
      '0',
      '/',
      '-',
      'a@',
      'a.',
      '1.',
      '/a ',
      'at a (',
      'File "',
      '\u001b[',
      '\u001b]',
      '12:',
    ];
    const more = [
      '2026-',
      '1 Jan ',
      'a:',
      'http://',
      'a\\',
      "thread '",
      'aError',
      'at a.b(',
      'x.go:1:',
      'x\n',
      '9_',
    ];
    const longest = Math.max(
      ...[...pieces, ...more].flatMap((piece) =>
        (['type', 'message', 'body'] as const).map((where) => {
          const text = piece.repeat(Math.ceil(16_384 / piece.length));
          const failure = { type: '', message: '', body: '', [where]: text };
          const begunAt = performance.now();
          fingerprintFailure(failure, 'the test', hash);
          return performance.now() - begunAt;
        }),
      ),
    );
    // A millisecond on a quiet machine; what is looked for is what grows with the square.
    expect(longest).toBeLessThan(100);
  });
});
