// A queue on a virtual clock: the very planner that runs a queue, fed with a workload. CI is the workload's truth;
// everything else is observe() and plan().

import { priorities } from '#core/queue/priority.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { emptySnapshot } from '#core/queue/planner/empty.ts';
import type { Action, Fact, Run, Snapshot } from '#core/queue/planner/model.ts';
import { type Event, observe } from '#core/queue/planner/observe.ts';
import { plan } from '#core/queue/planner/plan.ts';
import { createSimulatedCi, firstTip, type SimulatedCi } from './ci.ts';
import { createHeap } from './heap.ts';
import type { Decision, Outcome, PolicyRun } from './policy.ts';
import { createRandom, type Random } from './random.ts';
import type { Change, Workload } from './workload.ts';

const minuteMs = 60_000;

/** One submission, to its end. */
type Trip = {
  readonly number: number;
  readonly outcome: Outcome;
  readonly fromMin: number;
  readonly toMin: number;
  /** It failed, and would have left the branch sound. */
  readonly isFalse: boolean;
};

export type Played = PolicyRun & {
  /** In the order of their ends. Where who was evicted is submitted again, there are more than there are changes. */
  readonly trips: readonly Trip[];
  /** How often tests began anew. */
  readonly restarts: number;
};

/** Shared targets of a workload as numbers: each pair that shares has a target of its own. */
function targetsOf(workload: Workload): ReadonlyMap<number, Uint32Array> {
  const lists = new Map<number, number[]>(workload.changes.map(({ number }) => [number, []]));
  let target = 0;
  for (const { number, shares } of workload.changes)
    for (const earlier of shares) {
      lists.get(number)!.push(target);
      lists.get(earlier)?.push(target);
      target++;
    }
  return new Map([...lists].map(([number, list]) => [number, Uint32Array.from(list)]));
}

const noTargets = new Uint32Array(0);

/** Looks on: the queue after each step, and what was decided in it. */
export type Onlooker = (
  snapshot: Snapshot,
  step: { readonly event: Event | null; readonly facts: readonly Fact[] },
  nowMs: number,
) => void;

type Timed = {
  readonly atMs: number;
  readonly order: number;
  readonly event: Event | null;
  readonly arrives: Change | null;
};

class PlannerSimulation {
  readonly #workload: Workload;
  readonly #onlooker: Onlooker;
  readonly #targets: ReadonlyMap<number, Uint32Array>;
  readonly #ci: SimulatedCi;
  readonly #patience: Random;
  readonly #changes: ReadonlyMap<number, Change>;
  readonly #places: ReadonlyMap<number, number>;
  /** Those that come after the end of another, by its number. */
  readonly #followers: ReadonlyMap<number, Change>;
  readonly #events = createHeap<Timed>((a, b) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order));
  /** Of runs under way: when CI begins and ends. */
  readonly #spans = new Map<number, { readonly fromMs: number; readonly toMs: number }>();
  readonly #submittedAt = new Map<number, number>();
  readonly #decisions: Decision[] = [];
  readonly #trips: Trip[] = [];
  #snapshot: Snapshot;
  #order = 0;
  #seniority: number;
  #now = 0;
  #wakeAt: number | null = null;
  #runsStarted = 0;
  #runsAborted = 0;
  #restarts = 0;
  #ciMs = 0;

