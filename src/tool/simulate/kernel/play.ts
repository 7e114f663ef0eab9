// A queue on a virtual clock: the same planner that runs a real queue, fed with a workload. The workload
// decides the results of CI; everything else is observe() and plan().

import { minuteMs } from '#base/duration.ts';
import type { Random } from '#base/random.ts';
import { priorities } from '#core/queue/priority.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { limitsWithoutHistory } from '#core/queue/planner/clock.ts';
import { emptySnapshot } from '#core/queue/planner/empty.ts';
import {
  attemptsMax,
  durationsMin,
  estimateFailureShare,
  historyMax,
  limitsFrom,
} from '#core/queue/planner/history.ts';
import type { Action, PlannerFact, Run, Snapshot } from '#core/queue/planner/model.ts';
import { type PlannerEvent, observe } from '#core/queue/planner/observe.ts';
import { plan } from '#core/queue/planner/plan.ts';
import { createSimulatedCi, firstTip, type SimulatedCi } from './ci.ts';
import { createFlakeHistory } from './flake-history.ts';
import { createHeap } from './heap.ts';
import type { SimulatedDecision, SimulatedOutcome, PolicyRun } from './policy.ts';
import { createRandom } from './random.ts';
import { percentile } from './statistics.ts';
import type { WorkloadChange, Workload } from './workload.ts';

/** One submission, to its end. */
type SimulatedAttempt = {
  readonly number: number;
  readonly outcome: SimulatedOutcome;
  readonly fromMin: number;
  readonly toMin: number;
  /** It failed, although it would have left the branch sound. */
  readonly isFalse: boolean;
};

export type Played = PolicyRun & {
  /** In the order of their ends; more than the changes, if removed ones are submitted again. */
  readonly attempts: readonly SimulatedAttempt[];
  /** How often tests restarted. */
  readonly restarts: number;
  /** The most runs that were in progress at one time: the slots that were needed. */
  readonly runsAtOnceMax: number;
};

