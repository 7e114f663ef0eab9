// Combines reads that are requested at the same moment into one call: each row of a queue asks for its own
// record, and the server gets one request for all of them.

export type Loader<Key, Value> = { readonly load: (key: Key) => Promise<Value> };

type PendingLoad<Key, Value> = { readonly key: Key; readonly answer: PromiseWithResolvers<Value> };

/** `read` answers in the order of the keys, of which there are at most `max`, requested within `gatherMs`. */
export function createLoader<Key, Value>(
  max: number,
  gatherMs: number,
  read: (keys: readonly Key[]) => Promise<readonly Value[]>,
): Loader<Key, Value> {
  let waiting: PendingLoad<Key, Value>[] = [];
  const answer = async (asked: readonly PendingLoad<Key, Value>[]) => {
    try {
      const values = await read(asked.map(({ key }) => key));
      for (const [index, { answer }] of asked.entries()) answer.resolve(values[index]!);
    } catch (error) {
      for (const { answer } of asked) answer.reject(error);
    }
  };
  const flush = () => {
    const all = waiting;
    waiting = [];
    for (let at = 0; at < all.length; at += max) void answer(all.slice(at, at + max));
  };
  return {
    load: (key) => {
      if (waiting.length === 0) setTimeout(flush, gatherMs);
      const asked = { key, answer: Promise.withResolvers<Value>() };
      waiting.push(asked);
      return asked.answer.promise;
    },
  };
}
