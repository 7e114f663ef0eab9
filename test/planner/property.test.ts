import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isScreen } from '#core/queue/planner/model.ts';
import { screenThenChain } from '#core/queue/planner/strategy/screen-then-chain.ts';
import type { Proposal, Strategy } from '#core/queue/planner/strategy.ts';
import { createRandom } from '#tool/simulate/kernel/random.ts';
import {
  calm,
  calmDown,
  disturbance,
  everyday,
  mischief,
  type Move,
  someChanges,
  someMoves,
  someSettings,
  strategyChange,
  submissionOf,
  truthOf,
} from './disturb.ts';
import { Clockwork, longestDrainMs, longestWaitMs, somePace, someStream } from './clockwork.ts';
import { LossyHost, someTrouble, upheavalOf } from './lossy.ts';
import { screenByTwos } from './screening.ts';
import { Simulated } from './simulated.ts';
import { isGuilty, passes } from './truth.ts';

const timeoutMs = 120_000;
/** A part of the runs, always the same ones and without shrinking, where only it matters whether they fail. */
const share = process.env['PROPERTY_SHARE'];
/** A failure that takes long to shrink is told as far as it was shrunk. */
const runs = (numRuns: number) => ({
  numRuns: Math.ceil(numRuns * Number(share ?? 1)),
  interruptAfterTimeLimit: timeoutMs - 20_000,
  ...(share === undefined ? {} : { seed: 7, endOnFailure: true }),
});
const chooser = (seed: number) => {
  const random = createRandom(seed);
  return () => Math.floor(random() * 1_000);
};

function play(
  world: Simulated,
  move: Move,
  kinds: readonly ((world: Simulated, move: Move) => ReturnType<typeof everyday>)[],
) {
  const kind = kinds[move.which % kinds.length]!;
  const event = kind(world, move);
  if (event === undefined) return;
  world.send(event, !move.burst);
  for (const [id] of world.answers) {
    const status = world.snapshot.runs.get(id)?.status;
    if (status !== 'starting' && status !== 'running') world.answers.delete(id);
  }
}

it('keeps its promises whatever happens, and everybody comes to an end', { timeout: timeoutMs }, () => {
  fc.assert(
    fc.property(
      someSettings,
      someChanges(60, { breaks: true, conflicts: true, repairs: true }),
      someMoves(200),
      fc.nat(),
      (settings, changes, moves, seed) => {
        const world = new Simulated(settings, truthOf(changes, 'parallel'));
        const random = createRandom(seed);
        world.lies = () => random() < 0.1;
        for (const move of moves) play(world, move, [everyday, everyday, everyday, disturbance, mischief]);
        calm(world, chooser(seed));
        expect(world.endings.size).toBe(changes.length);
      },
    ),
    runs(2_500),
  );
});

it('lands only what truly passes and fails only what is truly to blame', { timeout: timeoutMs }, () => {
  fc.assert(
    fc.property(
      someSettings,
      someChanges(60, { breaks: true, conflicts: true, repairs: true }),
      someMoves(150),
      fc.nat(),
      (settings, changes, moves, seed) => {
        const truth = truthOf(changes, settings.mode);
        const world = new Simulated({ ...settings, testingTimeoutMinutes: 0 }, truth);
        let seen = 0;
        const check = () => {
          if (world.branch.length === seen) return;
          seen = world.branch.length;
          if (!passes(truth, world.branch))
            throw new Error(`the branch is broken: ${world.branch.join()}\n${world.story.join('\n')}`);
        };
        for (const move of moves) {
          play(world, move, [everyday, everyday, everyday, disturbance]);
          check();
        }
        calm(world, chooser(seed));
        check();
        const innocent = [...world.failedOn.keys()].filter((pr) => !isToBlame(world, pr));
        expect(innocent.length === 0 ? [] : [innocent, ...world.story]).toEqual([]);
      },
    ),
    runs(1_500),
  );
});

type Settings = typeof someSettings extends fc.Arbitrary<infer Value> ? Value : never;
type OpenedWorld = { readonly truth: ReturnType<typeof truthOf>; readonly world: Simulated };

