// The CI of a simulation: what a run would say, and when. It knows the truth of the workload; chance is seeded.

import type { Composition, Tip } from '#core/queue/planner/model.ts';
import { createRandom, type Random } from './random.ts';
import { createFlakes, createTruth } from './truth.ts';
import type { Timing, Workload } from './workload.ts';

const minuteMs = 60_000;

type CiRun = {
  readonly passes: boolean;
  /** Before CI begins. */
  readonly startMs: number;
  readonly testMs: number;
};

export type SimulatedCi = {
  readonly run: (composition: Composition) => CiRun;
  /** How long the landing takes that is about to begin. */
  readonly drawLandMs: () => number;
  /** These are on the branch now; answers with its tip. */
  readonly land: (members: readonly number[]) => Tip;
  /** Whether it would leave the branch as it is now sound. */
  readonly isSound: (number: number) => boolean;
};

export const firstTip: Tip = 'start';

const drawOne = (random: Random, from: readonly number[]): number =>
  from.length === 0 ? 0 : from[Math.floor(random() * from.length)]!;

export function createSimulatedCi(workload: Workload): SimulatedCi {
  const truth = createTruth(workload);
  const nextLuck = createLuck(workload);
  const draw = createDraws(workload);
  /** By place: how many had landed before it did. */
  const landedRank = new Map<number, number>();
  /** How much had landed at each tip: what a run on it is on top of. */
  const landedAt = new Map<Tip, number>([[firstTip, 0]]);
  const placeOf = (number: number) => truth.placeOf.get(number)!;
  return {
    run: ({ base, members }) => {
      const before = landedAt.get(base)!;
      const hasLanded = (place: number) => (landedRank.get(place) ?? Infinity) < before;
      const last = placeOf(members.at(-1)!);
      const isUnlucky = nextLuck(last);
      const passes = truth.isSound(hasLanded, members.map(placeOf)) && !isUnlucky();
      return { passes, startMs: draw.startMs(), testMs: draw.testMs(last, passes) };
    },
    drawLandMs: draw.landMs,
    land: (members) => {
      for (const number of members) landedRank.set(placeOf(number), landedRank.size);
      const tip = `tip-${landedRank.size}`;
      landedAt.set(tip, landedRank.size);
      return tip;
    },
    isSound: (number) => truth.isSound((place) => landedRank.has(place), [placeOf(number)]),
  };
}

/**
 * By the place of the last change of the run that is about to begin: whether chance fails it. A number is drawn only where
 * it decides, so that a run that fails anyway leaves the luck of all later runs as it is.
 */
function createLuck(workload: Workload): (place: number) => () => boolean {
  const isFlaky = createFlakes(workload);
  const attempts = new Map<number, number>();
  return (place) => {
    const attempt = attempts.get(place) ?? 0;
    attempts.set(place, attempt + 1);
    return () => workload.changes[place]!.luck?.[attempt] ?? isFlaky();
  };
}

function createDraws({ seed, changes, timing }: Workload) {
  const testMs = (place: number) => changes[place]!.durationMin * minuteMs;
  if (timing === undefined) return { startMs: () => 0, landMs: () => 0, testMs };
  const { startMin, landMin, runMin } = timing satisfies Timing;
  const starts = createRandom(seed, 'start');
  const landings = createRandom(seed, 'landing');
  const durations = createRandom(seed, 'duration');
  return {
    startMs: () => drawOne(starts, startMin) * minuteMs,
    landMs: () => drawOne(landings, landMin) * minuteMs,
    testMs: (place: number, passes: boolean) =>
      runMin === null ? testMs(place) : drawOne(durations, passes ? runMin.passed : runMin.failed) * minuteMs,
  };
}
