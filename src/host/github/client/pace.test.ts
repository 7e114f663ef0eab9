import { describe, expect, it } from 'vitest';
import { HostError } from '../../host.ts';
import { createPace } from './pace.ts';

/** How many writes are let through at once. */
async function burstOf(pace: (isUrgent: boolean) => Promise<void>, isUrgent: boolean): Promise<number> {
  for (let count = 0; ; count += 1) {
    const waited = await Promise.race([
      pace(isUrgent).then(() => false),
      new Promise<boolean>((resolve) => setTimeout(resolve, 5, true)),
    ]);
    if (waited) return count;
  }
}

describe('the pace of writes', () => {
  it('lets a burst through, and keeps a share for landings', async () => {
    const pace = createPace(() => 0);
    expect(await burstOf(pace, false)).toBe(14);
    // One more waits already.
    expect(await burstOf(pace, true)).toBe(5);
  });

  it('is a write a second in the long run', async () => {
    let now = 0;
    const pace = createPace(() => now);
    expect(await burstOf(pace, false)).toBe(14);
    now = 8_000;
    expect(await burstOf(pace, false)).toBe(7);
  });

  it('does not keep anybody waiting for long', async () => {
    const pace = createPace(() => 0);
    const waits: Promise<void>[] = [];
    const error = await (async () => {
      for (;;) {
        const wait = pace(false);
        waits.push(wait);
        const refused = await Promise.race([
          wait.then(
            () => null,
            (error: unknown) => error,
          ),
          new Promise<null>((resolve) => setTimeout(resolve, 1, null)),
        ]);
        if (refused !== null) return refused;
      }
    })();
    expect(error).toBeInstanceOf(HostError);
    expect(error).toMatchObject({ trouble: 'rate_limited', retryAfterMs: 11_000 });
    expect(waits).toHaveLength(14 + 10 + 1);
  });
});
