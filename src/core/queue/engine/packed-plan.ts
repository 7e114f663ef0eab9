// The stored plan of a long line, in few bytes. A run in a line names everything ahead of it, so n runs name
// n * n / 2 entries: 1,000 runs half a million, which would be read and written with every reconcile. Packed,
// the entries that runs name are listed once, in the order of the line, and a run names ranges of that list:
// in single mode one range.
//
//   line 1 2 3, runs 1 | 1 2 | 1 2 3   →   entries [1, 2, 3], ranges [0, 1] | [0, 2] | [0, 3]

import type { StoredPlan, StoredPlanRun } from './stored.ts';

type PackedRun = Omit<StoredPlanRun, 'composition'> & {
  readonly composition: Omit<StoredPlanRun['composition'], 'members'> & {
    /** Start and end of each range, in sequence. */
    readonly ranges: readonly number[];
  };
};

export type PackedPlan = Omit<StoredPlan, 'runs'> & {
  readonly entries: readonly number[];
  readonly runs: readonly PackedRun[];
};

/** The release before does not read packed plans, and cannot have more runs than this in one line. */
const runsMax = 64;

export function packPlan(plan: StoredPlan): StoredPlan | PackedPlan {
  if (plan.runs.length <= runsMax) return plan;
  const entries: number[] = [];
  const indexes = new Map<number, number>();
  const indexOf = (pr: number): number => {
    const known = indexes.get(pr);
    if (known !== undefined) return known;
    indexes.set(pr, entries.length);
    return entries.push(pr) - 1;
  };
  for (const { members } of plan.line) members.forEach(indexOf);
  const toRanges = (members: readonly number[]): number[] => {
    const ranges: number[] = [];
    let end = -1;
    for (const pr of members) {
      if (entries[end] === pr) {
        ranges[ranges.length - 1] = ++end;
        continue;
      }
      const index = indexOf(pr);
      end = index + 1;
      ranges.push(index, end);
    }
    return ranges;
  };
  const runs = plan.runs.map(({ composition: { members, ...composition }, ...run }): PackedRun => ({
    ...run,
    composition: { ...composition, ranges: toRanges(members) },
  }));
  return { ...plan, entries, runs };
}

export function unpackPlan(plan: StoredPlan | PackedPlan): StoredPlan {
  if (!('entries' in plan)) return plan;
  const { entries, runs, ...rest } = plan;
  return { ...rest, runs: unpackRuns(entries, runs) };
}

/** If `entries` is null the runs are not packed. */
export function unpackRuns(
  entries: readonly number[] | null,
  runs: readonly (StoredPlanRun | PackedRun)[],
): readonly StoredPlanRun[] {
  if (entries === null) return runs as readonly StoredPlanRun[];
  return (runs as readonly PackedRun[]).map(({ composition: { ranges, ...composition }, ...run }) => {
    const members: number[] = [];
    for (let at = 0; at < ranges.length; at += 2) members.push(...entries.slice(ranges[at], ranges[at + 1]));
    return { ...run, composition: { ...composition, members } };
  });
}
