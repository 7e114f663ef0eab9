// Callers with a token that is not known. Each costs a read of the database, and the caller may be guessing. An address that
// fails often waits: few of its attempts are looked at at once, and a failure is answered late. Good tokens are still let
// in from there, since many people may share the address of a proxy.

import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '#base/error.ts';
import { createRateLimiter } from './rate-limit.ts';
import { createShare } from './share.ts';

/** Failures of one address before it waits. */
const failuresPerSecond = 5;
const failuresBurst = 30;
/** How long it waits at least after the last of too many. */
const hotMs = 10_000;
const atOnceMax = 2;
const waitingMax = 200;
const failureDelayMs = 200;
const addressesMax = 10_000;

export type Strangers = {
  /** Does what finds out whether the credentials of a caller from this address are good. */
  readonly admit: <Result>(address: string, check: () => Promise<Result>) => Promise<Result>;
};

const isWrong = (error: unknown): boolean => error instanceof AppError && error.code === 'INVALID_TOKEN';

export function createStrangers(): Strangers {
  const failures = createRateLimiter(failuresPerSecond, failuresBurst);
  const share = createShare(atOnceMax, waitingMax);
  const hotUntil = new Map<string, number>();
  return {
    admit: async (address, check) => {
      const isHot = (hotUntil.get(address) ?? 0) > Date.now();
      const work = async () => {
        try {
          return await check();
        } catch (error) {
          if (isWrong(error)) {
            if (failures.take(address, Date.now()) !== null) {
              if (hotUntil.size >= addressesMax) hotUntil.clear();
              hotUntil.set(address, Date.now() + hotMs);
            }
            if (isHot) await sleep(failureDelayMs);
          }
          throw error;
        }
      };
      return isHot ? share.run(address, work) : work();
    },
  };
}
