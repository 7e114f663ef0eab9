// How much memory large request bodies may take at once. A body over the threshold waits for its share before any of it
// is read, so that twenty uploads of 15 MiB cost the memory of a few.

export type BodyBudget = {
  /** Waits for room; the returned function gives it back, once. */
  readonly acquire: (bytes: number) => Promise<() => void>;
};

export function createBodyBudget(bytesMax: number): BodyBudget {
  let used = 0;
  const waiting: { readonly bytes: number; readonly start: () => void }[] = [];

  const admit = () => {
    // In order: a large body is not overtaken for ever by smaller ones.
    while (waiting.length > 0 && (used === 0 || used + waiting[0]!.bytes <= bytesMax)) {
      const next = waiting.shift()!;
      used += next.bytes;
      next.start();
    }
  };

  return {
    acquire: (bytes) =>
      new Promise((resolve) => {
        const release = () => {
          used -= bytes;
          admit();
        };
        let released = false;
        const once = () => {
          if (released) return;
          released = true;
          release();
        };
        waiting.push({ bytes, start: () => resolve(once) });
        admit();
      }),
  };
}
