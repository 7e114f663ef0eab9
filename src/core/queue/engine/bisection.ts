// The search of a batch for its culprit, as people are told of it: the rounds so far, what each run of a round tested,
// and who is left. Every run tests a prefix of the batch (see planner/search.ts), so a run is told by its length.
//
// Eight were tested together and failed. Round 1 with one slot: the first 4, which pass. Round 2: the first 6, under way.
// Then 4 are cleared by a run that passed, and 4 are suspected: 5 to 8.

import { isActive, type Run, type Search } from '../planner/model.ts';

type BisectionRun = {
  /** Its number in the plan. */
  readonly run: number;
  /** It tests so many of the batch, from the first on. */
  readonly length: number;
  readonly status: 'under_way' | 'passed' | 'failed' | 'retrying';
};

type Round = {
  /** The suspects before the round, by place: from the first of these up to the second, without it. */
  readonly from: number;
  readonly to: number;
  /** The shortest first. */
  readonly runs: readonly BisectionRun[];
};

export type Bisection = {
  readonly search: number;
  readonly base: string;
  readonly members: readonly number[];
  /** So many pass together, from the first on: none of them breaks the batch by itself. */
  readonly cleared: number;
  /** The first so many fail together: the culprit is the last suspect or before it. */
  readonly failing: number;
  readonly rounds: readonly Round[];
};

export function bisectionOf(search: Search, runs: readonly Run[]): Bisection {
  const own = runs
    // A run older than the search is the line's, taken over.
    .filter(({ id, of }) => of.kind === 'search' && of.search === search.id && id > search.id)
    .toSorted((a, b) => a.id - b.id);
  return {
    search: search.id,
    base: search.base,
    members: search.members,
    cleared: search.passes,
    failing: search.fails,
    rounds: roundsOf(search.members.length, own),
  };
}

/** A round is asked for in one go; what is tried once more belongs to the round it was first in. */
function roundsOf(length: number, runs: readonly Run[]): readonly Round[] {
  const rounds: Run[][] = [];
  let askedAt: number | null = null;
  for (const run of runs) {
    const isRetry = run.attempt > 0 && rounds.length > 0;
    if (!isRetry && run.requestedAt !== askedAt) rounds.push([]);
    if (!isRetry) askedAt = run.requestedAt;
    rounds.at(-1)!.push(run);
  }
  let [from, to] = [0, length];
  return rounds.map((round) => {
    const shown = { from, to, runs: round.map(showRun).toSorted((a, b) => a.length - b.length) };
    for (const { length: passes, status } of shown.runs)
      if (status === 'passed') from = Math.max(from, passes);
    const failed = shown.runs.find(({ length: fails, status }) => status === 'failed' && fails > from);
    if (failed !== undefined) to = Math.min(to, failed.length);
    return shown;
  });
}

function showRun(run: Run): BisectionRun {
  const length = run.composition.members.length;
  const status =
    run.status === 'passed' || run.status === 'failed'
      ? run.status
      : isActive(run)
        ? 'under_way'
        : 'retrying';
  return { run: run.id, length, status };
}
