// The CI of a simulation: the results of runs and their times, by the truth of the workload and seeded
// chance.

import { minuteMs } from '#base/duration.ts';
import type { Random } from '#base/random.ts';
import type { Composition, Tip } from '#core/queue/planner/model.ts';
import { createRandom } from './random.ts';
import { createFlakes, createTruth } from './truth.ts';
import type { Timing, Workload } from './workload.ts';

type CiRun = {
  readonly passes: boolean;
  /** The changes whose faults the run shows. A run that fails without one failed by chance. */
  readonly faults: readonly number[];
  /** The tests that failed, if the workload has targeted runs and the build did not break. */
  readonly failedTests?: readonly string[];
  /** It failed by chance, and its failed tests are known to be flaky. */
  readonly isKnownFlake?: boolean;
  /** Before CI begins. */
  readonly startMs: number;
  readonly testMs: number;
};

export type SimulatedCi = {
  /** A run of all tests, or of these. */
  readonly run: (composition: Composition, tests?: readonly string[]) => CiRun;
  /** The failed jobs of a run that a known flake failed, once more on the same commit. */
  readonly rerun: (composition: Composition) => CiRun;
  /** How much longer CI works on a run that is about to be cancelled. */
  readonly drawCancelMs: () => number;
  /** The duration of the landing that is about to begin. */
  readonly drawLandMs: () => number;
  /** Records that these have landed; returns the new tip of the branch. */
  readonly land: (members: readonly number[]) => Tip;
  /** Whether the current branch would stay sound with this change. */
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
  /** How many had landed at each tip: what a run on that tip is on top of. */
  const landedAt = new Map<Tip, number>([[firstTip, 0]]);
  const trees = createTrees();
  const targeted = createTests(workload);
  const getChangePlace = (number: number) => truth.placeOf.get(number)!;
  return {
    run: ({ base, members }, tests) => {
      const before = landedAt.get(base)!;
      const hasLanded = (place: number) => (landedRank.get(place) ?? Infinity) < before;
      const last = getChangePlace(members.at(-1)!);
      const tested = members.map(getChangePlace);
      const faulty = truth.faultsSeen(hasLanded, tested);
      const faults = faulty.map((place) => workload.changes[place]!.number);
      const { targetedRunShare = 1 } = workload;
      if (tests !== undefined) {
        const failedTests = targeted.failuresOf(tests, faults);
        const passes = failedTests.length === 0;
        const testMs = draw.testMs(last, passes) * targetedRunShare;
        return { passes, faults, failedTests, startMs: draw.startMs(), testMs };
      }
      const isUnlucky = nextLuck(last, () => trees.nameOf(before, tested));
      const passes = faults.length === 0 && !isUnlucky();
      const breaksBuild = faulty.some((place) => workload.changes[place]!.breaksBuild === true);
      const shown =
        passes || breaksBuild || workload.targetedRunShare === undefined
          ? {}
          : {
              failedTests: targeted.testsOf(faults),
              isKnownFlake: faults.length === 0 && targeted.isKnown(),
            };
      // A run that ends with its build takes no longer than one of a few tests.
      const testMs = draw.testMs(last, passes) * (breaksBuild ? targetedRunShare : 1);
      return { passes, faults, ...shown, startMs: draw.startMs(), testMs };
    },
    rerun: ({ members }) => {
      const failedTests = targeted.failuresOf(targeted.testsOf([]), []);
      const passes = failedTests.length === 0;
      const testMs = draw.testMs(getChangePlace(members.at(-1)!), passes) * (workload.targetedRunShare ?? 1);
      return { passes, faults: [], failedTests, startMs: draw.startMs(), testMs };
    },
    drawCancelMs: draw.cancelMs,
    drawLandMs: draw.landMs,
    land: (members) => {
      for (const number of members) {
        landedRank.set(getChangePlace(number), landedRank.size);
        trees.land(getChangePlace(number));
      }
      const tip = `tip-${landedRank.size}`;
      landedAt.set(tip, landedRank.size);
      return tip;
    },
    isSound: (number) => truth.isSound((place) => landedRank.has(place), [getChangePlace(number)]),
  };
}

/**
 * Names what a run tests: the same changes in the same order have the same name, whether some of them have landed
 * meanwhile or not.
 */
function createTrees() {
  const names = new Map<string, number>();
  const landed = [0];
  const append = (tree: number, place: number) => {
    const key = `${tree}+${place}`;
    const name = names.get(key) ?? names.size + 1;
    names.set(key, name);
    return name;
  };
  return {
    land: (place: number) => landed.push(append(landed.at(-1)!, place)),
    nameOf: (landedCount: number, tested: readonly number[]) =>
      String(tested.reduce(append, landed[landedCount]!)),
  };
}

/** Each fault fails a test of its own, and each run that chance fails does so in a test of its own. */
function createTests({
  seed,
  flakeProbability,
  flakeRepeatProbability = flakeProbability,
  knownFlakeShare = 0,
}: Workload) {
  const random = createRandom(seed, 'targeted');
  const known = createRandom(seed, 'known flake');
  const nameOf = (fault: number) => `fault-${fault}`;
  let flakes = 0;
  return {
    /** The tests that fail in a run of all tests: with no fault, one that failed by chance. */
    testsOf: (faults: readonly number[]) => (faults.length > 0 ? faults.map(nameOf) : [`flake-${flakes++}`]),
    /** Whether the tests of a run that chance failed are known to be flaky. */
    isKnown: () => known() < knownFlakeShare,
    /** Of these tests: those that fail again. */
    failuresOf: (tests: readonly string[], faults: readonly number[]) => {
      const broken = new Set(faults.map(nameOf));
      return tests.filter((test) =>
        test.startsWith('flake-') ? random() < flakeRepeatProbability : broken.has(test),
      );
    },
  };
}

/**
 * By the place of the last change of the run that is about to begin: whether chance fails it. A number is
 * drawn only if it decides, so that a run that fails anyway does not change the luck of later runs.
 */
function createLuck(workload: Workload): (place: number, composition: () => string) => () => boolean {
  const isFlaky = createFlakes(workload);
  const attempts = new Map<number, number>();
  return (place, composition) => {
    const attempt = attempts.get(place) ?? 0;
    attempts.set(place, attempt + 1);
    return () => workload.changes[place]!.luck?.[attempt] ?? isFlaky(composition);
  };
}

function createDraws({ seed, changes, timing }: Workload) {
  const testMs = (place: number) => changes[place]!.durationMin * minuteMs;
  if (timing === undefined) return { startMs: () => 0, cancelMs: () => 0, landMs: () => 0, testMs };
  const { startMin, cancelMin, landMin, runMin } = timing satisfies Timing;
  const starts = createRandom(seed, 'start');
  const cancels = createRandom(seed, 'cancel');
  const landings = createRandom(seed, 'landing');
  const durations = createRandom(seed, 'duration');
  return {
    startMs: () => drawOne(starts, startMin) * minuteMs,
    cancelMs: () => drawOne(cancels, cancelMin) * minuteMs,
    landMs: () => drawOne(landings, landMin) * minuteMs,
    testMs: (place: number, passes: boolean) =>
      runMin === null ? testMs(place) : drawOne(durations, passes ? runMin.passed : runMin.failed) * minuteMs,
  };
}
