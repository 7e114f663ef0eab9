// How much memory large request bodies may take at once. A body over the threshold waits for its share before any of it
// is read, so that twenty uploads of 15 MiB cost the memory of a few. One owner (an organization) has at most a part of
// all of it: an organization over its share waits for its own bodies, and others go ahead.

export type BodyBudget = {
  /** Waits for room; the returned function gives it back, once. */
  readonly acquire: (bytes: number, owner?: string) => Promise<() => void>;
};

type WaitingBody = { readonly bytes: number; readonly owner: string; readonly start: () => void };

/** `ownMax`: the share of one owner. */
export function createBodyBudget(bytesMax: number, ownMax: number = bytesMax): BodyBudget {
  let used = 0;
  const usedBy = new Map<string, number>();
  const waiting: WaitingBody[] = [];

  const take = (owner: string, bytes: number): void => {
    used += bytes;
    const own = (usedBy.get(owner) ?? 0) + bytes;
    if (own === 0) usedBy.delete(owner);
    else usedBy.set(owner, own);
  };

  const admit = () => {
    const held = new Set<string>();
    for (let at = 0; at < waiting.length;) {
      const { bytes, owner, start } = waiting[at]!;
      const own = usedBy.get(owner) ?? 0;
      if (held.has(owner) || (own > 0 && own + bytes > ownMax)) {
        // Bodies of one owner keep their order.
        held.add(owner);
        at += 1;
        continue;
      }
      // In order: a large body is not overtaken for ever by smaller ones.
      if (used > 0 && used + bytes > bytesMax) return;
      waiting.splice(at, 1);
      take(owner, bytes);
      start();
    }
  };

  return {
    acquire: (bytes, owner = '') =>
      new Promise((resolve) => {
        let released = false;
        const release = () => {
          if (released) return;
          released = true;
          take(owner, -bytes);
          admit();
        };
        waiting.push({ bytes, owner, start: () => resolve(release) });
        admit();
      }),
  };
}
