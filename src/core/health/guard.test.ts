import { describe, expect, it } from 'vitest';
import { isMassFailure, nextBaseline } from './guard.ts';

describe('the guard against mass failures', () => {
  const usual = { mean: 3, uploads: 50 };

  it('takes more than the job ever shows for one', () => {
    expect(isMassFailure(usual, 15, 100)).toBe(false);
    expect(isMassFailure(usual, 16, 100)).toBe(true);
  });

  it('does not for one in a hundred tests', () => {
    expect(isMassFailure(usual, 20, 2_000)).toBe(false);
    expect(isMassFailure(usual, 21, 2_000)).toBe(true);
  });

  it('does not for ten failures, however few there usually are', () => {
    expect(isMassFailure({ mean: 0, uploads: 50 }, 10, 50)).toBe(false);
    expect(isMassFailure({ mean: 0, uploads: 50 }, 11, 50)).toBe(true);
  });

  it('takes a tenth of the tests for too many while nothing is known of the job', () => {
    expect(isMassFailure(null, 30, 300)).toBe(false);
    expect(isMassFailure(null, 31, 300)).toBe(true);
    expect(isMassFailure({ mean: 0, uploads: 0 }, 31, 300)).toBe(true);
  });

  it('learns what is usual, the newest for a tenth', () => {
    const first = nextBaseline(null, 4);
    expect(first).toEqual({ mean: 4, uploads: 1 });
    expect(nextBaseline(first, 14)).toEqual({ mean: 5, uploads: 2 });
  });

  it('is used to a job that always fails a lot', () => {
    let baseline = nextBaseline(null, 60);
    for (let upload = 0; upload < 20; upload++) baseline = nextBaseline(baseline, 60 + (upload % 2));
    expect(isMassFailure(baseline, 100, 500)).toBe(false);
    expect(isMassFailure(baseline, 120, 500)).toBe(true);
  });
});
