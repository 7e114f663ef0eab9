// The days of a test as strips, one for each class of branch: a cell for every day, also for those without a run.

import type { ResponseOf } from '#contract/endpoint/endpoint.ts';
import { formatCount, formatPercent } from '../format.ts';

type TestDay = ResponseOf<'getTestHistory'>['days'][number];
type StripBranchClass = TestDay['branch_class'];

export type StripCell = {
  readonly day: string;
  /** Null: there is no data for the day. */
  readonly counts: TestDay | null;
  /** Runs that passed in every attempt; 0 if the runs are unknown. */
  readonly passed: number;
  readonly description: string;
};

export type Strip = {
  readonly branchClass: StripBranchClass;
  readonly title: string;
  readonly cells: readonly StripCell[];
  readonly summary: string;
};

export const classTitles: Readonly<Record<StripBranchClass, string>> = {
  default: 'Default branch',
  queue: 'Merge queue',
  pull_request: 'Pull requests',
  other: 'Other branches',
};

const dayMs = 86_400_000;

const dayName = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
export const formatDay = (day: string): string => dayName.format(new Date(`${day}T00:00:00Z`));

/** From the first day to the last, both included; never more than a quarter. */
function daysBetween(first: string, last: string): readonly string[] {
  const from = Date.parse(`${first}T00:00:00Z`);
  const count = Math.min(92, Math.max(1, Math.round((Date.parse(`${last}T00:00:00Z`) - from) / dayMs) + 1));
  return Array.from({ length: count }, (_, index) =>
    new Date(from + index * dayMs).toISOString().slice(0, 10),
  );
}

const countPassed = ({ runs, failed, flaky }: TestDay): number => Math.max(0, (runs ?? 0) - failed - flaky);

/** `3 Nov: 12 runs, 2 failed, 1 flaky`. */
export function describeDay(day: string, counts: TestDay | null): string {
  if (counts === null) return `${formatDay(day)}: no known runs`;
  const { runs, failed, flaky, suspect, contradicted } = counts;
  const parts = [
    runs === null ? 'runs no longer stored' : formatCount(runs, 'run'),
    `${failed} failed`,
    `${flaky} flaky`,
    ...(suspect > 0 ? [`${suspect} in a mass failure`] : []),
    ...(contradicted > 0 ? [`passed and failed on ${formatCount(contradicted, 'commit')}`] : []),
  ];
  return `${formatDay(day)}: ${parts.join(', ')}`;
}

function describeTotal(counts: readonly TestDay[]): string {
  const sum = (pick: (day: TestDay) => number) => counts.reduce((total, day) => total + pick(day), 0);
  const known = counts.filter(({ runs }) => runs !== null);
  const runs = known.reduce((total, day) => total + (day.runs ?? 0), 0);
  const failed = known.reduce((total, day) => total + day.failed, 0);
  const rate = runs === 0 ? '' : `, ${formatPercent(failed / runs)} of ${formatCount(runs, 'counted run')}`;
  return `${sum((day) => day.failed)} failed${rate}, ${sum((day) => day.flaky)} flaky`;
}

/** Classes without any day are left out. */
export function buildStrips(days: readonly TestDay[], since: string, today: string): readonly Strip[] {
  const all = daysBetween(since, today);
  return (Object.keys(classTitles) as StripBranchClass[]).flatMap((branchClass) => {
    const ofClass = days.filter(({ branch_class }) => branch_class === branchClass);
    if (ofClass.length === 0) return [];
    const byDay = new Map(ofClass.map((day) => [day.day, day]));
    const cells = all.map((day): StripCell => {
      const counts = byDay.get(day) ?? null;
      return {
        day,
        counts,
        passed: counts === null ? 0 : countPassed(counts),
        description: describeDay(day, counts),
      };
    });
    return [{ branchClass, title: classTitles[branchClass], cells, summary: describeTotal(ofClass) }];
  });
}
