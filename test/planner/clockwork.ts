// A world in which everything takes its time: CI begins late and tests for as long as it likes, and landings take a
// while. Time goes from one thing that happens to the next, or to when the queue wants to look again.
import fc from 'fast-check';
import { pushByMs, startPauseMs } from '#core/queue/planner/clock.ts';
import { ageingMs } from '#core/queue/planner/order.ts';
import type { Input } from './reading.ts';
import { priorities } from '#core/queue/priority.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import type { Random } from '#base/random.ts';
import { absent, submissionOf } from './disturb.ts';
import type { Simulated } from './simulated.ts';
import { anItem } from './world.ts';

const minuteMs = 60_000;

type Pace = {
  /** CI begins within this, and tests for at most this. */
  readonly beginMs: number;
  readonly testMs: number;
  readonly landMs: number;
  /** Of a hundred first attempts as many are never begun, never ended, cannot be started, or are cancelled. */
  readonly troubles: number;
};

/** How fast CI, the host and the authors are, and how patient the queue: from seconds to more than an hour. */
export const somePace = fc
  .record({
    testingTimeoutMinutes: fc.integer({ min: 1, max: 90 }),
    begins: fc.integer({ min: 1, max: 100 }),
    tests: fc.integer({ min: 1, max: 100 }),
    landMs: fc.integer({ min: 1, max: 60_000 }),
    troubles: fc.constantFrom(0, 0, 5, 30),
    arrivalMs: fc.constantFrom(1, 5 * minuteMs, 60 * minuteMs),
    pushes: fc.nat(2),
  })
  .map(({ begins, tests, ...rest }) => {
    const timeoutMs = rest.testingTimeoutMinutes * minuteMs;
    return {
      ...rest,
      beginMs: (Math.min(pushByMs, timeoutMs) * begins) / 100,
      testMs: (timeoutMs * tests) / 100,
    };
  });

/** More important ones come faster than they can be tested, and some that do not matter much have to wait. */
export const someStream = fc.record({
  waiting: fc.integer({ min: 1, max: 3 }),
  gapMinutes: fc.integer({ min: 5, max: 20 }),
  urgents: fc.array(fc.integer({ min: 0, max: 300 }), { maxLength: 2 }),
});
type Stream = typeof someStream extends fc.Arbitrary<infer Drawn> ? Drawn : never;

type Appointment = { readonly at: number; readonly happen: () => void };

export class Clockwork {
  readonly world: Simulated;
  readonly #random: Random;
  readonly #pace: Pace;
  /** What happens when, in the order in which it was arranged. */
  #agenda: Appointment[] = [];
  readonly #known = new Set<number>();
  #landing: unknown = null;

  constructor(world: Simulated, random: Random, pace: Pace) {
    this.world = world;
    this.#random = random;
    this.#pace = pace;
  }

  at(at: number, happen: () => void): void {
    this.#agenda.push({ at, happen });
  }

  /** Whoever is absent is submitted, and somebody pushes to the branch meanwhile; answers with when that ends. */
  arrange(arrivalMs: number, pushes: number): number {
    const { world } = this;
    const from = world.now;
    let last = from;
    for (const change of absent(world)) {
      const at = last;
      this.at(at, () => world.send(submissionOf(change, at)));
      last += this.#upTo(arrivalMs);
    }
    for (let push = 0; push < pushes; push++)
      this.at(from + this.#upTo(last - from), () =>
        world.send({ kind: 'branch-moved', tip: world.push([]) }),
      );
    return last;
  }

  /** Those that wait are the first, and find the slots taken by more important ones, as does everybody later. */
  stream({ waiting, gapMinutes, urgents }: Stream): void {
    const { world } = this;
    const { concurrency, batch, batchingMinSize } = world.snapshot.settings;
    const perTest = concurrency * (batch ? batchingMinSize : 1);
    const perMinute = (1.2 * perTest * 2 * minuteMs) / (this.#pace.beginMs + this.#pace.testMs);
    let pr = 0;
    const submit = (priority: number, plansNow: boolean) => {
      const targets = this.#random() < 0.1 ? 'ALL' : Uint32Array.of(this.#upTo(5));
      const item = anItem(++pr, { priority, targets, submittedAt: world.now });
      world.send({ kind: 'submitted', item }, plansNow);
    };
    for (let count = 0; count < waiting; count++) submit(priorities.low, false);
    for (let count = 0; count < 2 * perTest; count++) submit(priorities.high, false);
    const more = () => {
      for (let left = Math.ceil(perMinute * gapMinutes); left > 0; left--)
        submit(priorities.high, left === 1);
      this.at(world.now + gapMinutes * minuteMs, more);
    };
    more();
    for (const minute of urgents) this.at(minute * minuteMs, () => submit(priorities.urgent, true));
  }

  /** Goes on until it is done, or throws when it is not by then. */
  runUntil(isDone: () => boolean, byMs: number): void {
    while (!isDone()) {
      const { state, switching } = this.world.snapshot;
      // Where it switched modes it may have gone back to being paused.
      if (state !== 'RUNNING' && switching === null) this.world.send({ kind: 'state', state: 'RUNNING' });
      this.#takeUp();
      const next = this.#next();
      const { wakeAt } = this.world;
      if (next === undefined && wakeAt === null) throw new Error(`it is stuck:\n${this.#story()}`);
      const now = Math.min(next?.at ?? Infinity, wakeAt ?? Infinity);
      if (now > byMs) throw new Error(`not done by ${Math.ceil(byMs / minuteMs)} min:\n${this.#story()}`);
      this.world.now = now;
      if (next?.at === now) {
        this.#agenda = this.#agenda.filter((other) => other !== next);
        next.happen();
      } else this.world.send(null);
    }
  }

  #story = (): string => this.world.story.slice(-600).join('\n');

  #next(): Appointment | undefined {
    let next: Appointment | undefined;
    for (const other of this.#agenda) if (next === undefined || other.at < next.at) next = other;
    return next;
  }

  /** CI and the host take up what they were asked for. */
  #takeUp(): void {
    const { world } = this;
    for (const [run, answer] of world.answers)
      if (!this.#known.has(run)) {
        this.#known.add(run);
        this.#test(run, answer);
      }
    const { inFlight } = world;
    if (inFlight === null || inFlight === this.#landing) return;
    this.#landing = inFlight;
    this.at(world.now + this.#upTo(this.#pace.landMs), () => {
      // One that the queue gave up may have another in its place, which has an appointment of its own.
      if (world.inFlight === inFlight) world.send(world.concludeLanding());
    });
  }

