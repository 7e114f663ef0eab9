import { describe, expect, it } from 'vitest';
import { createBasket } from './basket.js';

describe('a basket', () => {
  it('is empty at first', () => {
    expect(createBasket().count()).toBe(0);
  });

  it('holds what is added', () => {
    const basket = createBasket();
    basket.add('widget');
    basket.add('sprocket');
    expect(basket.count()).toBe(2);
  });

  it('can be emptied', () => {
    const basket = createBasket();
    basket.add('widget');
    basket.empty();
    expect(basket.count()).toBe(0);
  });
});
