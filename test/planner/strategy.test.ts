import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plan } from '#core/queue/planner/plan.ts';
import { foresee } from '#core/queue/planner/strategy/foresee.ts';
import { prefixTrain } from '#core/queue/planner/strategy/prefix-train.ts';
import { screenThenChain } from '#core/queue/planner/strategy/screen-then-chain.ts';
import { strategyFor } from '#core/queue/planner/strategies.ts';
import type { Proposal, Strategy } from '#core/queue/planner/strategy.ts';
import { createRandom } from '#tool/simulate/kernel/random.ts';
import { calm, disturbance, everyday, someChanges, someMoves, someSettings, truthOf } from './disturb.ts';
import { Simulated } from './simulated.ts';
import { passes } from './truth.ts';
import { World } from './world.ts';

/** The usual train, and one more run of each group as if the group ahead of it had left. */
const doubtful: Strategy = {
  screens: false,
  propose: (view) => {
    const { proposals, wakeAt } = prefixTrain.propose(view);
    const { line } = view.queue;
    const more = line
      .slice(1)
      .map(({ id }, index): Proposal => ({ group: id, without: line[index]!.members }));
    return { proposals: [...proposals, ...more], wakeAt };
  },
};

const startedBy = (world: World, strategy: Strategy): string[] =>
  plan(world.snapshot, world.now, strategy).actions.flatMap((action) =>
    action.kind === 'start-run' ? [action.run.composition.members.join('+')] : [],
  );

describe('the strategy of a queue', () => {
  it('screens with adaptive in single mode, foresees in parallel mode, and else follows the batch settings', () => {
    expect(strategyFor({ strategy: 'adaptive', mode: 'single' })).toBe(screenThenChain);
    expect(strategyFor({ strategy: 'adaptive', mode: 'parallel' })).toBe(foresee);
    expect(strategyFor({ strategy: 'manual', mode: 'single' })).toBe(prefixTrain);
    expect(strategyFor({ strategy: 'manual', mode: 'parallel' })).toBe(prefixTrain);
  });
});

describe('one more run of a group in the line', () => {
  const twoUnderTest = (settings = {}) => {
    const world = new World({ concurrency: 3, ...settings });
    for (const pr of [1, 2]) world.submit(pr);
    return world;
  };
  const groupOf = (world: World, pr: number) =>
    world.snapshot.line.find(({ members }) => members.includes(pr))!.id;
  const propose = (...proposals: Proposal[]): Strategy => ({
    screens: false,
    propose: () => ({ proposals, wakeAt: null }),
  });

  it('is started without the entries that the strategy names, once', () => {
    const world = twoUnderTest();
    const second = groupOf(world, 2);
    const twice = { group: second, without: [1] };
    expect(startedBy(world, propose(twice, twice))).toEqual(['2']);
  });

  it('is not started without an entry that is not ahead, of an unknown group, or without a difference', () => {
    const world = twoUnderTest();
    const [first, second] = [groupOf(world, 1), groupOf(world, 2)];
    expect(
      startedBy(
        world,
        propose(
          { group: first, without: [2] },
          { group: second, without: [9] },
          { group: second, without: [] },
          { group: 999, without: [1] },
        ),
      ),
    ).toEqual([]);
  });

  it('takes a slot, and is not started in a paused queue', () => {
    const full = twoUnderTest({ concurrency: 2 });
    expect(startedBy(full, doubtful)).toEqual([]);
    const paused = twoUnderTest();
    paused.send({ kind: 'state', state: 'PAUSED' });
    expect(startedBy(paused, doubtful)).toEqual([]);
  });
});

it('whatever it proposes, the planner keeps its promises and nothing broken lands', () => {
  let more = 0;
  fc.assert(
    fc.property(
      someSettings,
      someChanges(30, { breaks: true, conflicts: true, repairs: true }),
      someMoves(100),
      fc.nat(),
      (settings, changes, moves, seed) => {
        const truth = truthOf(changes, settings.mode);
        const world = new Simulated({ ...settings, testingTimeoutMinutes: 0 }, truth);
        world.strategy = {
          screens: false,
          propose: (view) => {
            const proposed = doubtful.propose(view);
            more += proposed.proposals.filter((proposal) => 'group' in proposal).length;
            return proposed;
          },
        };
        const random = createRandom(seed);
        for (const move of moves) {
          const kind = [everyday, everyday, everyday, disturbance][move.which % 4]!;
          const event = kind(world, move);
          if (event !== undefined) world.send(event, !move.burst);
          for (const [id] of world.answers) {
            const status = world.snapshot.runs.get(id)?.status;
            if (status !== 'starting' && status !== 'running') world.answers.delete(id);
          }
        }
        calm(world, () => Math.floor(random() * 1_000));
        expect(world.endings.size).toBe(changes.length);
        expect(passes(truth, world.branch) ? [] : world.story).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
  expect(more).toBeGreaterThan(1_000);
});