/** Plays many moves in many worlds; all entries must end, and in an honest world the branch must never be broken. */
function playWorlds(
  count: number,
  open: (settings: Settings, changes: Parameters<typeof truthOf>[0]) => OpenedWorld,
  kinds: Parameters<typeof play>[2],
  checks: {
    readonly onMove?: (world: Simulated) => void;
    /** For a world in which CI and people say what is so. */
    readonly onHonestEnd?: (world: Simulated) => void;
  } = {},
): void {
  fc.assert(
    fc.property(
      someSettings,
      someChanges(60, { breaks: true, conflicts: true, repairs: true }),
      someMoves(150),
      fc.boolean(),
      fc.nat(),
      (settings, changes, moves, isHonest, seed) => {
        const { truth, world } = open(settings, changes);
        const random = createRandom(seed);
        if (!isHonest) world.lies = () => random() < 0.1;
        world.namesTests = seed % 2 === 1;
        for (const move of moves) {
          play(world, move, isHonest ? kinds : [...kinds, mischief]);
          checks.onMove?.(world);
        }
        calm(world, chooser(seed));
        expect(world.endings.size).toBe(changes.length);
        if (!isHonest) return;
        if (!passes(truth, world.branch))
          throw new Error(`the branch is broken: ${world.branch.join()}\n${world.story.join('\n')}`);
        checks.onHonestEnd?.(world);
      },
    ),
    runs(count),
  );
}

/** The strategy, and a count of what it proposes. */
const counting = (strategy: Strategy, count: (proposal: Proposal) => void): Strategy => ({
  ...strategy,
  propose: (view) => {
    const proposed = strategy.propose(view);
    for (const proposal of proposed.proposals) count(proposal);
    return proposed;
  },
});

it.each([
  ['screens by twos', screenByTwos],
  ['screens, then chains', screenThenChain],
])('keeps its promises and lands nothing broken if it %s', { timeout: timeoutMs }, (_, strategy) => {
  let screened = 0;
  playWorlds(
    600,
    (settings, changes) => {
      const truth = truthOf(changes, settings.mode);
      const world = new Simulated({ ...settings, testingTimeoutMinutes: 0 }, truth);
      world.strategy = counting(strategy, (proposal) => {
        if ('screen' in proposal) screened += 1;
      });
      return { truth, world };
    },
    [everyday, everyday, everyday, disturbance],
  );
  expect(screened).toBeGreaterThan(share === undefined ? 300 : 0);
});

it('keeps its promises and lands nothing broken if dependencies are direct', { timeout: timeoutMs }, () => {
  let speculative = 0;
  playWorlds(
    1_500,
    (settings, changes) => {
      const truth = truthOf(changes, 'parallel');
      const chosen = { mode: 'parallel', strategy: 'adaptive', batch: false } as const;
      return { truth, world: new Simulated({ ...settings, ...chosen, testingTimeoutMinutes: 0 }, truth) };
    },
    [everyday, everyday, everyday, disturbance],
    {
      onMove: ({ snapshot }) => {
        speculative += countSpeculativeRuns(snapshot);
      },
      onHonestEnd: (world) => {
        const innocent = [...world.failedOn.keys()].filter((pr) => !isToBlame(world, pr));
        expect(innocent.length === 0 ? [] : [innocent, ...world.story]).toEqual([]);
      },
    },
  );
  expect(speculative).toBeGreaterThan(share === undefined ? 20 : -1);
});

/** How many runs the entries in the line have beyond their first. */
function countSpeculativeRuns({ runs }: Simulated['snapshot']): number {
  const groups = [...runs.values()].flatMap(({ of }) => (of.kind === 'line' ? [of.group] : []));
  return groups.length - new Set(groups).size;
}

it('keeps its promises and lands nothing broken while its strategy changes', { timeout: timeoutMs }, () => {
  let screened = 0;
  playWorlds(
    600,
    (settings, changes) => {
      // Its targets hold in lanes too, for when the mode is switched.
      const truth = truthOf(changes, 'parallel');
      const chosen = { mode: 'single', strategy: 'adaptive', optimizationMode: 'off' } as const;
      return { truth, world: new Simulated({ ...settings, ...chosen, testingTimeoutMinutes: 0 }, truth) };
    },
    [everyday, everyday, everyday, everyday, disturbance, strategyChange],
    {
      onMove: ({ snapshot }) => {
        screened += snapshot.searches.filter(isScreen).length;
      },
    },
  );
  // A share of the worlds need not have a screen.
  expect(screened).toBeGreaterThan(share === undefined ? 50 : -1);
});

