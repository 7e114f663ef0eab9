// The events of the benchmark: for each test run its ten required checks go pending, then succeed; the last success
// decides. Some runs are under way at once, each at another step, so that beginnings and decisions come evenly. The
// order is a formula, because pgbench follows it too.

export const checksPerRun = 10;
export const eventsPerRun = 2 * checksPerRun;
/** Test runs under way at once. */
export const runsAtOnce = 200;

export const checkName = (index: number): string => `ci/check-${index}`;
export const checkNames: readonly string[] = Array.from({ length: checksPerRun }, (_, index) =>
  checkName(index),
);

export type BenchEvent = {
  /** Which run, from 0 on. */
  readonly run: number;
  /** Which of its events, from 0 on; the first runs begin in the middle. */
  readonly step: number;
};

export function eventAt(index: number): BenchEvent {
  const slot = index % runsAtOnce;
  const turn = Math.floor(index / runsAtOnce) + (slot % eventsPerRun);
  return { run: Math.floor(turn / eventsPerRun) * runsAtOnce + slot, step: turn % eventsPerRun };
}

/** As many events as there are before the runs are used up. */
export const eventCountOf = (runs: number): number =>
  Math.max(0, (Math.floor(runs / runsAtOnce) * eventsPerRun - (eventsPerRun - 1)) * runsAtOnce);

export const repositoryOf = (run: number, queues: number) => ({
  host: 'sandbox.example',
  owner: 'bench',
  name: `line-${run % queues}`,
});

// As SQL, for expressions that give a number.
export const repositoryIdSql = (queue: string): string => `md5('repository ' || ${queue})::uuid`;
export const queueIdSql = (queue: string): string => `md5('queue ' || ${queue})::uuid`;
export const shaSql = (run: string): string => `(md5('run ' || ${run}) || '00000000')`;
