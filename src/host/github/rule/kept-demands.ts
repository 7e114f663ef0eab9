// Caches the requirements of branches. A landing must not be decided by what was read before it began. It
// need not read everything again either: the query that reads its pull requests also shows the rulesets of
// the branch (rulesPrint of pull-request-query.ts), and while these are unchanged, the cached requirements
// are still valid.
//
// The fingerprint is read before the requirements. If the rules change in between, the next fingerprint
// differs, and everything is read again.

import { createTtlCache } from '#base/ttl-cache.ts';
import type { GithubDemands } from './protection.ts';

type CachedDemands = {
  readonly demands: Promise<GithubDemands>;
  /** `performance.now()` before the read. */
  readonly readAt: number;
  /** When the entry expires, by the clock of the cache. */
  readonly until: number;
  /** The fingerprint of the rulesets before the read; null: not known. */
  readonly print: string | null;
  /** The read is complete, and only rulesets decide. */
  isComparable: boolean;
  /** The last instant at which the rulesets were seen unchanged. */
  confirmedAt: number;
};

export type KeptDemands = {
  /**
   * Requirements that were read at `asOf` (`performance.now()`) or later, or confirmed since; if `asOf` is
   * absent, cached ones.
   */
  readonly recall: (
    key: string,
    asOf: number | undefined,
    read: () => Promise<GithubDemands>,
  ) => Promise<GithubDemands>;
  /** Records the rulesets that were seen; `askedAt` is the instant before the request. */
  readonly confirm: (key: string, print: string | null, askedAt: number) => void;
};

/** How long an entry is valid without confirmation. */
const keptMs = 30_000;
/** How long an entry is valid while its rulesets are the same: only a full read shows who may bypass them. */
const confirmedMs = 5 * 60_000;

/** A fingerprint belongs to a read that starts within this time. */
const printMs = 10_000;

export function createKeptDemands(now: () => number, entriesMax: number): KeptDemands {
  const kept = createTtlCache<CachedDemands>({ max: entriesMax });
  const prints = createTtlCache<{ readonly print: string | null; readonly askedAt: number }>({
    max: entriesMax,
  });
  const settle = async (key: string, entry: CachedDemands) => {
    try {
      // The fingerprint does not cover classic protection.
      entry.isComparable = !(await entry.demands).isClassic;
    } catch {
      if (kept.get(key) === entry) kept.delete(key);
    }
  };
  const isKnown = ({ until, readAt, confirmedAt }: CachedDemands, asOf: number | undefined): boolean =>
    asOf === undefined ? now() < until : Math.max(readAt, confirmedAt) >= asOf;
  return {
    recall: (key, asOf, read) => {
      const known = kept.get(key);
      if (known !== undefined && isKnown(known, asOf)) return known.demands;
      const readAt = performance.now();
      const last = prints.get(key);
      const print = last !== undefined && readAt - last.askedAt < printMs ? last.print : null;
      const until = now() + keptMs;
      const entry: CachedDemands = {
        demands: read(),
        readAt,
        until,
        print,
        isComparable: false,
        confirmedAt: readAt,
      };
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
