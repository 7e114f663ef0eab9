import { describe, expect, it } from 'vitest';
import { priceOf } from './price.js';

describe('a price', () => {
  it('of a widget is known', async () => {
    expect(await priceOf('widget')).toBe(12);
  });

  it('is a promise', () => {
    const price = priceOf('sprocket').catch(() => undefined);
    expect(price).toBeInstanceOf(Promise);
  });
});
