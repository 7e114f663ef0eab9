// `npm run sim -- goals`: what the planner must reach with its default settings, on workloads that do not flatter it. Each row
// is one workload with its bounds: L rows are one line of changes, G rows parallel lanes, compared with the oracle. H1 has no goal but not to merge a bad change: it has
// everything that the other rows leave out, and shows how far they flatter.

import { assert } from '#base/assert.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { playPlanner } from '#tool/simulate/kernel/play.ts';
import type { Policy } from '#tool/simulate/kernel/policy.ts';
import type { Summary } from '#tool/simulate/kernel/result.ts';
import { resubmitRemoved } from '#tool/simulate/kernel/resubmission.ts';
import {
  createGraphWorkload,
  createLineWorkload,
  type GraphOptions,
  type LineOptions,
  submitQueueOptions,
  type Timing,
  type Workload,
} from '#tool/simulate/kernel/workload.ts';
import type { Goal, Scenario } from './experiment.ts';
import { graphOracle } from './policy-graph.ts';

type Bounds = Partial<Readonly<Record<keyof Summary, number>>>;

export type GoalRow = {
  /** What `--only` asks for; several rows may have the same. */
  readonly id: string;
  readonly name: string;
  readonly family: Policy['family'];
  readonly slots: number;
  /** Changes of the workload, unless the command line says how many. */
  readonly count: number;
  readonly createWorkload: (seed: number, count: number) => Workload;
  /** Settings that are not the defaults. */
  readonly settings?: Partial<QueueSettings>;
  /** The direction of each bound is that of its figure in `figures`. */
  readonly bounds: Bounds;
};

/** The figures that have goals, in the order of the report. */
const figures: readonly { figure: keyof Summary; label: string; kind: 'at-least' | 'at-most' }[] = [
  { figure: 'decidedPerHour', label: 'decided per hour', kind: 'at-least' },
  { figure: 'ciMinutesPerChange', label: 'CI minutes per change', kind: 'at-most' },
  { figure: 'runsPerChange', label: 'runs per change', kind: 'at-most' },
  { figure: 'falseRemovalPercent', label: 'false removals in percent', kind: 'at-most' },
  { figure: 'p50OverOracle', label: 'P50 over oracle', kind: 'at-most' },
  { figure: 'p95OverOracle', label: 'P95 over oracle', kind: 'at-most' },
  { figure: 'p99OverOracle', label: 'P99 over oracle', kind: 'at-most' },
  { figure: 'p50Min', label: 'P50 minutes', kind: 'at-most' },
  { figure: 'p95Min', label: 'P95 minutes', kind: 'at-most' },
  { figure: 'badMerges', label: 'bad merges', kind: 'at-most' },
];

export const goalPolicy = 'Signalbox';

type Load = Omit<LineOptions, 'seed' | 'count' | 'predictor'> & {
  readonly slots: number;
  /** How long changes arrive: long against the time of a change in the queue. */
  readonly hours: number;
};

/** One line at 60 changes an hour, as many as the slots can just carry. */
const busy: Load = {
  arrivalsPerHour: 60,
  passProbability: 0.95,
  flakeProbability: 0.02,
  slots: 16,
  hours: 25,
};

/**
 * CI runs the tests that failed alone. Three of ten bad changes break the build, which shows no tests; a test that failed by
 * chance fails again in one of five runs.
 */
const targeted = { targetedRunShare: 0.3, buildBreakShare: 0.3, flakeRepeatProbability: 0.2 };

/** No row may merge a bad change, whatever else it has to reach. */
function line(id: string, variant: string, load: Load, bounds: Bounds): GoalRow {
  const { slots, hours, ...options } = load;
  return {
    id,
    name: `${id} ${variant}`,
    family: 'line',
    slots,
    count: Math.round(options.arrivalsPerHour * hours),
    createWorkload: (seed, count) =>
      createLineWorkload({ ...options, seed, count, predictor: { kind: 'prior' } }),
    bounds: { ...bounds, badMerges: 0 },
  };
}

/** Minutes. */
const serviceTiming: Timing = {
  startMin: [1],
  cancelMin: [0.5],
  landMin: [0.5],
  runMin: null,
  again: { share: 0, afterMin: 0 },
};