/** What it failed for is so: it breaks what passes without it. */
function isToBlame(world: Simulated, pr: number): boolean {
  const ending = world.endings.get(pr)!;
  if (ending.kind !== 'failed') return true;
  // Only the search of a batch blames somebody for what has not landed yet: the prefix that passed without it.
  if (ending.evidence === null || !world.snapshot.settings.batch)
    return isGuilty(world.truth, pr, world.failedOn.get(pr)!);
  const tested = world.tested.get(ending.evidence.failedRun)!;
  return !passes(world.truth, tested) && passes(world.truth, tested.slice(0, -1));
}

it('fails nobody innocent in a queue that nobody disturbs', { timeout: timeoutMs }, () => {
  fc.assert(
    fc.property(
      someSettings,
      someChanges(40, { breaks: true, conflicts: true, repairs: false }),
      fc.nat(),
      (settings, changes, seed) => {
        const truth = truthOf(changes, settings.mode);
        const world = new Simulated({ ...settings, batch: false }, truth);
        calm(world, chooser(seed));
        const innocent = [...world.failedOn].filter(([pr, branch]) => !isGuilty(truth, pr, branch));
        expect(innocent.length === 0 ? [] : [innocent, ...world.story]).toEqual([]);
      },
    ),
    runs(500),
  );
});

it(
  'comes to the same end in whatever order, and however often, the same is reported',
  { timeout: timeoutMs },
  () => {
    fc.assert(
      fc.property(
        someSettings,
        someChanges(30, { breaks: true, conflicts: false, repairs: false }),
        fc.boolean(),
        fc.nat(),
        fc.nat(),
        (settings, changes, plain, one, other) => {
          // In a batch, or with optimistic merging, who of two that break each other is first depends on the time.
          const shape = plain ? { batch: false, canOptimisticallyMerge: false } : {};
          const flaws = plain ? changes : changes.map((change) => ({ ...change, breaks: [] }));
          const outcomes = [one, other].map((seed) => {
            const world = new Simulated({ ...settings, ...shape }, truthOf(flaws, settings.mode));
            for (const change of world.truth.values()) world.send(submissionOf(change, 0), false);
            world.plan();
            deliverTwice(world, seed);
            calm(world, chooser(seed));
            return world;
          });
          const [a, b] = outcomes.map(endingsOf);
          const stories = outcomes.flatMap((world) => ['--- a story', ...world.story]);
          expect(a === b ? [] : [a, b, ...stories]).toEqual([]);
        },
      ),
      runs(400),
    );
  },
);

/** Some turns in which whatever is said is said again at once, and again later. */
function deliverTwice(world: Simulated, seed: number): void {
  const choose = chooser(seed + 1);
  const said: Parameters<Simulated['send']>[0][] = [];
  for (let turn = 0; turn < 40; turn++) {
    const waiting = [...world.answers.values()];
    if (waiting.length === 0 && world.inFlight === null) return;
    const event =
      world.inFlight !== null && choose() % 2 === 0
        ? world.concludeLanding()
        : waiting[choose() % Math.max(1, waiting.length)];
    if (event === undefined) continue;
    said.push(event);
    world.send(event, choose() % 3 > 0);
    world.send(event);
    const old = said[choose() % said.length]!;
    if (old !== null) world.send(old);
    for (const pr of world.snapshot.items.keys())
      if (choose() % 5 === 0) world.send({ kind: 'readiness', pr, ready: true });
  }
}

const endingsOf = (world: Simulated): string =>
  [...world.endings.values()]
    .map(({ pr, kind }) => `${pr} ${kind}`)
    .toSorted()
    .join();

it('comes to the same end when words are lost and a sweep repairs that', { timeout: timeoutMs }, () => {
  fc.assert(
    fc.property(
      someSettings,
      someChanges(24, { breaks: true, conflicts: false, repairs: false }),
      fc.boolean(),
      fc.constantFrom(10, 30, 60, 100),
      someTrouble,
      fc.nat(),
      fc.nat(),
      (settings, changes, plain, loss, trouble, one, other) => {
        // As above: where two break each other nothing may change who of them is first.
        const shape = plain ? { batch: false, canOptimisticallyMerge: false } : {};
        const flaws = plain ? changes : changes.map((change) => ({ ...change, breaks: [] }));
        const upheaval = upheavalOf(trouble, flaws, !plain);
        const outcomes = [one, other].map((seed, index) => {
          const world = new Simulated({ ...settings, ...shape }, truthOf(flaws, settings.mode));
          new LossyHost(world, chooser(seed), index * loss, upheaval).drain();
          return world;
        });
        const [a, b] = outcomes.map(endingsOf);
        const stories = outcomes.flatMap((world) => ['--- a story', ...world.story]);
        expect(a === b ? [] : [a, b, ...stories]).toEqual([]);
      },
    ),
    runs(1_500),
  );
});

