// A queue on a virtual clock: the very planner that runs a queue, fed with a workload. CI is the workload's truth and a
// landing takes no time; everything else is observe() and plan().

import type { QueueSettings } from '#core/queue/settings.ts';
import { emptySnapshot } from '#core/queue/planner/empty.ts';
import type { Action, Fact, Run, Snapshot, Tip } from '#core/queue/planner/model.ts';
import { type Event, observe } from '#core/queue/planner/observe.ts';
import { plan } from '#core/queue/planner/plan.ts';
import { createHeap } from './heap.ts';
import type { Decision, PolicyRun } from './policy.ts';
import { createFlakes, createTruth } from './truth.ts';
import type { Change, Workload } from './workload.ts';

const minuteMs = 60_000;

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

/** Looks on: the queue after each step, and what was decided in it. */
export type Onlooker = (
  snapshot: Snapshot,
  step: { readonly event: Event | null; readonly facts: readonly Fact[] },
  nowMs: number,
) => void;

type Timed = { readonly atMs: number; readonly order: number; readonly event: Event | null };

class PlannerSimulation {
  readonly #workload: Workload;
  readonly #onlooker: Onlooker;
  readonly #targets: ReadonlyMap<number, Uint32Array>;
  readonly #truth: ReturnType<typeof createTruth>;
  readonly #isFlaky: () => boolean;
  readonly #changes: ReadonlyMap<number, Change>;
  readonly #events = createHeap<Timed>((a, b) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order));
  readonly #startedAt = new Map<number, number>();
  /** How much had landed at each tip: what a run on it is on top of. */
  readonly #landedAt = new Map<Tip, number>([['start', 0]]);
  readonly #landed: number[] = [];
  readonly #decisions: Decision[] = [];
  #snapshot: Snapshot;
  #order = 0;
  #seniority: number;
  #now = 0;
  #wakeAt: number | null = null;
  #runsStarted = 0;
  #runsAborted = 0;
  #ciMs = 0;

  constructor(workload: Workload, settings: Partial<QueueSettings>, onlooker: Onlooker) {
    this.#onlooker = onlooker;
    this.#workload = workload;
    this.#seniority = workload.changes.length;
    this.#targets = targetsOf(workload);
    this.#truth = createTruth(workload);
    this.#isFlaky = createFlakes(workload);
    this.#changes = new Map(workload.changes.map((change) => [change.number, change]));
    this.#snapshot = emptySnapshot({ testingTimeoutMinutes: 0, ...settings }, 'start');
  }

  simulate(): PolicyRun {
    for (const [place, { number, arrivesAtMin }] of this.#workload.changes.entries())
      this.#submitAt(number, place, arrivesAtMin);
    for (const { kind, number, atMin } of this.#workload.disturbances)
      this.#at(atMin * minuteMs, {
        kind: 'ended',
        pr: number,
        reason: kind === 'push' ? 'PR_PUSHED_TO' : 'USER_REQUESTED',
      });
    while (this.#events.size() > 0) {
      const { atMs, event } = this.#events.pop()!;
      this.#now = atMs;
      const waits = event?.kind === 'ended' && this.#snapshot.items.has(event.pr);
      this.#step(event);
      // A push takes the old head out; its author submits the new one at once.
      if (waits && event.reason === 'PR_PUSHED_TO')
        this.#submitAt(event.pr, ++this.#seniority, atMs / minuteMs);
    }
    return {
      decisions: this.#decisions,
      runsStarted: this.#runsStarted,
      runsAborted: this.#runsAborted,
      ciMinutes: this.#ciMs / minuteMs,
    };
  }

  #submitAt(pr: number, seniority: number, atMin: number): void {
    const atMs = atMin * minuteMs;
    const targets = this.#targets.get(pr)!;
    this.#at(atMs, {
      kind: 'submitted',
      item: { pr, seniority, submittedAt: atMs, priority: 100, noBatch: false, ready: true, targets },
    });
  }

  #at(atMs: number, event: Event | null): void {
    this.#events.push({ atMs, order: this.#order++, event });
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
    if (fact.kind !== 'merged' && fact.kind !== 'failed' && fact.kind !== 'cancelled') return;
    // A push takes the old head out and puts the new one in: the change itself is not decided by it.
    if (fact.kind === 'cancelled' && fact.reason === 'PR_PUSHED_TO') return;
    this.#decisions.push({ number: fact.pr, outcome: fact.kind, atMin: this.#now / minuteMs });
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
        this.#landed.push(...action.landing.members);
        const tip = `tip-${this.#landed.length}`;
        this.#landedAt.set(tip, this.#landed.length);
        return { kind: 'landed', landing: action.landing.id, tip };
      }
    }
  }

  #start({ id, composition }: Run): void {
    this.#runsStarted++;
    this.#startedAt.set(id, this.#now);
    const { base, members } = composition;
    const places = members.map((pr) => this.#truth.placeOf.get(pr)!);
    const landed = new Set(
      this.#landed.slice(0, this.#landedAt.get(base)).map((pr) => this.#truth.placeOf.get(pr)!),
    );
    const passes = this.#truth.isSound((place) => landed.has(place), places) && !this.#isFlaky();
    const durationMs = this.#changes.get(members.at(-1)!)!.durationMin * minuteMs;
    this.#at(this.#now + durationMs, { kind: passes ? 'run-passed' : 'run-failed', run: id });
    // Counted whole, and taken back if it is stopped before.
    this.#ciMs += durationMs;
    this.#endsAt.set(id, this.#now + durationMs);
  }

  readonly #endsAt = new Map<number, number>();

  #stop(id: number): void {
    const endsAt = this.#endsAt.get(id);
    if (endsAt === undefined || endsAt <= this.#now) return;
    this.#runsAborted++;
    this.#ciMs -= endsAt - this.#now;
    this.#endsAt.delete(id);
  }
}

export const playPlanner = (
  workload: Workload,
  settings: Partial<QueueSettings>,
  onlooker: Onlooker = () => {},
): PolicyRun => new PlannerSimulation(workload, settings, onlooker).simulate();