/**
 * A line with three nights and days of load, conflicts, flakes that repeat, authors who repair and submit again what was
 * removed, and the time it takes to start, cancel and land.
 */
function withEverything(): GoalRow {
  const load = {
    ...busy,
    arrivalsPerHour: 30,
    hours: 72,
    dailySwing: 0.9,
    pairConflictProbability: 1e-4,
    buildBreakShare: 0.3,
    flakeRepeatProbability: 0.2,
  };
  const row = line('H1', 'everything', load, {});
  const again = { probability: 0.8, delayMin: 60, passProbability: busy.passProbability };
  return {
    ...row,
    createWorkload: (seed, count) => ({
      ...resubmitRemoved(row.createWorkload(seed, count), again),
      timing: serviceTiming,
    }),
  };
}

/** L11: the load of each slot is that of L1. */
const withSlots = (slots: number, decidedPerHour: number) =>
  line(
    'L11',
    `${slots} slots`,
    { ...busy, slots, arrivalsPerHour: (busy.arrivalsPerHour * slots) / busy.slots },
    { decidedPerHour, ciMinutesPerChange: 17 },
  );

/** What the SubmitQueue evaluation has: 500 changes an hour, 500 slots, one pair in a hundred shares a target. */
const evaluation: Omit<GraphOptions, 'seed' | 'count'> = { ...submitQueueOptions, sharingProbability: 0.01 };

/** `overOracle` has P50, P95 and P99 of the turnaround. */
function lanes(
  id: string,
  variant: string,
  options: Partial<GraphOptions>,
  overOracle: readonly [number, number, number],
  bounds: Bounds,
): GoalRow {
  const [p50OverOracle, p95OverOracle, p99OverOracle] = overOracle;
  return {
    id,
    name: `${id} ${variant}`,
    family: 'graph',
    slots: 500,
    count: 800,
    createWorkload: (seed, count) => createGraphWorkload({ ...evaluation, ...options, seed, count }),
    bounds: { p50OverOracle, p95OverOracle, p99OverOracle, ...bounds, badMerges: 0 },
  };
}

const goalRows: readonly GoalRow[] = [
  line('L1', '60/h', busy, {
    decidedPerHour: 52,
    ciMinutesPerChange: 17,
    falseRemovalPercent: 0.1,
    p95Min: 240,
  }),
  line('L2', '120/h', { ...busy, arrivalsPerHour: 120 }, { decidedPerHour: 60, ciMinutesPerChange: 15 }),
  line(
    'L3',
    '15 % bad',
    { ...busy, passProbability: 0.85, flakeProbability: 0.05 },
    { decidedPerHour: 31, ciMinutesPerChange: 30, falseRemovalPercent: 0.2 },
  ),
  line(
    'L4',
    '15 % bad, targeted',
    { ...busy, ...targeted, passProbability: 0.85, flakeProbability: 0.05 },
    { decidedPerHour: 52, ciMinutesPerChange: 18 },
  ),
  line(
    'L5',
    '120/h, targeted',
    { ...busy, ...targeted, arrivalsPerHour: 120 },
    { decidedPerHour: 90, ciMinutesPerChange: 10 },
  ),
  line(
    'L6',
    'pairs 1e-4',
    { ...busy, pairConflictProbability: 1e-4 },
    { decidedPerHour: 47, ciMinutesPerChange: 19, falseRemovalPercent: 0.2 },
  ),
  line(
    'L6',
    'pairs 4e-4',
    { ...busy, pairConflictProbability: 4e-4 },
    { decidedPerHour: 32, ciMinutesPerChange: 28, falseRemovalPercent: 0.2 },
  ),
  line('L7', '20/h', { ...busy, arrivalsPerHour: 20, hours: 50 }, { p95Min: 125, ciMinutesPerChange: 38 }),
  {
    ...line(
      'L7',
      '20/h, weight on CI minutes',
      { ...busy, arrivalsPerHour: 20, hours: 50 },
      { p95Min: 170, ciMinutesPerChange: 21 },
    ),
    settings: { weight: 'ci_minutes' },
  },
  line('L8', '8/h', { ...busy, arrivalsPerHour: 8, hours: 100 }, { p95Min: 110 }),
  line(
    'L12',
    '8/h on 8 slots',
    { ...busy, slots: 8, arrivalsPerHour: 8, hours: 100 },
    { p50Min: 45, p95Min: 125, ciMinutesPerChange: 38 },
  ),
  withEverything(),
  withSlots(8, 27),
  withSlots(32, 103),
  withSlots(64, 190),
  lanes('G1', 'lanes', {}, [1.06, 1.1, 1.1], { runsPerChange: 1.9 }),
  lanes('G2', 'no predictor', { predictor: { kind: 'prior' } }, [1.1, 1.15, 1.12], { runsPerChange: 2.3 }),
  lanes('G5', 'c 0.02', { sharingProbability: 0.02 }, [1.25, 1.45, 1.5], { runsPerChange: 3 }),
  lanes('G7', '2 % flaky', { flakeProbability: 0.02 }, [1.15, 1.35, 1.55], {
    runsPerChange: 2.1,
    falseRemovalPercent: 0.1,
  }),
  // After two weeks the tests that are known to be flaky have 99.9 % of the flaky failures (docs/explanation/evidence.md). The
  // row assumes less, because new tests become flaky all the time.
  lanes(
    'G8',
    '2 % flaky, targeted',
    { flakeProbability: 0.02, flakeRepeatProbability: 0.2, targetedRunShare: 0.15, knownFlakeShare: 0.9 },
    [1.12, 1.15, 1.15],
    {},
  ),
  // Four hours of arrivals, against turnarounds of one to two: 96 minutes are not a steady state.
  { ...lanes('G4', '2,000 changes', {}, [1.2, 1.22, 1.2], { runsPerChange: 2.2 }), count: 2000 },
];

