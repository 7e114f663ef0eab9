// How often runs fail by chance, as a queue reads it from its own history (db/run/run-measure-store.ts): over the last runs of
// all tests that were not stopped.
//
//   passed                 counts as passed, and as failed by chance too if its failed jobs ran again
//   failed by chance       all of its changes merged later, or its only change passed a later run alone
//   failed otherwise       does not count

import { estimateFlakeShare, flakeRunsMax } from '#core/queue/planner/history.ts';

type UnderWayRun = { readonly members: readonly number[]; isRerun: boolean };
type PlayedRun = UnderWayRun & { readonly isPassed: boolean; isChance: boolean };

export type FlakeHistory = {
  /** A run of all tests begins. */
  readonly start: (run: number, members: readonly number[]) => void;
  readonly end: (run: number, isPassed: boolean) => void;
  /** A run that is stopped before its end says nothing, whatever its result would have been. */
  readonly cancel: (run: number) => void;
  /** The failed jobs of a run run again. */
  readonly excuse: (run: number) => void;
  readonly merge: (number: number) => void;
  /** `failed`: how many of the last attempts failed. */
  readonly share: (failed: number) => number;
};

export function createFlakeHistory(): FlakeHistory {
  const started = new Map<number, UnderWayRun>();
  const ended: PlayedRun[] = [];
  const merged = new Set<number>();
  const counts = { passed: 0, flaky: 0 };

  const count = ({ isPassed, isChance }: PlayedRun, by: 1 | -1) => {
    if (isPassed) counts.passed += by;
    if (isChance) counts.flaky += by;
  };
  /** The failed runs of which this holds failed by chance: their changes are sound together. */
  const recognize = (isSound: (members: readonly number[]) => boolean) => {
    for (const run of ended) {
      if (run.isPassed || run.isChance || !isSound(run.members)) continue;
      run.isChance = true;
      counts.flaky++;
    }
  };
  return {
    start: (run, members) => void started.set(run, { members, isRerun: false }),
    end: (id, isPassed) => {
      const run = started.get(id);
      if (run === undefined) return;
      started.delete(id);
      const { members, isRerun } = run;
      if (isPassed && members.length === 1)
        recognize((failed) => failed.length === 1 && failed[0] === members[0]);
      const last = { ...run, isPassed, isChance: isPassed && isRerun };
      ended.push(last);
      count(last, 1);
      if (ended.length > flakeRunsMax) count(ended.shift()!, -1);
    },
    cancel: (run) => void started.delete(run),
    excuse: (id) => {
      const run = started.get(id);
      if (run !== undefined) run.isRerun = true;
    },
    merge: (number) => {
      merged.add(number);
      recognize((failed) => failed.includes(number) && failed.every((each) => merged.has(each)));
    },
    share: (failed) => estimateFlakeShare({ ...counts, failed }),
  };
}
