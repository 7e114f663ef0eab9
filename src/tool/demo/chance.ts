import { hash } from 'node:crypto';

/** A number from 0 to 1 that looks random and is the same every time. */
export const chance = (...of: readonly (string | number)[]): number =>
  hash('sha1', of.join(' '), 'buffer').readUInt32BE(0) / 2 ** 32;
