// The members of a run: those under test, and those ahead that it is tested on top of.
//
// A run with few members has a row of test_run_member for each. A run with many has rows only for those under test: the
// others are numbers in test_run.ahead, and their heads are in its composition. Otherwise n runs of one line would need
// n * n / 2 rows, 500,500 for 1,000 runs.

/** From so many members on a run is written the second way. The release before writes and reads only the first. */
export const rowsMax = 64;

/**
 * In this phase a run of the second way waits for its test branch. A worker of the release before does not know the phase, and
 * leaves the run alone: it would build its commits without what is ahead.
 */
export const longPhase = 'asked_long';

/**
 * In this phase a run of some tests waits for its test branch. A worker of the release before leaves it alone too: it would build
 * the commit of a run of all tests.
 */
export const targetedPhase = 'asked_targeted';

/** The runs of a stored plan as a table of json; `plan`: an expression for the plan (core/queue/engine/stored.ts). */
export const plannedRunsSql = (plan: string): string =>
  `jsonb_array_elements(${plan} -> 'runs' || coalesce(${plan} -> 'targetedRuns', '[]'))`;

/**
 * The members of a run as a table of position, pr_number, head_sha and under_test; `run`: the name of its
 * test_run. No colon is followed by a name: pgbench, which runs these statements for comparison, reads that
 * as a variable.
 */
export const runMembersSql = (run: string): string => `(
  select tm.position, tm.pr_number, tm.head_sha, tm.under_test from test_run_member tm
  where tm.queue_id = ${run}.queue_id and tm.test_run_id = ${run}.id
  union all
  select ta.n::int - 1, ta.pr_number, ta.head_sha, false
  from unnest(${run}.ahead, (string_to_array(${run}.composition, '+'))[2 : cardinality(${run}.ahead) + 1])
    with ordinality as ta (pr_number, head_sha, n))`;