/** Shared targets of a workload as numbers: each pair that shares has a target of its own. */
function numberSharedTargets(workload: Workload): ReadonlyMap<number, Uint32Array> {
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

/** Observes the queue after each step, and the decisions of that step. */
export type Onlooker = (
  snapshot: Snapshot,
  step: { readonly event: PlannerEvent | null; readonly facts: readonly PlannerFact[] },
  nowMs: number,
) => void;

type Timed = {
  readonly atMs: number;
  readonly order: number;
  readonly event: PlannerEvent | null;
  readonly arrives: WorkloadChange | null;
};

class PlannerSimulation {
  readonly #workload: Workload;
  readonly #onlooker: Onlooker;
  readonly #targets: ReadonlyMap<number, Uint32Array>;
  readonly #ci: SimulatedCi;
  readonly #patience: Random;
  readonly #changes: ReadonlyMap<number, WorkloadChange>;
  readonly #places: ReadonlyMap<number, number>;
  /** Changes that arrive after the end of another, by its number. */
  readonly #followers: ReadonlyMap<number, WorkloadChange>;
  readonly #events = createHeap<Timed>((a, b) => a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order));
  /** When CI begins and ends for each run in progress. */
  readonly #spans = new Map<
    number,
    { readonly fromMs: number; readonly toMs: number; readonly isWhole: boolean }
  >();
  readonly #submittedAt = new Map<number, number>();
  readonly #decisions: SimulatedDecision[] = [];
  readonly #attempts: SimulatedAttempt[] = [];
  /** Of the last runs that ended. */
  readonly #durationsMs: number[] = [];
  readonly #flakes = createFlakeHistory();
  #limits = limitsWithoutHistory;
  #snapshot: Snapshot;
  #order = 0;
  #seniority: number;
  #now = 0;
  #wakeAt: number | null = null;
  #runsStarted = 0;
  #runsAborted = 0;
  #restarts = 0;
  #runsAtOnceMax = 0;
  #ciMs = 0;

  constructor(workload: Workload, settings: Partial<QueueSettings>, onlooker: Onlooker) {
    const { changes } = workload;
    this.#onlooker = onlooker;
    this.#workload = workload;
    this.#seniority = changes.length;
    this.#targets = settings.mode === 'parallel' ? numberSharedTargets(workload) : new Map();
    this.#ci = createSimulatedCi(workload);
    this.#patience = createRandom(workload.seed, 'again');
    this.#changes = new Map(changes.map((change) => [change.number, change]));
    this.#places = new Map(changes.map(({ number }, place) => [number, place]));
    this.#followers = new Map(
      changes.flatMap((change) => (change.follows === undefined ? [] : [[change.follows.number, change]])),
    );
    // The workload decides how long CI takes: no run times out. Only a queue with `predictFailures` has predictions.
    const predictFailures = workload.isPredicted === true;
    this.#snapshot = emptySnapshot({ ...settings, predictFailures, testingTimeoutMinutes: 0 }, firstTip);
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
      if (event?.kind === 'run-failed-by-flakes') {
        this.#recordDuration(event.run);
        this.#flakes.excuse(event.run);
      }
      if (event?.kind === 'run-passed' || event?.kind === 'run-failed') {
        this.#recordDuration(event.run);
        this.#flakes.end(event.run, event.kind === 'run-passed');
      }
      const waits = event?.kind === 'ended' && this.#snapshot.items.has(event.pr);
      this.#step(event);
      // A push removes the old head; its author submits the new one at once.
      if (waits && event.reason === 'PR_PUSHED_TO')
        this.#submit(this.#changes.get(event.pr)!, ++this.#seniority);
    }
    return {
      decisions: this.#decisions,
      attempts: this.#attempts,
      restarts: this.#restarts,
      runsAtOnceMax: this.#runsAtOnceMax,
      runsStarted: this.#runsStarted,
      runsAborted: this.#runsAborted,
      ciMinutes: this.#ciMs / minuteMs,
    };
  }

  #arrive(change: WorkloadChange): void {
    const { number } = change;
    if (!this.#snapshot.items.has(number)) this.#submit(change, this.#places.get(number)!);
  }

  #submit(change: WorkloadChange, seniority: number): void {
    const { number: pr, priority = priorities.medium, noBatch = false, predictedPass, predictedMin } = change;
    const submittedAt = this.#now;
    const predicted = {
      ...(this.#workload.isPredicted === true ? { odds: predictedPass } : {}),
      ...(predictedMin === undefined ? {} : { expectedMs: predictedMin * minuteMs }),
    };
    const targets = this.#targets.get(pr) ?? noTargets;
    this.#submittedAt.set(pr, submittedAt);
    this.#step({
      kind: 'submitted',
      item: { pr, seniority, submittedAt, priority, noBatch, ready: true, targets, ...predicted },
    });
  }

  #at(atMs: number, event: PlannerEvent | null, arrives: WorkloadChange | null = null): void {
    this.#events.push({ atMs, order: this.#order++, event, arrives });
  }

  #step(event: PlannerEvent | null): void {
    let next: PlannerEvent | null = event;
    do {
      const attempts = this.#lastAttempts();
      this.#snapshot = {
        ...this.#snapshot,
        failureShare: estimateFailureShare(attempts),
        flakeShare: this.#flakes.share(attempts.failed),
        limits: this.#limits,
      };
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
      this.#runsAtOnceMax = Math.max(this.#runsAtOnceMax, this.#spans.size);
      const { wakeAt } = planned;
      if (wakeAt !== null && (this.#wakeAt === null || wakeAt < this.#wakeAt || this.#wakeAt <= this.#now)) {
        this.#wakeAt = wakeAt;
        this.#at(wakeAt, null);
      }
    } while (next !== null);
  }

  /** As a queue reads it from its history. */
  #recordDuration(run: number): void {
    const span = this.#spans.get(run);
    this.#spans.delete(run);
    if (span?.isWhole !== true) return;
    this.#durationsMs.push(span.toMs - span.fromMs);
    if (this.#durationsMs.length > historyMax) this.#durationsMs.shift();
    const hasEnough = this.#durationsMs.length >= durationsMin;
    this.#limits = limitsFrom({
      startP99Ms: null,
      testP99Ms: hasEnough ? percentile(this.#durationsMs, 0.99) : null,
      testP50Ms: percentile(this.#durationsMs, 0.5),
    });
  }

  #record(fact: PlannerFact): void {
    if (fact.kind === 'queued' && fact.reason !== 'MERGE_ITEM_NOW_READY') this.#restarts++;
    if (fact.kind !== 'merged' && fact.kind !== 'failed' && fact.kind !== 'cancelled') return;
    // A push removes the old head and adds the new one: it does not decide the change.
    if (fact.kind === 'cancelled' && fact.reason === 'PR_PUSHED_TO') return;
    const { pr: number, kind: outcome } = fact;
    const isFalse = outcome === 'failed' && this.#ci.isSound(number);
    this.#decisions.push({ number, outcome, atMin: this.#now / minuteMs });
    this.#attempts.push({
      number,
      outcome,
      fromMin: this.#submittedAt.get(number)! / minuteMs,
      toMin: this.#now / minuteMs,
      isFalse,
    });
    if (outcome === 'merged') {
      this.#flakes.merge(number);
      return;
    }
    const follower = this.#followers.get(number);
    if (follower !== undefined) this.#at(this.#now + follower.follows!.afterMin * minuteMs, null, follower);
    else if (isFalse) this.#comeAgain(number);
  }

  /** As a queue reads it from its history. */
  #lastAttempts(): { readonly failed: number; readonly ended: number } {
    const last = this.#decisions.slice(-attemptsMax).filter(({ outcome }) => outcome !== 'cancelled');
    return { failed: last.filter(({ outcome }) => outcome === 'failed').length, ended: last.length };
  }

  /** A change that was removed without a fault of its own may be submitted again. */
  #comeAgain(number: number): void {
    const again = this.#workload.timing?.again;
    if (again === undefined || this.#patience() >= again.share) return;
    this.#at(this.#now + again.afterMin * minuteMs, null, this.#changes.get(number));
  }

  /** Returns the event that follows at once, if there is one. */
  #perform(action: Action): PlannerEvent | null {
    switch (action.kind) {
      case 'start-run':
        this.#start(action.run);
        return null;
      case 'cancel-run':
        this.#stop(action.run);
        return null;
      case 'rerun-failed-jobs':
        this.#rerun(action.run);
        return null;
      case 'land': {
        const { id, members } = action.landing;
        const event: PlannerEvent = { kind: 'landed', landing: id, tip: this.#ci.land(members) };
        const landMs = this.#ci.drawLandMs();
        if (landMs === 0) return event;
        this.#at(this.#now + landMs, event);
        return null;
      }
    }
  }

  #start({ id, composition, tests }: Run): void {
    this.#runsStarted++;
    const isWhole = tests === undefined;
    if (isWhole) this.#flakes.start(id, composition.members);
    const result = this.#ci.run(composition, tests);
    const { startMs, testMs } = result;
    const span = { fromMs: this.#now + startMs, toMs: this.#now + startMs + testMs, isWhole };
    this.#at(span.toMs, reportResult(id, result, span.toMs));
    // Counted in full, and corrected if the run is stopped before its end.
    this.#ciMs += testMs;
    this.#spans.set(id, span);
  }

  /** Counts as a run. */
  #rerun(id: number): void {
    const run = this.#snapshot.runs.get(id);
    if (run === undefined) return;
    this.#runsStarted++;
    const result = this.#ci.rerun(run.composition);
    const fromMs = this.#now + result.startMs;
    const toMs = fromMs + result.testMs;
    this.#at(fromMs, { kind: 'run-started', run: id, at: fromMs });
    this.#at(toMs, reportResult(id, result, toMs));
    this.#ciMs += result.testMs;
    this.#spans.set(id, { fromMs, toMs, isWhole: false });
  }

  #stop(id: number): void {
    const span = this.#spans.get(id);
    if (span === undefined || span.toMs <= this.#now) return;
    this.#runsAborted++;
    this.#flakes.cancel(id);
    // CI that has not begun does not begin; CI at work takes its time to stop.
    const stopsAt = span.fromMs > this.#now ? span.fromMs : this.#now + this.#ci.drawCancelMs();
    this.#ciMs -= Math.max(0, span.toMs - stopsAt);
    this.#spans.delete(id);
  }
}

function reportResult(
  run: number,
  { passes, failedTests, isKnownFlake = false }: ReturnType<SimulatedCi['run']>,
  at: number,
): PlannerEvent {
  if (passes) return { kind: 'run-passed', run };
  if (isKnownFlake)
    return { kind: 'run-failed-by-flakes', run, excused: [{ suite: 'ci', name: 'test', at }] };
  return { kind: 'run-failed', run, ...(failedTests === undefined ? {} : { tests: failedTests }) };
}

export const playPlanner = (
  workload: Workload,
  settings: Partial<QueueSettings>,
  onlooker: Onlooker = () => {},
): Played => new PlannerSimulation(workload, settings, onlooker).simulate();
