import { describe, expect, it } from 'vitest';
import { failureLine, messageLines } from './failure-text.ts';

const reported = (file: string, body: string, message = '') => ({
  file,
  failures: [{ type: '', message, body }],
});

describe('the line of a failure', () => {
  it.each([
    ['src/cart.test.ts', 'Error: no\n    at /work/src/cart.ts:3:1\n    at /work/src/cart.test.ts:12:5', 12],
    ['cart.test.ts', ' ❯ cart.test.ts:7:21', 7],
    ['tests/test_cart.py', 'E  assert 3 == 2\n\ntests/test_cart.py:31: AssertionError', 31],
    ['CartTest.cs', 'at Acme.CartTest.Adds() in /src/CartTest.cs:line 42', 42],
    ['CartTest.java', 'at acme.CartTest.adds(CartTest.java:9)', 9],
    ['cart_test.go', 'cart_test.go:5: no', 5],
  ])('is read from the failure of %s', (file, body, line) => {
    expect(failureLine(reported(file, body))).toBe(line);
    expect(failureLine(reported(file, '', body))).toBe(line);
  });

  it('is not that of another file, nor a number that is no line', () => {
    expect(failureLine(reported('cart.ts', 'at my-cart.ts:3\nat cart.ts at 3\ncart.ts:0'))).toBeNull();
    expect(failureLine(reported('cart.ts', 'cart.ts:12345678'))).toBeNull();
    expect(failureLine(reported('', ':3'))).toBeNull();
    expect(failureLine({ file: 'cart.ts', failures: [] })).toBeNull();
  });

  it('is found in time that grows with the text', () => {
    const begunAt = performance.now();
    expect(failureLine(reported('a', 'a'.repeat(500_000)))).toBeNull();
    expect(performance.now() - begunAt).toBeLessThan(2_000);
  });
});

describe('the message of a failure', () => {
  it('is its first three lines with text, each on a line that nothing in it can end', () => {
    expect(messageLines(reported('', 'body', '\n one\r\n\n\u001b[31mtwo\n::error::three\nfour'))).toEqual([
      'one',
      '\\u001b[31mtwo',
      ': :error::three',
    ]);
  });

  it('is the beginning of its body if it has no message', () => {
    expect(messageLines(reported('', 'AssertionError\nat x'))).toEqual(['AssertionError', 'at x']);
    expect(messageLines({ failures: [] })).toEqual([]);
  });
});
