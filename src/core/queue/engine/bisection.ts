// The bisection of a batch as it is displayed: the rounds so far, what each run of a round tested, and which
// entries are still suspected. Every run tests a prefix of the batch (see planner/search.ts), so its length
// identifies it.
//
// Eight were tested together and failed. Round 1 with one slot: the first 4, which pass. Round 2: the first
// 6, running. Then 4 are cleared by a run that passed, and 4 are suspected: 5 to 8.
//
// If the runs run only the tests that failed, each test has suspects of its own (planner/targeted.ts): all entries are
// suspected until the end.

import { isActive, type Run, type Search } from '../planner/model.ts';

type BisectionRun = {
  /** Its number in the plan. */
  readonly run: number;
  /** How many of the batch it tests, from the first on. */
  readonly length: number;
  readonly status: 'under_way' | 'passed' | 'failed' | 'retrying';
};

type BisectionRoundSummary = {
  /** The suspects before the round, by position: from `from` up to, but not including, `to`. */
  readonly from: number;
  readonly to: number;
  /** The shortest first. */
  readonly runs: readonly BisectionRun[];
};

export type Bisection = {
  readonly search: number;
  readonly base: string;
  readonly members: readonly number[];
  /** So many pass together, from the first on: none of these alone breaks the batch. */
  readonly cleared: number;
  /** The first so many fail together: the culprit is among them. */
  readonly failing: number;
  readonly rounds: readonly BisectionRoundSummary[];
};

export function summarizeBisection(search: Search, runs: readonly Run[]): Bisection {
  const own = runs
    // A run older than the bisection is the line's, reused.
    .filter(({ id, of }) => of.kind === 'search' && of.search === search.id && id > search.id)
    .toSorted((a, b) => a.id - b.id);
  return {
    search: search.id,
    base: search.base,
    members: search.members,
    cleared: search.passes,
    failing: search.fails,
    rounds: groupIntoRounds(search, own),
  };
}

/** The runs of a round are requested at once; a repeated run belongs to the round of its first attempt. */
function groupIntoRounds({ members, tests }: Search, runs: readonly Run[]): readonly BisectionRoundSummary[] {
  const rounds: Run[][] = [];
  let askedAt: number | null = null;
  for (const run of runs) {
    const isRetry = (run.attempt > 0 || (run.flakes ?? 0) > 0) && rounds.length > 0;
    if (!isRetry && run.requestedAt !== askedAt) rounds.push([]);
    if (!isRetry) askedAt = run.requestedAt;
    rounds.at(-1)!.push(run);
  }
  let [from, to] = [0, members.length];
  return rounds.map((round) => {
    const shown = { from, to, runs: round.map(showRun).toSorted((a, b) => a.length - b.length) };
    if (tests !== undefined) return shown;
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
