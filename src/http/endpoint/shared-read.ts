// When a queue changes, every page that shows it sends the same request within a moment. The pages share the
// answer to the first request.
//
// A page that has received an event must not get an answer from before it. So each answer is cached with the
// position of the process in the stream when the read began, and is given only to pages that received no
// later event from the same process. A page that received its event from another process, or that asks
// without an event, gets its own read.
//
//   the process is at 7f3a-12 when the read begins: the answer is cached as 7f3a-12
//   a page at 7f3a-11 or 7f3a-12 gets that answer; a page at 7f3a-13 or 90bc-2 gets its own read

import { createTtlCache } from '#base/ttl-cache.ts';
import type { StreamPosition } from '#event/stream.ts';
import type { Deps } from '../deps.ts';

/** Sentences and expected times are those of the moment of the read. */
const ttlMs = 1_000;
const max = 500;

type Shared<Answer> = { readonly position: StreamPosition; readonly answer: Promise<Answer> };

export type SharedReads<Answer> = {
  /** `key`: identifies the request and who may read its answer. */
  readonly read: (
    key: string,
    pagePosition: StreamPosition,
    processPosition: StreamPosition,
    read: () => Promise<Answer>,
  ) => Promise<Answer>;
};

export function createSharedReads<Answer>(
  { clock }: Pick<Deps, 'clock'>,
  isShareable: (answer: Answer) => boolean,
): SharedReads<Answer> {
  const cache = createTtlCache<Shared<Answer>>({ ttlMs, max, now: () => clock.now().getTime() });
  return {
    read: (key, pagePosition, processPosition, read) => {
      const known = cache.get(key);
      if (
        known !== undefined &&
        known.position.epoch === pagePosition.epoch &&
        known.position.version >= pagePosition.version
      )
        return known.answer;
      const answer = read();
      if (processPosition.epoch !== pagePosition.epoch) return answer;
      const shared = { position: processPosition, answer };
      cache.set(key, shared);
      const drop = () => {
        if (cache.get(key) === shared) cache.delete(key);
      };
      void answer.then((value) => isShareable(value) || drop(), drop);
      return answer;
    },
  };
}

/** Parses the id of an event, `7f3a-12`; null if it is not one. */
export function parseStreamVersion(text: string | undefined): StreamPosition | null {
  const [, epoch, version] = /^([0-9a-f]{1,32})-(\d{1,15})$/.exec(text ?? '') ?? [];
  return epoch === undefined ? null : { epoch, version: Number(version) };
}
