import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BodyBudget, createBodyBudget } from './body-budget.ts';

/** Asks for room and records when it is granted. */
function ask(budget: BodyBudget, bytes: number, owner?: string) {
  const request = { bytes, release: null as (() => void) | null };
  const wait = async () => {
    request.release = await budget.acquire(bytes, owner);
  };
  void wait();
  return request;
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

async function answersOf(requests: readonly { readonly release: (() => void) | null }[]) {
  await settled();
  return requests.map(({ release }) => release !== null);
}

describe('a body budget', () => {
  it('admits up to its size exactly and lets the next wait', async () => {
    const budget = createBodyBudget(100);
    const requests = [ask(budget, 60), ask(budget, 40), ask(budget, 1)];
    expect(await answersOf(requests)).toEqual([true, true, false]);
  });

  it('admits who waits once there is room', async () => {
    const budget = createBodyBudget(100);
    const requests = [ask(budget, 60), ask(budget, 30), ask(budget, 50)];
    await settled();
    requests[1]!.release!();
    expect(await answersOf(requests)).toEqual([true, true, false]);
    requests[0]!.release!();
    expect(await answersOf(requests)).toEqual([true, true, true]);
  });

  it('keeps the order: a small body does not overtake a large one that waits', async () => {
    const budget = createBodyBudget(100);
    const requests = [ask(budget, 60), ask(budget, 50), ask(budget, 10)];
    expect(await answersOf(requests)).toEqual([true, false, false]);
    requests[0]!.release!();
    expect(await answersOf(requests)).toEqual([true, true, true]);
  });

  it('admits several at once when enough becomes free', async () => {
    const budget = createBodyBudget(100);
    const requests = [ask(budget, 100), ask(budget, 30), ask(budget, 30), ask(budget, 30), ask(budget, 30)];
    await settled();
    requests[0]!.release!();
    expect(await answersOf(requests)).toEqual([true, true, true, true, false]);
  });

  it('admits a body that is larger than all of it, alone', async () => {
    const budget = createBodyBudget(100);
    const requests = [ask(budget, 500), ask(budget, 1)];
    expect(await answersOf(requests)).toEqual([true, false]);
    requests[0]!.release!();
    expect(await answersOf(requests)).toEqual([true, true]);
  });

  it('lets a body that is larger than all of it wait until nothing else is read', async () => {
    const budget = createBodyBudget(100);
    const requests = [ask(budget, 1), ask(budget, 500)];
    expect(await answersOf(requests)).toEqual([true, false]);
    requests[0]!.release!();
    expect(await answersOf(requests)).toEqual([true, true]);
  });

  it('gives one owner a part of it, and others go ahead of what waits for that', async () => {
    const budget = createBodyBudget(100, 60);
    const [first, second] = [ask(budget, 50, 'a'), ask(budget, 20, 'a')];
    const requests = [first, second, ask(budget, 5, 'a'), ask(budget, 50, 'b')];
    expect(await answersOf(requests)).toEqual([true, false, false, true]);
    first.release!();
    expect(await answersOf(requests)).toEqual([true, true, true, true]);
  });

  it('takes room back once, however often it is given back', async () => {
    const budget = createBodyBudget(100);
    const [first, second] = [ask(budget, 50), ask(budget, 50)];
    await settled();
    first.release!();
    first.release!();
    const requests = [second, ask(budget, 50), ask(budget, 50)];
    expect(await answersOf(requests)).toEqual([true, true, false]);
  });

  it('never admits more than its size together, and in the end every request', async () => {
    const bodies = fc.array(fc.tuple(fc.integer({ min: 1, max: 150 }), fc.nat()), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(bodies, async (asked) => {
        const budget = createBodyBudget(100);
        const requests = asked.map(([bytes]) => ask(budget, bytes));
        const done = new Set<(typeof requests)[number]>();
        for (const [, choice] of asked) {
          await settled();
          const reading = requests.filter((request) => request.release !== null && !done.has(request));
          const together = reading.reduce((sum, { bytes }) => sum + bytes, 0);
          expect(reading.length === 1 || together <= 100).toBe(true);
          const next = reading[choice % reading.length]!;
          done.add(next);
          next.release!();
        }
        expect(done.size).toBe(asked.length);
      }),
    );
  });
});
