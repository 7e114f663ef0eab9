// A host whose words get lost. What happens there happens; whether the queue hears of it at once, late, twice or never
// is up to chance. A sweep asks for the present truth and reports it, as the service does, in any order.
import fc from 'fast-check';
import type { CancelledReason } from '#core/queue/reason.ts';
import { isActive } from '#core/queue/planner/model.ts';
import type { Input } from './reading.ts';
import { submissionOf } from './disturb.ts';
import type { Simulated } from './simulated.ts';
import type { Change } from './truth.ts';

/** Section 9 of the design: an active queue is looked at this often at least. */
const sweepMs = 30_000;

type Upheaval = {
  /** Who leaves before CI has said anything about it, and how. */
  readonly leavers: ReadonlyMap<number, CancelledReason | 'by hand'>;
  /** Who is not ready for a while. */
  readonly flapping: ReadonlySet<number>;
  /** How often somebody else pushes to the branch. */
  readonly pushes: number;
  /** Whether the word that somebody was submitted can be lost. */
  readonly losesSubmissions: boolean;
};

/** Whom something befalls: as many numbers as one likes, read against the changes there are. */
export const someTrouble = fc.record({
  leavers: fc.array(
    fc.record({
      which: fc.nat(999),
      how: fc.constantFrom('USER_REQUESTED', 'PR_PUSHED_TO', 'PR_CLOSED', 'by hand'),
    }),
    { maxLength: 4 },
  ),
  flapping: fc.array(fc.nat(999), { maxLength: 4 }),
  pushes: fc.nat(3),
});
type Trouble = typeof someTrouble extends fc.Arbitrary<infer Drawn> ? Drawn : never;

/**
 * Where two of the changes break each other the end depends on who is first. So nothing may then befall anybody that
 * changes the order: being late, not ready for a while, or merged by hand.
 */
export function upheavalOf(trouble: Trouble, changes: readonly Change[], isOrderFree: boolean): Upheaval {
  const named = (which: number) => changes[which % changes.length]!;
  const leavers = trouble.leavers
    .map(({ which, how }) => ({ change: named(which), how }))
    // By hand only what is sound: a broken branch breaks everybody.
    .filter(({ change, how }) => how !== 'by hand' || (isOrderFree && !change.bad))
    .map(({ change, how }) => [change.pr, how] as const);
  return {
    leavers: new Map(leavers),
    flapping: new Set(isOrderFree ? trouble.flapping.map((which) => named(which).pr) : []),
    pushes: trouble.pushes,
    losesSubmissions: isOrderFree,
  };
}

export class LossyHost {
  readonly #world: Simulated;
  readonly #choose: () => number;
  /** Of a hundred words as many are lost; of the others some are late or doubled, unless none is lost at all. */
  readonly #loss: number;
  readonly #upheaval: Upheaval;
  readonly #said: Input[] = [];
  /** What CI is at, and what it has come to. */
  readonly #started = new Set<number>();
  readonly #finished = new Map<number, Input>();
  #outcome: Input | null = null;
  readonly #left = new Set<number>();
  readonly #unready = new Set<number>();
  readonly #wavered = new Set<number>();
  #pushes = 0;
  #echoes = 0;

  constructor(world: Simulated, choose: () => number, loss: number, upheaval: Upheaval) {
    this.#world = world;
    this.#choose = choose;
    this.#loss = loss;
    this.#upheaval = upheaval;
  }

