import { expect, it } from 'vitest';
import { barPath, sparkTop, stepPath } from './spark.ts';

it('draws a bar for each value that is not zero, to scale', () => {
  expect(barPath([2, 0, 1, 4], 4)).toBe('M2.5 100V50H22.5V100ZM52.5 100V75H72.5V100ZM77.5 100V0H97.5V100Z');
});

it('a small value can be seen beside a large one', () => {
  expect(barPath([1, 1_000], 1_000)).toMatch(/^M5 100V97H/);
});

it('connects neighbouring steps, and leaves a gap where there is no value', () => {
  expect(stepPath([4, 2, null, 1], 4)).toBe('M0 0H25V50H50M75 75H100');
  expect(stepPath([null, null], 1)).toBe('');
});

it('is as high as the largest value or the reference, and never divides by zero', () => {
  expect(sparkTop([1, null, 5], 3)).toBe(5);
  expect(sparkTop([1, 2], 3)).toBe(3);
  expect(sparkTop([0, null], null)).toBe(1);
});