/** Those with one of these ids, or all; throws if there is none. */
export function rowsAskedFor(only: readonly string[] | undefined): readonly GoalRow[] {
  if (only === undefined) return goalRows;
  const unknown = only.find((id) => !goalRows.some((row) => row.id === id));
  if (unknown !== undefined) {
    const known = [...new Set(goalRows.map(({ id }) => id))];
    throw new Error(`No row ${unknown}; there are ${known.join(', ')}.`);
  }
  return goalRows.filter(({ id }) => only.includes(id));
}

type GoalOptions = {
  readonly count: number | undefined;
  /** Takes a tenth of the changes of each row. */
  readonly isQuick: boolean;
  readonly settings: Partial<QueueSettings>;
};

export function goalScenarios(rows: readonly GoalRow[], options: GoalOptions): Scenario[] {
  return rows.map(({ name, family, slots, count: usual, createWorkload, settings = {} }) => {
    const planner = createPlannerPolicy(family, {
      ...options,
      settings: { ...settings, ...options.settings },
    });
    const count = options.count ?? (options.isQuick ? Math.ceil(usual / 10) : usual);
    return {
      name,
      slots,
      // The goals of a line are absolute figures: it has no oracle.
      policies: family === 'line' ? [planner] : [graphOracle, planner],
      oracleFor: family === 'line' ? () => planner : () => graphOracle,
      createWorkload: (seed) => createWorkload(seed, count),
    };
  });
}

export function goalsOf({ name, bounds }: GoalRow): Goal[] {
  return figures.flatMap(({ figure, label, kind }) => {
    const value = bounds[figure];
    if (value === undefined) return [];
    return [{ scenario: name, policy: goalPolicy, figure, label, bound: { kind, value } }];
  });
}

/** The planner of the service with its default settings: only the number of slots, and what the row sets, is said. */
function createPlannerPolicy(family: Policy['family'], { settings }: Pick<GoalOptions, 'settings'>): Policy {
  const mode = family === 'graph' ? 'parallel' : 'single';
  return {
    name: goalPolicy,
    family,
    simulate: (workload, slots) => {
      const played = playPlanner(workload, { mode, concurrency: slots, ...settings });
      // Figures of a planner that takes more slots than its workload has say nothing.
      assert(
        played.runsAtOnceMax <= slots,
        `${workload.name}: ${played.runsAtOnceMax} runs at once on ${slots} slots`,
      );
      return played;
    },
  };
}