  #test(run: number, answer: Input): void {
    const { world } = this;
    const { beginMs, testMs, troubles } = this.#pace;
    const isFirst = world.snapshot.runs.get(run)?.attempt === 0;
    const trouble = isFirst && this.#random() * 100 < troubles ? Math.floor(this.#random() * 4) : undefined;
    const say = (event: Input, delayMs: number) =>
      this.at(world.now + delayMs, () => {
        if (world.answers.has(run)) world.send(event);
      });
    const begins = this.#upTo(beginMs);
    if (trouble === 0) return;
    if (trouble === 1) say({ kind: 'run-not-started', run }, begins);
    else say({ kind: 'run-started', run }, begins);
    if (trouble === 3) say({ kind: 'run-infrastructure-failed', run, timedOut: false }, begins);
    if (trouble === undefined) say(answer, begins + this.#upTo(testMs));
  }

  #upTo = (ms: number): number => Math.floor(this.#random() * ms);
}

/** From the start of a composition's first run to its result, with a CI that answers the second attempt if not the first. */
function longestTryMs({ testingTimeoutMinutes }: QueueSettings, { beginMs, testMs, troubles }: Pace): number {
  if (troubles === 0) return beginMs + testMs;
  const timeoutMs = testingTimeoutMinutes * minuteMs;
  const attemptMs = Math.max(Math.min(pushByMs, timeoutMs), beginMs + timeoutMs);
  // The first attempt; what is in all the slots until one is free for the second; and the second.
  return 3 * attemptMs + startPauseMs(0);
}

/**
 * How long a queue takes at most to be empty, from the last time that somebody is submitted or pushes to the branch.
 *
 * Whatever stands in the slots has its result after one try, and by then everything ahead of it has too. So with every
 * try as many land as there are slots, or there is a setback: somebody fails, or conflicts with somebody ahead. Until a
 * failure is settled there are: the run that failed, the successors that are waited for, one more run if what it was
 * tested on landed in part only, and in a batch the rounds of a search by halves with the run that confirms it and the run
 * of the culprit alone. Nothing starts while something lands, and one landing may have been under way for nothing. A batch
 * waits once to fill.
 */
export function longestDrainMs(
  settings: QueueSettings,
  pace: Pace,
  { merged, setbacks }: { readonly merged: number; readonly setbacks: number },
): number {
  const { concurrency, pendingFailureDepth, canOptimisticallyMerge, batch, batchingMinSize } = settings;
  const searched = batch ? Math.ceil(Math.log2(batchingMinSize)) + 2 : 0;
  const perSetback = 1 + pendingFailureDepth + (canOptimisticallyMerge ? 1 : 0) + searched;
  const tries = Math.ceil(merged / concurrency) + setbacks * perSetback;
  const fillMs = batch ? settings.batchingMaxWaitTimeMinutes * minuteMs : 0;
  return tries * longestTryMs(settings, pace) + (merged + 1) * pace.landMs + fillMs;
}

/**
 * How long somebody waits at most who is not urgent, and whom nobody breaks, until it is under test. Once it has aged it
 * gets the next slot but for those who have waited longer, and for urgent ones. Nothing starts while something lands.
 */
export function longestWaitMs(
  { concurrency }: QueueSettings,
  { beginMs, testMs, landMs }: Pace,
  { before, urgents }: { readonly before: number; readonly urgents: number },
): number {
  const tests = Math.ceil((before + 1) / concurrency) + urgents;
  return ageingMs + tests * (beginMs + testMs + concurrency * landMs);
}
