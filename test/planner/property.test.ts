import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRandom } from '../../sim/random.ts';
import {
  calm,
  disturbance,
  everyday,
  mischief,
  type Move,
  someChanges,
  someMoves,
  someSettings,
  submissionOf,
  truthOf,
} from './disturb.ts';
import { Simulated } from './simulated.ts';
import { isGuilty, passes } from './truth.ts';
import { anItem } from './world.ts';

const timeoutMs = 120_000;
/** A failure that takes long to shrink is told as far as it was shrunk. */
const runs = (numRuns: number) => ({ numRuns, interruptAfterTimeLimit: timeoutMs - 20_000 });
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
          const [a, b] = outcomes.map((world) =>
            [...world.endings.values()]
              .map(({ pr, kind }) => `${pr} ${kind}`)
              .toSorted()
              .join(),
          );
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

it('overtakes nobody for ever', { timeout: timeoutMs }, () => {
  fc.assert(
    fc.property(someSettings, fc.integer({ min: 1, max: 9 }), fc.nat(), (settings, minutes, seed) => {
      const shape = { ...settings, directMergeMode: 'off' as const, concurrency: 1 };
      const world = new Simulated(shape, new Map());
      world.send({ kind: 'submitted', item: anItem(1, { priority: 200, targets: 'ALL' }) });
      const choose = chooser(seed);
      for (let pr = 2; world.snapshot.items.has(1); pr++) {
        if (pr > 600) throw new Error(`#1 is overtaken for ever\n${world.story.slice(0, 400).join('\n')}`);
        const item = anItem(pr, { priority: 10, targets: 'ALL', submittedAt: world.now });
        world.send({ kind: 'submitted', item });
        world.now += minutes * 60_000;
        const answer = [...world.answers.values()][choose() % 2];
        if (answer !== undefined) world.send(answer);
        if (world.inFlight !== null) world.send(world.concludeLanding());
      }
      expect(world.endings.get(1)?.kind).toBe('merged');
    }),
    runs(100),
  );
});
