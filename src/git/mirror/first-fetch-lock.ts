// One process at a time fetches a repository for the first time: two would fetch it twice, and delete each
// other's partial fetch. The lock is a file in the mirror that is touched while it is held; if its owner was
// killed, another process takes it over half a minute later.

import { open, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

const touchMs = 5_000;
const staleMs = 30_000;

export type HeldLock = { readonly release: () => Promise<void> };

/** Null if another process holds it. */
export async function lockFirstFetch(directory: string): Promise<HeldLock | null> {
  const file = join(directory, 'first-fetch.lock');
  const found = await stat(file).catch(() => null);
  if (found !== null && Date.now() - found.mtimeMs > staleMs) await rm(file, { force: true });
  try {
    await (await open(file, 'wx')).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return null;
    throw error;
  }
  const timer = setInterval(() => {
    utimes(file, new Date(), new Date()).catch(() => undefined);
  }, touchMs);
  timer.unref();
  return {
    release: async () => {
      clearInterval(timer);
      await rm(file, { force: true });
    },
  };
}
