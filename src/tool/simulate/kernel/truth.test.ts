import { describe, expect, it } from 'vitest';
import type { Tip } from '#core/queue/planner/model.ts';
import { createSimulatedCi, firstTip } from './ci.ts';
import { sketchWorkload } from './fixture.ts';
import { createFlakes, createTruth } from './truth.ts';

const none = () => false;
const onTop = (base: Tip, members: readonly number[]) => ({ base, members, tested: members.length });

describe('a pair that conflicts', () => {
  const truth = createTruth(
    sketchWorkload([
      { arrivesAtMin: 0 },
      { arrivesAtMin: 0 },
      { arrivesAtMin: 0, conflictsWith: [1], shares: [1] },
    ]),
  );

  it.each([
    [[0], true],
    [[2], true],
    [[0, 1], true],
    [[1, 2], true],
    [[0, 2], false],
    [[2, 0], false],
    [[0, 1, 2], false],
    [[2, 1, 0], false],
  ])('in %j on an empty branch is sound: %s', (tested, isSound) => {
    expect(truth.isSound(none, tested)).toBe(isSound);
  });

  it('breaks the one that is tested after the other has landed', () => {
    expect(truth.isSound((place) => place === 0, [1, 2])).toBe(false);
    expect(truth.isSound((place) => place === 2, [0])).toBe(false);
    expect(truth.isSound((place) => place === 1, [2])).toBe(true);
  });
});

describe('the faults that a run shows', () => {
  const changes = [
    { arrivesAtMin: 0, isGood: false },
    { arrivesAtMin: 0 },
    { arrivesAtMin: 0, isGood: false },
    { arrivesAtMin: 0, isGood: false, breaksBuild: true },
    { arrivesAtMin: 0, conflictsWith: [2], shares: [2] },
  ];
  const truth = createTruth(sketchWorkload(changes));

  it('are all of them if the build holds', () => {
    expect(truth.faultsSeen(none, [0, 1, 2, 4])).toEqual([0, 2, 4]);
    expect(truth.faultsSeen(none, [1])).toEqual([]);
  });

  it('are hidden by a change that breaks the build, wherever it stands', () => {
    expect(truth.faultsSeen(none, [0, 1, 2, 3])).toEqual([3]);
    expect(truth.faultsSeen(none, [3, 0])).toEqual([3]);
  });

  it('show in every run that contains the change, as the bad change of a predecessor does', () => {
    const ci = createSimulatedCi(sketchWorkload(changes));
    expect(ci.run(onTop(firstTip, [1, 2]))).toMatchObject({ passes: false, faults: [1] });
    expect(ci.run(onTop(firstTip, [2]))).toMatchObject({ passes: true, faults: [] });
    const tip = ci.land([2]);
    expect(ci.run(onTop(tip, [5]))).toMatchObject({ passes: false, faults: [5] });
    expect(ci.run(onTop(firstTip, [5]))).toMatchObject({ passes: true });
  });
});

describe('a flake that repeats', () => {
  const flaky = {
    ...sketchWorkload([{ arrivesAtMin: 0 }]),
    flakeProbability: 0.1,
    flakeRepeatProbability: 0.6,
  };

  it('fails the next run of the same composition with its own probability, and no other', () => {
    const isFlake = createFlakes(flaky);
    const counts = { again: 0, againOf: 0, other: 0, otherOf: 0 };
    for (let at = 0; at < 10_000; at++) {
      if (!isFlake(() => `one ${at}`)) continue;
      counts.againOf++;
      if (isFlake(() => `one ${at}`)) counts.again++;
      counts.otherOf++;
      if (isFlake(() => `other ${at}`)) counts.other++;
    }
    // About a thousand flakes each: four standard deviations are 0.06 and 0.04.
    expect(counts.againOf).toBeGreaterThan(800);
    expect(Math.abs(counts.again / counts.againOf - 0.6)).toBeLessThan(0.07);
    expect(Math.abs(counts.other / counts.otherOf - 0.1)).toBeLessThan(0.04);
  });

  it('is forgotten once the composition has passed', () => {
    const isFlake = createFlakes({ ...flaky, flakeRepeatProbability: 1 });
    let at = 0;
    while (!isFlake(() => `one ${at}`)) at++;
    expect([1, 2, 3, 4, 5].every(() => isFlake(() => `one ${at}`))).toBe(true);
    const never = createFlakes({ ...flaky, flakeProbability: 0.5, flakeRepeatProbability: 0 });
    const pairs = Array.from({ length: 200 }, () => never(() => 'same'));
    expect(pairs.some((isUnlucky, place) => isUnlucky && pairs[place + 1] === true)).toBe(false);
    expect(pairs.filter(Boolean).length).toBeGreaterThan(40);
  });

  it('is that of the content: what landed meanwhile makes no difference to what is tested', () => {
    const always = {
      ...sketchWorkload([{ arrivesAtMin: 0 }, { arrivesAtMin: 0 }, { arrivesAtMin: 0 }]),
      seed: 3,
    };
    const ci = createSimulatedCi({ ...always, flakeProbability: 0.5, flakeRepeatProbability: 1 });
    while (ci.run(onTop(firstTip, [1, 2])).passes);
    const tip = ci.land([1]);
    const passes = () => ci.run(onTop(tip, [2])).passes;
    expect(Array.from({ length: 20 }, passes)).not.toContain(true);
    const others = [[3], [2, 3], [3, 2]].map((members) => ci.run(onTop(tip, members)).passes);
    expect(others).toContain(true);
  });
});