  constructor(workload: Workload, settings: Partial<QueueSettings>, onlooker: Onlooker) {
    const { changes } = workload;
    this.#onlooker = onlooker;
    this.#workload = workload;
    this.#seniority = changes.length;
    this.#targets = settings.mode === 'parallel' ? targetsOf(workload) : new Map();
    this.#ci = createSimulatedCi(workload);
    this.#patience = createRandom(workload.seed, 'again');
    this.#changes = new Map(changes.map((change) => [change.number, change]));
    this.#places = new Map(changes.map(({ number }, place) => [number, place]));
    this.#followers = new Map(
      changes.flatMap((change) => (change.follows === undefined ? [] : [[change.follows.number, change]])),
    );
    // How long CI takes is the workload's to say: nothing is out of time.
    this.#snapshot = emptySnapshot({ ...settings, testingTimeoutMinutes: 0 }, firstTip);
  }

  simulate(): Played {
    for (const change of this.#workload.changes)
      if (change.follows === undefined) this.#at(change.arrivesAtMin * minuteMs, null, change);
    for (const { kind, number, atMin } of this.#workload.disturbances)
      this.#at(atMin * minuteMs, {
        kind: 'ended',
        pr: number,
        reason: kind === 'push' ? 'PR_PUSHED_TO' : 'USER_REQUESTED',
      });
    while (this.#events.size() > 0) {
      const { atMs, event, arrives } = this.#events.pop()!;
      this.#now = atMs;
      if (arrives !== null) {
        this.#arrive(arrives);
        continue;
      }
      const waits = event?.kind === 'ended' && this.#snapshot.items.has(event.pr);
      this.#step(event);
      // A push takes the old head out; its author submits the new one at once.
      if (waits && event.reason === 'PR_PUSHED_TO')
        this.#submit(this.#changes.get(event.pr)!, ++this.#seniority);
    }
    return {
      decisions: this.#decisions,
      trips: this.#trips,
      restarts: this.#restarts,
      runsStarted: this.#runsStarted,
      runsAborted: this.#runsAborted,
      ciMinutes: this.#ciMs / minuteMs,
    };
  }

  #arrive(change: Change): void {
    const { number } = change;
    if (!this.#snapshot.items.has(number)) this.#submit(change, this.#places.get(number)!);
  }

  #submit({ number: pr, priority = priorities.medium, noBatch = false }: Change, seniority: number): void {
    const submittedAt = this.#now;
    const targets = this.#targets.get(pr) ?? noTargets;
    this.#submittedAt.set(pr, submittedAt);
    this.#step({
      kind: 'submitted',
      item: { pr, seniority, submittedAt, priority, noBatch, ready: true, targets },
    });
  }

  #at(atMs: number, event: Event | null, arrives: Change | null = null): void {
    this.#events.push({ atMs, order: this.#order++, event, arrives });
  }

  #step(event: Event | null): void {
    let next: Event | null = event;
    do {
      const observed =
        next === null
          ? { snapshot: this.#snapshot, facts: [], actions: [] }
          : observe(this.#snapshot, next, this.#now);
      const planned = plan(observed.snapshot, this.#now);
      this.#snapshot = planned.snapshot;
      const observedEvent = next;
      next = null;
      const facts = [...observed.facts, ...planned.facts];
      for (const fact of facts) this.#record(fact);
      this.#onlooker(this.#snapshot, { event: observedEvent, facts }, this.#now);
      for (const action of [...observed.actions, ...planned.actions]) next = this.#perform(action) ?? next;
      const { wakeAt } = planned;
      if (wakeAt !== null && (this.#wakeAt === null || wakeAt < this.#wakeAt || this.#wakeAt <= this.#now)) {
        this.#wakeAt = wakeAt;
        this.#at(wakeAt, null);
      }
    } while (next !== null);
  }

  #record(fact: Fact): void {
    if (fact.kind === 'queued' && fact.reason !== 'MERGE_ITEM_NOW_READY') this.#restarts++;
    if (fact.kind !== 'merged' && fact.kind !== 'failed' && fact.kind !== 'cancelled') return;
    // A push takes the old head out and puts the new one in: the change itself is not decided by it.
    if (fact.kind === 'cancelled' && fact.reason === 'PR_PUSHED_TO') return;
    const { pr: number, kind: outcome } = fact;
    const isFalse = outcome === 'failed' && this.#ci.isSound(number);
    this.#decisions.push({ number, outcome, atMin: this.#now / minuteMs });
    this.#trips.push({
      number,
      outcome,
      fromMin: this.#submittedAt.get(number)! / minuteMs,
      toMin: this.#now / minuteMs,
      isFalse,
    });
    if (outcome === 'merged') return;
    const follower = this.#followers.get(number);
    if (follower !== undefined) this.#at(this.#now + follower.follows!.afterMin * minuteMs, null, follower);
    else if (isFalse) this.#comeAgain(number);
  }

  /** Who was evicted by no fault of its own may be submitted again. */
  #comeAgain(number: number): void {
    const again = this.#workload.timing?.again;
    if (again === undefined || this.#patience() >= again.share) return;
    this.#at(this.#now + again.afterMin * minuteMs, null, this.#changes.get(number));
  }

  /** What follows at once, if anything. */
  #perform(action: Action): Event | null {
    switch (action.kind) {
      case 'start-run':
        this.#start(action.run);
        return null;
      case 'cancel-run':
        this.#stop(action.run);
        return null;
      case 'land': {
        const { id, members } = action.landing;
        const event: Event = { kind: 'landed', landing: id, tip: this.#ci.land(members) };
        const landMs = this.#ci.drawLandMs();
        if (landMs === 0) return event;
        this.#at(this.#now + landMs, event);
        return null;
      }
    }
  }

  #start({ id, composition }: Run): void {
    this.#runsStarted++;
    const { passes, startMs, testMs } = this.#ci.run(composition);
    const span = { fromMs: this.#now + startMs, toMs: this.#now + startMs + testMs };
    this.#at(span.toMs, { kind: passes ? 'run-passed' : 'run-failed', run: id });
    // Counted whole, and taken back if it is stopped before.
    this.#ciMs += testMs;
    this.#spans.set(id, span);
  }

  #stop(id: number): void {
    const span = this.#spans.get(id);
    if (span === undefined || span.toMs <= this.#now) return;
    this.#runsAborted++;
    this.#ciMs -= span.toMs - Math.max(this.#now, span.fromMs);
    this.#spans.delete(id);
  }
}

export const playPlanner = (
  workload: Workload,
  settings: Partial<QueueSettings>,
  onlooker: Onlooker = () => {},
): Played => new PlannerSimulation(workload, settings, onlooker).simulate();
