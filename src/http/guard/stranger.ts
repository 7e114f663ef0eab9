// Callers with an unknown token. Each costs a read of the database, and the caller may be guessing. An
// address that fails often is slowed down: few of its requests are checked at once, and a failure is answered
// late. Valid tokens are still accepted from there, since many people may share the address of a proxy.

import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '#base/error.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import { createRateLimiter } from './rate-limit.ts';
import { createShare } from './share.ts';

/** Failures of one address before it is slowed down. */
const failuresPerSecond = 5;
const failuresBurst = 30;
/** How long it stays slowed down after the last excess failure. */
const hotMs = 10_000;
const atOnceMax = 2;
const waitingMax = 200;
const failureDelayMs = 200;
const addressesMax = 10_000;

export type Strangers = {
  /** Runs the check of a caller's credentials. */
  readonly admit: <Result>(address: string, check: () => Promise<Result>) => Promise<Result>;
};

const isWrong = (error: unknown): boolean => error instanceof AppError && error.code === 'INVALID_TOKEN';

export function createStrangers(): Strangers {
  const failures = createRateLimiter(failuresPerSecond, failuresBurst);
  const share = createShare(atOnceMax, waitingMax);
  const hot = createTtlCache<true>({ ttlMs: hotMs, max: addressesMax });
  return {
    admit: async (address, check) => {
      const isHot = hot.get(address) === true;
      const work = async () => {
        try {
          return await check();
        } catch (error) {
          if (isWrong(error)) {
            if (failures.take(address, performance.now()) !== null) hot.set(address, true);
            if (isHot) await sleep(failureDelayMs);
          }
          throw error;
        }
      };
      return isHot ? share.run(address, work) : work();
    },
  };
}
