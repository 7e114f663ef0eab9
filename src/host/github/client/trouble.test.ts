import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Failure, parseFailure, pauseAsked, toHostError, withoutSecrets } from './trouble.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const what = 'GET /repos/acme/widgets';

const failure = (status: number, message = '', headers: Failure['headers'] = {}): Failure => ({
  status,
  message,
  headers,
});

describe('what a failed call means', () => {
  it.each([
    [401, 'Bad credentials', 'forbidden'],
    [403, 'Resource not accessible by integration', 'forbidden'],
    [404, 'Not Found', 'forbidden'],
    [422, 'Validation Failed', 'forbidden'],
    [451, '', 'forbidden'],
    [500, '', 'unavailable'],
    [502, 'Bad Gateway', 'unavailable'],
    [503, '', 'unavailable'],
    [0, 'connect ECONNREFUSED', 'unavailable'],
    [304, '', 'unavailable'],
    [429, '', 'rate_limited'],
  ] as const)('%i %s is %s', (status, message, trouble) => {
    expect(toHostError(failure(status, message), what, now)).toMatchObject({ trouble });
  });

  it('says what was asked, and what GitHub said', () => {
    const { message } = toHostError(failure(403, 'Resource not accessible by integration'), what, now);
    expect(message).toBe(`GitHub answered ${what} with 403: Resource not accessible by integration`);
  });
});

describe('a limit', () => {
  it('is recognized by retry-after, with either of its two statuses', () => {
    const headers = { 'retry-after': '7', 'x-ratelimit-remaining': '12' };
    expect(pauseAsked(failure(429, '', headers), now)).toBe(7_000);
    expect(pauseAsked(failure(403, 'You have exceeded a secondary rate limit', headers), now)).toBe(7_000);
    expect(toHostError(failure(403, '', headers), what, now)).toMatchObject({
      trouble: 'rate_limited',
      retryAfterMs: 7_000,
    });
  });

  it('lasts until the hour ends, by GitHub’s own clock', () => {
    const reset = String(now / 1_000 + 600);
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset };
    const message = 'API rate limit exceeded for installation ID 1.';
    expect(pauseAsked(failure(403, message, headers), now)).toBe(601_000);
    const date = new Date(now + 500_000).toUTCString();
    expect(pauseAsked(failure(403, message, { ...headers, date }), now)).toBe(101_000);
    expect(pauseAsked(failure(403, message, headers), now + 3_600_000)).toBe(1_000);
  });

  it('lasts a minute if GitHub does not say how long', () => {
    expect(pauseAsked(failure(403, 'You have exceeded a secondary rate limit.'), now)).toBe(60_000);
    expect(pauseAsked(failure(429, ''), now)).toBe(60_000);
  });

  it('is not seen in every refusal that comes when the quota is used up', () => {
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' };
    expect(pauseAsked(failure(403, 'Resource not accessible by integration', headers), now)).toBeNull();
    expect(pauseAsked(failure(404, 'Not Found', headers), now)).toBeNull();
  });
});

describe('what the client throws', () => {
  const thrown = (fields: object) => Object.assign(new Error('message'), fields);

  it('is GitHub’s answer, with what it says of single fields', () => {
    const data = {
      message: 'Validation Failed',
      errors: [{ message: 'No commits between' }, 'Again', { code: 'x' }],
    };
    const error = thrown({ status: 422, response: { headers: { a: 'b' }, data } });
    expect(parseFailure(error)).toEqual({
      status: 422,
      message: 'Validation Failed: No commits between: Again',
      headers: { a: 'b' },
    });
  });

  it('is no answer where nothing came back', () => {
    expect(parseFailure(thrown({ status: 500 }))).toEqual({ status: 0, message: 'message', headers: {} });
  });

  it('is nothing of a page that something in between made', () => {
    const error = thrown({ status: 502, response: { headers: {}, data: '<html>token</html>' } });
    expect(parseFailure(error)).toMatchObject({ status: 502, message: '' });
  });

  it('is neither if it is our own fault', () => {
    expect(parseFailure(new TypeError('oops'))).toBeNull();
    expect(parseFailure('oops')).toBeNull();
  });
});

describe('secrets', () => {
  it.each([
    `ghs_${'a1'.repeat(18)}`,
    `ghp_${'Z'.repeat(36)}`,
    `github_pat_${'11AAAA_'.repeat(4)}`,
    'eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxIn0.c2ln-_X',
    'Bearer 0123456789abcdef0123456789abcdef01234567',
    'basic eC1hY2Nlc3MtdG9rZW46YWJjZGVm',
  ])('such as %s are in no message', (secret) => {
    const error = toHostError(failure(403, `Who is ${secret}?`), what, now);
    expect(inspect(error)).not.toContain(secret.split(' ').at(-1));
    expect(error.message).toContain('Who is ***?');
  });

  it('of whatever form are in none if they are known', () => {
    expect(withoutSecrets('say hunter22 twice: hunter22', ['hunter22', 'a'])).toBe('say *** twice: ***');
  });
});
