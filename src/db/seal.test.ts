import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { seal, unseal } from './seal.ts';

const key = randomBytes(32);

it('decrypts with the right key and for the right owner only', () => {
  const sealed = seal(key, 'row 1', 'fake-secret ✓');
  expect(unseal(key, 'row 1', sealed)).toBe('fake-secret ✓');
  expect(unseal(randomBytes(32), 'row 1', sealed)).toBeNull();
  expect(unseal(key, 'row 2', sealed)).toBeNull();
});

it('decrypts with any of the keys, and encrypts with the first', () => {
  const replaced = randomBytes(32);
  const ring = [key, replaced] as const;
  expect(unseal(ring, 'row', seal(replaced, 'row', 'fake-secret'))).toBe('fake-secret');
  expect(unseal(key, 'row', seal(ring, 'row', 'fake-secret'))).toBe('fake-secret');
  expect(unseal(replaced, 'row', seal(ring, 'row', 'fake-secret'))).toBeNull();
  expect(unseal(ring, 'row', seal(randomBytes(32), 'row', 'fake-secret'))).toBeNull();
});

it('does not open what was changed or cut', () => {
  const sealed = seal(key, 'row', 'fake-secret');
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    expect(unseal(key, 'row', changed)).toBeNull();
    expect(unseal(key, 'row', sealed.subarray(0, at))).toBeNull();
  }
});

it('never gives the same bytes twice, and none of the text', () => {
  const [one, two] = [seal(key, 'row', 'fake-secret'), seal(key, 'row', 'fake-secret')];
  expect(one.equals(two)).toBe(false);
  expect(one.includes('fake-secret')).toBe(false);
});