it('ends nobody differently where known results are reused', { timeout: timeoutMs }, () => {
  fc.assert(
    fc.property(
      someSettings,
      someChanges(30, { breaks: false, conflicts: false, repairs: false }),
      fc.nat(),
      (settings, changes, seed) => {
        const worlds = (['off', 'bisection_skip_redundant_tests'] as const).map((optimizationMode) => {
          const shape = { ...settings, batch: true, optimizationMode };
          const world = new Simulated(shape, truthOf(changes, settings.mode));
          calm(world, chooser(seed));
          return world;
        });
        const [a, b] = worlds.map(endingsOf);
        const stories = worlds.flatMap((world) => ['--- a story', ...world.story]);
        expect(a === b ? [] : [a, b, ...stories]).toEqual([]);
      },
    ),
    runs(600),
  );
});

it('is done in bounded time, however long CI takes each time', { timeout: timeoutMs }, () => {
  fc.assert(
    fc.property(
      someSettings,
      someChanges(30, { breaks: true, conflicts: true, repairs: false }),
      someMoves(40),
      somePace,
      fc.nat(),
      (settings, changes, moves, { testingTimeoutMinutes, arrivalMs, pushes, ...pace }, seed) => {
        const world = new Simulated({ ...settings, testingTimeoutMinutes }, truthOf(changes, 'parallel'));
        const random = createRandom(seed);
        world.lies = () => random() < 0.1;
        for (const move of moves) play(world, move, [everyday, everyday, disturbance, mischief]);
        calmDown(world);
        // What is left of the time before may be untrue, or out of time.
        const leftovers = world.snapshot.runs.size + (world.snapshot.switching === null ? 0 : 1);
        // And what CI did not start is tried again after a pause.
        const pausedUntilMs = [...world.snapshot.runs.values()].map(({ notBefore }) => notBefore);
        const clockwork = new Clockwork(world, random, pace);
        const lastMs = Math.max(clockwork.arrange(arrivalMs, pushes), ...pausedUntilMs);
        const conflicts = changes.filter((change) => change.conflicts.length > 0).length;
        const longest = (merged: number, failed: number) => {
          // One that conflicts passes alone, waits for those before it, and is tested once more.
          const setbacks = failed + 2 * conflicts + leftovers;
          return lastMs + longestDrainMs(world.snapshot.settings, pace, { merged, setbacks });
        };
        const all = changes.length;
        clockwork.runUntil(() => world.endings.size === all, longest(all, all));
        const failed = world.failedOn.size;
        const byMs = longest(all - failed, failed);
        const late = `it takes ${world.now} ms, and may take ${byMs}`;
        expect(world.now <= byMs ? [] : [late, ...world.story]).toEqual([]);
      },
    ),
    runs(1_500),
  );
});

it('overtakes nobody for ever, however many more important ones come', { timeout: timeoutMs }, () => {
  fc.assert(
    fc.property(
      someSettings,
      fc.integer({ min: 1, max: 4 }),
      someStream,
      fc.nat(),
      (settings, concurrency, stream, seed) => {
        const world = new Simulated({ ...settings, concurrency, directMergeMode: 'off' }, new Map());
        const pace = { beginMs: 600_000, testMs: 3_000_000, landMs: 1_000, troubles: 0 };
        const clockwork = new Clockwork(world, createRandom(seed), pace);
        clockwork.stream(stream);
        const urgents = stream.urgents.length;
        const waiting = Array.from({ length: stream.waiting }, (_, index) => index + 1);
        const longest = (pr: number) =>
          longestWaitMs(world.snapshot.settings, pace, { before: pr - 1, urgents });
        // Then it waits for its own test, and begins anew at most once for every urgent one.
        const testMs = (1 + urgents) * (pace.beginMs + pace.testMs + concurrency * pace.landMs);
        clockwork.runUntil(
          () => waiting.every((pr) => world.endings.has(pr)),
          longest(waiting.length) + testMs,
        );
        const late = waiting.filter((pr) => world.begun.get(pr)! > longest(pr));
        expect(late.length === 0 ? [] : [late, ...world.story]).toEqual([]);
        for (const pr of waiting) expect(world.endings.get(pr)?.kind).toBe('merged');
      },
    ),
    runs(250),
  );
});
