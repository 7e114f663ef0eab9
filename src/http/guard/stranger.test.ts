import { describe, expect, it } from 'vitest';
import { appError } from '#base/error.ts';
import { createStrangers } from './stranger.ts';

const wrong = () => Promise.reject(appError('INVALID_TOKEN', { public: 'no' }));

describe('callers with unknown tokens', () => {
  it(
    'wait once an address has failed often, and a good token is still let in from there',
    { retry: 2 },
    async () => {
      const strangers = createStrangers();
      const guess = () => strangers.admit('10.0.0.1', wrong).catch(() => undefined);
      const fast = performance.now();
      for (let attempt = 0; attempt < 31; attempt += 1) await guess();
      expect(performance.now() - fast).toBeLessThan(200);
      const slow = performance.now();
      await Promise.all(Array.from({ length: 6 }, guess));
      // Two at a time, each answered late.
      expect(performance.now() - slow).toBeGreaterThan(500);
      expect(await strangers.admit('10.0.0.1', () => Promise.resolve('good'))).toBe('good');
      const elsewhere = performance.now();
      await strangers.admit('10.0.0.2', wrong).catch(() => undefined);
      expect(performance.now() - elsewhere).toBeLessThan(150);
    },
  );
});
