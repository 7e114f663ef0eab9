import { describe, expect, it } from 'vitest';
import { safeRedirectPath } from './session.ts';

describe('the page after signing in', () => {
  it.each([
    '/app/',
    '/app/queue?repo=git.example/acme/widgets&branch=release%2F2.x',
    '/app/tests/7?repo=a/b/c#failures',
  ])('is %s if that was asked for', (path) => {
    expect(safeRedirectPath(path)).toBe(path);
  });

  it.each([
    '',
    '/',
    '/v1/getQueue',
    '/application',
    '/app/api/session',
    '/app/../v1/x',
    '/app/%2e%2e/v1/x',
    '//evil.test/app/',
    '/\\evil.test/app/',
    'https://evil.test/app/',
    'http://own.invalid:81/app/',
    'javascript:alert(1)',
    '\n//evil.test/app/',
    `/app/${'x'.repeat(1_500)}`,
  ])('is the first one for %j', (path) => {
    expect(safeRedirectPath(path)).toBe('/app/');
  });

  it('stays on this site whatever follows', () => {
    for (const path of ['/app//evil.test', '/app/\\evil.test', '/app/@evil.test', '/app/?to=//evil.test'])
      expect(new URL(safeRedirectPath(path), 'https://queue.test').origin).toBe('https://queue.test');
  });
});
