import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { foldCalls } from './stream.ts';

describe('many changes in a short time', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('cause a refetch at once, then twice a second, and one after the last change', async () => {
    const run = vi.fn(async () => undefined);
    const changed = foldCalls(run, 500);
    for (let ms = 0; ms < 1_900; ms += 10) {
      changed();
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(run.mock.calls.length).toBeLessThanOrEqual(5);
    const before = run.mock.calls.length;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(run.mock.calls.length - before).toBe(1);
  });

  it('wait for a slow refetch, then cause one more', async () => {
    let underWay = 0;
    let most = 0;
    const run = vi.fn(async () => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      underWay -= 1;
    });
    const changed = foldCalls(run, 500);
    changed();
    await vi.advanceTimersByTimeAsync(1_000);
    changed();
    changed();
    await vi.advanceTimersByTimeAsync(10_000);
    expect([run.mock.calls.length, most]).toEqual([2, 1]);
  });

  it('cause further refetches after one that failed', async () => {
    const run = vi.fn(() => Promise.reject(new Error('unreachable')));
    const changed = foldCalls(run, 500);
    changed();
    await vi.advanceTimersByTimeAsync(600);
    changed();
    await vi.advanceTimersByTimeAsync(600);
    expect(run).toHaveBeenCalledTimes(2);
  });
});
