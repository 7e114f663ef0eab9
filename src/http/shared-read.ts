// When a queue changes, every page that shows it asks the same within a moment. What the first was answered is given to
// the others.
//
// A page that was told of a change must not be given an answer from before it. So each answer is kept with how far the
// process had heard when the reading began, and is given only to whoever was told of nothing later by the same process.
// A page that was told by another process, or that was not told but wants to know, always has its own reading.
//
//   heard 7f3a-12, the reading begins; kept as 7f3a-12
//   a page told 7f3a-11 or 7f3a-12 is given it; one told 7f3a-13 or 90bc-2 has its own

import type { Heard } from '#event/stream.ts';

/** Sentences and expected times are of the instant of the reading. */
const keptMs = 1_000;
const keptMax = 500;

type Kept<Answer> = { readonly heard: Heard; readonly beganAt: number; readonly answer: Promise<Answer> };

export type SharedReads<Answer> = {
  /** `key`: of the question and of who may have its answer. */
  readonly read: (
    key: string,
    told: Heard,
    heard: Heard,
    nowMs: number,
    read: () => Promise<Answer>,
  ) => Promise<Answer>;
};

export function createSharedReads<Answer>(isShareable: (answer: Answer) => boolean): SharedReads<Answer> {
  const kept = new Map<string, Kept<Answer>>();
  return {
    read: (key, told, heard, nowMs, read) => {
      const known = kept.get(key);
      if (
        known !== undefined &&
        known.heard.epoch === told.epoch &&
        known.heard.version >= told.version &&
        Math.abs(nowMs - known.beganAt) < keptMs
      )
        return known.answer;
      const answer = read();
      if (heard.epoch !== told.epoch) return answer;
      if (kept.size >= keptMax) kept.clear();
      const mine = { heard, beganAt: nowMs, answer };
      kept.set(key, mine);
      const forget = () => {
        if (kept.get(key) === mine) kept.delete(key);
      };
      void answer.then((value) => isShareable(value) || forget(), forget);
      return answer;
    },
  };
}

/** `7f3a-12`, as events have it for an id; null where it is none. */
export function heardOf(text: string | undefined): Heard | null {
  const [, epoch, version] = /^([0-9a-f]{1,32})-(\d{1,15})$/.exec(text ?? '') ?? [];
  return epoch === undefined ? null : { epoch, version: Number(version) };
}