  /** Everybody is submitted at once, and the queue goes on until all of them have ended. */
  drain(): void {
    const world = this.#world;
    for (const change of world.truth.values()) {
      const event = submissionOf(change, 0);
      if (this.#upheaval.losesSubmissions && this.#isUnlucky()) world.lose(event);
      else world.send(event, false);
    }
    world.plan();
    const patience = 400 + world.truth.size * 200;
    for (let turn = 0; world.endings.size < world.truth.size; turn++) {
      if (turn > patience) throw new Error(`it goes on for ever:\n${world.story.join('\n')}`);
      const next = this.#possible();
      if (next.length === 0 || this.#choose() % 12 === 0) this.#sweep();
      else next[this.#choose() % next.length]!();
      if (this.#loss > 0 && this.#choose() % 6 === 0) this.#echo();
    }
  }

  #isUnlucky(): boolean {
    return this.#choose() % 100 < this.#loss;
  }

  #say(event: Input | null): void {
    if (event === null) return;
    this.#said.push(event);
    if (this.#isUnlucky()) this.#world.lose(event);
    else this.#world.send(event, this.#choose() % 3 > 0);
  }

  /** Something that was said or lost before arrives, however old it is. */
  #echo(): void {
    if (this.#said.length === 0 || this.#echoes++ > this.#world.truth.size * 3) return;
    this.#world.send(this.#said[this.#choose() % this.#said.length]!);
  }

  /** What can happen at the host now. */
  #possible(): (() => void)[] {
    const world = this.#world;
    const { leavers, flapping, pushes } = this.#upheaval;
    const { items } = world.snapshot;
    const possible: (() => void)[] = [];
    for (const run of world.snapshot.runs.values()) {
      if (!isActive(run) || this.#finished.has(run.id)) continue;
      const waitsForLeaver = run.composition.members.some((pr) => leavers.has(pr));
      if (!waitsForLeaver) possible.push(() => this.#finish(run.id, run.attempt));
      if (!this.#started.has(run.id)) possible.push(() => this.#start(run.id));
    }
    if (world.inFlight !== null)
      possible.push(() => {
        this.#outcome = world.concludeLanding();
        this.#say(this.#outcome);
      });
    for (const pr of leavers.keys())
      if (items.has(pr) && !this.#left.has(pr)) possible.push(() => this.#leave(pr));
    for (const pr of flapping)
      if (items.has(pr) && !this.#wavered.has(pr)) possible.push(() => this.#waver(pr));
    if (this.#pushes < pushes)
      possible.push(() => {
        this.#pushes++;
        this.#say({ kind: 'branch-moved', tip: world.push([]) });
      });
    return possible;
  }

  #start(run: number): void {
    this.#started.add(run);
    this.#say({ kind: 'run-started', run });
  }

  /** CI is done with a run. Only a first attempt ever ends without a result, so that none is given up. */
  #finish(run: number, attempt: number): void {
    const cannotStart = attempt === 0 && !this.#started.has(run) && this.#choose() % 10 === 0;
    const isCancelled = attempt === 0 && this.#choose() % 10 === 0;
    const event: Input = cannotStart
      ? { kind: 'run-not-started', run }
      : isCancelled
        ? { kind: 'run-infrastructure-failed', run, timedOut: false }
        : this.#world.answers.get(run)!;
    this.#finished.set(run, event);
    this.#say(event);
  }

  #leave(pr: number): void {
    this.#left.add(pr);
    if (this.#upheaval.leavers.get(pr) === 'by hand') this.#world.push([pr]);
    this.#say(this.#departureOf(pr));
  }

  #departureOf(pr: number): Input {
    const how = this.#upheaval.leavers.get(pr)!;
    return how === 'by hand'
      ? { kind: 'merged-by-hand', pr, tip: this.#world.tip }
      : { kind: 'ended', pr, reason: how };
  }

  #waver(pr: number): void {
    const ready = this.#unready.delete(pr);
    if (ready) this.#wavered.add(pr);
    else this.#unready.add(pr);
    this.#say({ kind: 'readiness', pr, ready });
  }

  /** Asks for everything that is so, and reports it. */
  #sweep(): void {
    const world = this.#world;
    world.now += sweepMs;
    world.note('a sweep asks the host:');
    const events = [...this.#truth()];
    while (events.length > 0)
      world.send(events.splice(this.#choose() % events.length, 1)[0]!, this.#choose() % 3 === 0);
    world.plan();
  }

  *#truth(): Generator<Input> {
    const world = this.#world;
    const { items, runs, landing } = world.snapshot;
    yield { kind: 'branch-moved', tip: world.tip };
    if (landing !== null && world.inFlight === null && this.#outcome !== null) yield this.#outcome;
    for (const run of runs.values()) {
      if (!isActive(run)) continue;
      const event = this.#finished.get(run.id);
      if (event !== undefined) yield event;
      else if (this.#started.has(run.id)) yield { kind: 'run-started', run: run.id };
    }
    for (const pr of items.keys())
      yield this.#left.has(pr)
        ? this.#departureOf(pr)
        : { kind: 'readiness', pr, ready: !this.#unready.has(pr) };
    for (const change of world.truth.values())
      if (!items.has(change.pr) && !world.endings.has(change.pr)) yield submissionOf(change, 0);
  }
}
