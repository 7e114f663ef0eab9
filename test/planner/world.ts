// A small world around the planner for tests: events go in, plans come out, every step is held against the invariants,
// and what happened can be told as a story.
import type { QueueSettings } from '#core/queue/settings.ts';
import { emptySnapshot } from '#core/queue/planner/empty.ts';
import { findViolations, violationsOfStep } from '#core/queue/planner/invariant.ts';
import { noTargets } from '#core/queue/planner/lane.ts';
import {
  type Action,
  type PlannerFact,
  type Item,
  isActive,
  type Run,
  type Snapshot,
} from '#core/queue/planner/model.ts';
import type { PlannerEvent } from '#core/queue/planner/observe.ts';
import { plan } from '#core/queue/planner/plan.ts';
import type { Strategy } from '#core/queue/planner/strategy.ts';
import { type Input, take, throughDatabase } from './reading.ts';

export type NewItem = Extract<PlannerEvent, { kind: 'submitted' }>['item'];

export const anItem = (pr: number, item: Partial<NewItem> = {}): NewItem => ({
  pr,
  priority: 100,
  seniority: pr,
  submittedAt: 0,
  noBatch: false,
  ready: true,
  targets: noTargets,
  ...item,
});

/** One evaluation, as of a queue that is kept in the database: an event and the plan that follows. Throws with what is wrong. */
function step(
  before: Snapshot,
  event: Input | null,
  now: number,
  strategy?: Strategy,
): {
  readonly snapshot: Snapshot;
  readonly facts: PlannerFact[];
  readonly actions: Action[];
  readonly wakeAt: number | null;
} {
  const snapshot = throughDatabase(before);
  const observed =
    event === null ? { snapshot, facts: [], actions: [] } : take(snapshot, event, now, strategy);
  const planned = plan(observed.snapshot, now, strategy);
  const violations = [
    ...violationsOfStep(snapshot, observed, strategy),
    ...violationsOfStep(observed.snapshot, planned, strategy),
    ...findViolations(planned.snapshot),
  ];
  if (violations.length > 0) throw new Error(violations.join('\n'));
  return {
    snapshot: planned.snapshot,
    facts: [...observed.facts, ...planned.facts],
    actions: [...observed.actions, ...planned.actions],
    wakeAt: planned.wakeAt,
  };
}

/** A queue that is driven by hand; landings succeed at once unless told otherwise. */
export class World {
  snapshot: Snapshot;
  now = 0;
  readonly facts: PlannerFact[] = [];
  wakeAt: number | null = null;
  landsByItself = true;
  /** Undefined: the one that the settings choose. */
  strategy: Strategy | undefined;
  #landings = 0;

  constructor(settings: Partial<QueueSettings> = {}) {
    this.snapshot = emptySnapshot({ strategy: 'manual', ...settings }, 'T');
  }

  send(event: Input | null): void {
    const { snapshot, facts, wakeAt } = step(this.snapshot, event, this.now, this.strategy);
    this.snapshot = snapshot;
    this.facts.push(...facts);
    this.wakeAt = wakeAt;
    if (this.landsByItself && snapshot.landing !== null)
      this.send({ kind: 'landed', landing: snapshot.landing.id, tip: `T${++this.#landings}` });
  }

  submit(pr: number, item: Partial<NewItem> = {}): void {
    this.send({ kind: 'submitted', item: anItem(pr, { submittedAt: this.now, ...item }) });
  }

  /** Moves the clock and looks at the queue. */
  advance(ms: number): void {
    this.now += ms;
    this.send(null);
  }

  /** CI begins everything that is under way; then the clock moves. */
  advanceBegun(ms: number): void {
    for (const run of this.snapshot.runs.values())
      if (isActive(run)) this.send({ kind: 'run-started', run: run.id });
    this.advance(ms);
  }

  /** Active runs by what they test, as "1+2" for a run of #1 and #2 in that order. */
  active(kind: Run['of']['kind'] = 'line'): string[] {
    return [...this.snapshot.runs.values()]
      .filter((run) => run.of.kind === kind && isActive(run))
      .map((run) => run.composition.members.join('+'));
  }

  run(members: string): Run {
    const run = [...this.snapshot.runs.values()].find(
      (candidate) => isActive(candidate) && candidate.composition.members.join('+') === members,
    );
    if (run === undefined)
      throw new Error(
        `no active run of ${members}: there is ${[...this.active(), ...this.active('search')].join(', ')}`,
      );
    return run;
  }

  pass(members: string): void {
    this.send({ kind: 'run-passed', run: this.run(members).id });
  }

  fail(members: string): void {
    this.send({ kind: 'run-failed', run: this.run(members).id });
  }

  place(pr: number): Item['place'] | undefined {
    return this.snapshot.items.get(pr)?.place;
  }

  /** What people see. */
  state(pr: number): string {
    const place = this.place(pr);
    if (place === undefined) return this.outcome(pr) ?? 'gone';
    if (place.kind === 'line') return place.shown;
    return place.kind === 'search' ? 'testing' : place.kind;
  }

  outcome(pr: number): 'merged' | 'failed' | 'cancelled' | undefined {
    const end = this.facts.findLast(
      (fact) => 'pr' in fact && fact.pr === pr && ['merged', 'failed', 'cancelled'].includes(fact.kind),
    );
    return end?.kind as 'merged' | 'failed' | 'cancelled' | undefined;
  }

  merged(): number[] {
    return this.facts.flatMap((fact) => (fact.kind === 'merged' ? [fact.pr] : []));
  }
}
