// What branches ask for, kept for a while. A landing must not be decided by what was read before it began. It need not read
// everything again either: the query that reads its pull requests also shows the rulesets of the branch (rulesPrint of
// pull-request-query.ts), and while they are those that were there when everything was read, what was read holds now.
//
// The text is read before what it is kept with. If the rules change in between, the next text differs, and all is read again.

import { createMemory } from './memory.ts';
import type { Demands } from './protection.ts';

type Kept = {
  readonly demands: Promise<Demands>;
  /** `performance.now()` before it was read. */
  readonly readAt: number;
  /** By the clock that says how long it is kept. */
  readonly until: number;
  /** The rulesets as they were before it was read; null: not known. */
  readonly print: string | null;
  /** It was read, and the rulesets are all that decides. */
  isComparable: boolean;
  /** The last instant at which they were seen to be the same. */
  confirmedAt: number;
};

export type KeptDemands = {
  /** What was read at `asOf` (`performance.now()`) or later, or is known to hold since; absent: within the time of keeping. */
  readonly recall: (key: string, asOf: number | undefined, read: () => Promise<Demands>) => Promise<Demands>;
  /** The rulesets were seen to be these, at an instant before they were asked for. */
  readonly confirm: (key: string, print: string | null, askedAt: number) => void;
};

/** While nothing else is known of the branch. */
const keptMs = 30_000;
/** While its rulesets are the same: who may bypass them is shown only by reading all of it. */
const confirmedMs = 5 * 60_000;

/** A text belongs to what is read so soon after it. */
const printMs = 10_000;

export function createKeptDemands(now: () => number, entriesMax: number): KeptDemands {
  const kept = createMemory<Kept>(entriesMax);
  const prints = createMemory<{ readonly print: string | null; readonly askedAt: number }>(entriesMax);
  const settle = async (key: string, entry: Kept) => {
    try {
      // Classic protection is no part of what is compared.
      entry.isComparable = !(await entry.demands).isClassic;
    } catch {
      if (kept.get(key) === entry) kept.delete(key);
    }
  };
  const isKnown = ({ until, readAt, confirmedAt }: Kept, asOf: number | undefined): boolean =>
    asOf === undefined ? now() < until : Math.max(readAt, confirmedAt) >= asOf;
  return {
    recall: (key, asOf, read) => {
      const known = kept.get(key);
      if (known !== undefined && isKnown(known, asOf)) return known.demands;
      const readAt = performance.now();
      const last = prints.get(key);
      const print = last !== undefined && readAt - last.askedAt < printMs ? last.print : null;
      const until = now() + keptMs;
      const entry: Kept = { demands: read(), readAt, until, print, isComparable: false, confirmedAt: readAt };
      kept.set(key, entry);
      void settle(key, entry);
      return entry.demands;
    },
    confirm: (key, print, askedAt) => {
      prints.set(key, { print, askedAt });
      const known = kept.get(key);
      const isSame = known?.isComparable === true && print !== null && print === known.print;
      if (isSame && askedAt - known.readAt < confirmedMs)
        known.confirmedAt = Math.max(known.confirmedAt, askedAt);
    },
  };
}
