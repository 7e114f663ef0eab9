// A planner with a branch, a CI and a host around it that are only as reliable as a test wants. The branch is kept here
// as the list of changes it really holds, and every landing is held against what CI really saw.
import { share, type Targets } from '#core/queue/planner/lane.ts';
import { findViolations, violationsOfStep } from '#core/queue/planner/invariant.ts';
import {
  type Action,
  type PlannerFact,
  isActive,
  type Landing,
  type Run,
  type Snapshot,
} from '#core/queue/planner/model.ts';
import type { PlannerEvent } from '#core/queue/planner/observe.ts';
import { plan } from '#core/queue/planner/plan.ts';
import { strategyFor } from '#core/queue/planner/strategies.ts';
import type { Strategy } from '#core/queue/planner/strategy.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import { overtaken } from './fairness.ts';
import { type Input, take, throughDatabase } from './reading.ts';
import { tell, tellFact } from './story.ts';
import { conflictIn, failingTests, type Truth } from './truth.ts';
import { emptySnapshot } from '#core/queue/planner/empty.ts';

export type Ending = Extract<PlannerFact, { kind: 'merged' | 'failed' | 'cancelled' }>;

const inOrder = (prs: readonly number[]) => prs.toSorted((a, b) => a - b);

const isEnding = (fact: PlannerFact): fact is Ending =>
  fact.kind === 'merged' || fact.kind === 'failed' || fact.kind === 'cancelled';

export class Simulated {
  snapshot: Snapshot;
  now = 0;
  wakeAt: number | null = null;
  readonly truth: Truth;
  /** What the branch really holds, and what it held at each tip. */
  branch: number[] = [];
  tip = 'T';
  readonly #held = new Map<string, readonly number[]>([['T', []]]);
  readonly #targets = new Map<number, Targets>();
  /** What each run really tested, and what CI will say. */
  readonly tested = new Map<number, readonly number[]>();
  readonly answers = new Map<number, PlannerEvent>();
  /** The runs of all tests that passed. */
  readonly #passed = new Set<number>();
  /** The runs whose results the queue has, by what they tested. */
  readonly #results = new Map<string, number>();
  /** The landing that the host is at. */
  inFlight: { readonly landing: Landing; readonly base: string } | null = null;
  readonly endings = new Map<number, Ending>();
  /** When somebody was first under test. */
  readonly begun = new Map<number, number>();
  /** What the branch held when somebody failed. */
  readonly failedOn = new Map<number, readonly number[]>();
  readonly story: string[] = [];
  #toldAt = 0;
  /** Undefined: the one that the settings choose. */
  strategy: Strategy | undefined;
  /** Whether the reports of CI name the tests that failed. */
  namesTests = false;
  /** Whether CI lies about the next run. */
  lies: () => boolean = () => false;
  /** Whether what was read was put into a plan. */
  planned = true;
  /** Whether the queue had parallel lanes at some time. */
  #hadLanes = false;

  constructor(settings: Partial<QueueSettings>, truth: Truth) {
    this.snapshot = emptySnapshot({ strategy: 'manual', ...settings }, 'T');
    this.truth = truth;
  }

  /** Takes an event in, and plans at once unless more is to come first. */
  send(event: Input | null, plansNow = true): void {
    this.note(event === null ? 'a look, though nothing was heard' : tell(event, this.snapshot));
    if (event !== null) {
      this.#begin();
      if (event.kind === 'submitted') this.#targets.set(event.item.pr, event.item.targets);
      if (event.kind === 'run-passed' || event.kind === 'run-failed') this.#learn(event.run);
      if (event.kind === 'run-passed' && this.snapshot.runs.get(event.run)?.tests === undefined)
        this.#passed.add(event.run);
      const before = this.snapshot;
      const observed = take(before, event, this.now, this.strategy);
      this.#demand(violationsOfStep(before, observed, this.strategy));
      this.#take(observed);
      this.planned = false;
    }
    if (plansNow) this.plan();
  }

  /** Between two evaluations there is only what the database keeps. */
  #begin(): void {
    if (this.planned) this.snapshot = throughDatabase(this.snapshot);
  }

  /** Goes on with the story. */
  note(line: string): void {
    if (this.now !== this.#toldAt) this.story.push(`--- after ${Number((this.now / 60_000).toFixed(2))} min`);
    this.#toldAt = this.now;
    this.story.push(line);
  }

  /** What happened, without the queue hearing of it. */
  lose(event: Input): void {
    this.note(`(unheard) ${tell(event, this.snapshot)}`);
  }

  plan(): void {
    this.#begin();
    const before = this.snapshot;
    this.#hadLanes ||= before.settings.mode === 'parallel';
    const planned = plan(before, this.now, this.strategy);
    this.#demand(violationsOfStep(before, planned, this.strategy));
    this.#take(planned);
    this.#demand(overtaken(before, planned.snapshot, this.now));
    this.wakeAt = planned.wakeAt;
    this.planned = true;
    this.#demand(findViolations(this.snapshot));
    this.#demand(this.#unproved());
    const again = plan(this.snapshot, this.now, this.strategy);
    for (const fact of again.facts) this.#demand([`a second look adds: ${tellFact(fact)}`]);
    for (const action of again.actions) this.#demand([`a second look asks for: ${JSON.stringify(action)}`]);
    if (again.wakeAt !== null && again.wakeAt < (planned.wakeAt ?? Infinity))
      this.#demand([
        `time alone changes the plan at ${again.wakeAt}, and it is to wake at ${planned.wakeAt}`,
      ]);
  }

  /** The branch moves, by somebody else or by a merge by hand. */
  push(content: readonly number[]): string {
    this.tip = `B${this.#held.size}`;
    this.branch = [...this.branch, ...content];
    this.#held.set(this.tip, this.branch);
    return this.tip;
  }

  /** The host ends the landing that it is at: it compares and swaps. */
  concludeLanding(): PlannerEvent | null {
    const { landing, base } = this.inFlight!;
    this.inFlight = null;
    // Given up by the queue meanwhile, because somebody merged a part of it by hand.
    if (this.snapshot.landing?.id !== landing.id) return null;
    if (base !== this.tip) return { kind: 'landing-lost', landing: landing.id, tip: this.tip };
    this.#demand(this.#wrongfullyLanded(landing));
    return { kind: 'landed', landing: landing.id, tip: this.push(landing.members) };
  }

  #take({
    snapshot,
    facts,
    actions,
  }: {
    snapshot: Snapshot;
    facts: readonly PlannerFact[];
    actions: readonly Action[];
  }) {
    const before = this.snapshot;
    this.snapshot = snapshot;
    for (const fact of facts) {
      this.story.push(`    ${tellFact(fact)}`);
      if (fact.kind === 'testing' && !this.begun.has(fact.pr)) this.begun.set(fact.pr, this.now);
      if (!isEnding(fact)) continue;
      if (!before.items.has(fact.pr)) this.#demand([`#${fact.pr} ends (${fact.kind}) without being there`]);
      this.endings.set(fact.pr, fact);
      if (fact.kind === 'failed') this.failedOn.set(fact.pr, this.branch);
      if (fact.kind === 'failed') this.#demand(this.#wronglyBlamed(fact));
    }
    const ended = facts.filter(isEnding).map((fact) => fact.pr);
    const vanished = [...before.items.keys()].filter((pr) => !snapshot.items.has(pr));
    if (inOrder(ended).join() !== inOrder(vanished).join())
      this.#demand([`${vanished.join()} left the queue, and ${ended.join()} ended`]);
    for (const action of actions) this.#perform(action);
  }

  #perform(action: Action): void {
    if (action.kind === 'cancel-run') this.answers.delete(action.run);
    if (action.kind === 'land') this.inFlight = { landing: action.landing, base: action.base };
    if (action.kind !== 'start-run') return;
    const { id, composition, tests } = action.run;
    const base = this.#held.get(composition.base)!;
    const content = [...base, ...composition.members];
    this.#demand(this.#redundant(action.run, content));
    this.tested.set(id, content);
    const conflict = conflictIn(this.truth, base, composition.members);
    this.answers.set(
      id,
      conflict === null ? this.#answer(id, content, tests) : { kind: 'conflict', run: id, ...conflict },
    );
  }

  /** What CI says about a run of these tests, or of all. If it lies, it says the opposite. */
  #answer(run: number, content: readonly number[], asked: readonly string[] | undefined): PlannerEvent {
    const failing = failingTests(this.truth, content);
    const broken = asked === undefined ? failing : failing.filter((test) => asked.includes(test));
    if ((broken.length === 0) !== this.lies()) return { kind: 'run-passed', run };
    const tests = broken.length > 0 ? broken : [asked?.[0] ?? 'flaky'];
    return { kind: 'run-failed', run, ...(this.namesTests ? { tests } : {}) };
  }

  /** What CI said of a run that the queue still wanted to know about. */
  #learn(id: number): void {
    const run = this.snapshot.runs.get(id);
    if (run !== undefined && isActive(run)) this.#results.set(this.tested.get(id)!.join(), id);
  }

  /** A queue that reuses known results does not search for what the batch's run in the line, or the search, has shown. */
  *#redundant({ id, of, attempt, composition }: Run, content: readonly number[]): Generator<string> {
    const { settings, searches } = this.snapshot;
    // Strategies that screen, or whose dependencies are direct, ask twice before they believe a failure.
    const { screens, hasDirectDependencies } = this.strategy ?? strategyFor(settings);
    if (screens || hasDirectDependencies) return;
    if (settings.optimizationMode === 'off' || of.kind !== 'search' || attempt > 0) return;
    const known = this.#results.get(content.join());
    if (known === undefined) return;
    // What landed after the failure of its batch may be the same as what that failure assumed, by another way.
    const isWhole = searches.some(
      ({ id: search, members }) =>
        search === of.search && members.length > 1 && members.length === composition.members.length,
    );
    // Numbers rise: a run that is younger than the search is the search's. What another search showed is forgotten.
    if (isWhole || known > of.search)
      yield `run ${id} tests ${content.join()} again, which run ${known} has shown`;
  }

  /** A run that the queue holds to be about the tip really tested what the branch would be. */
  *#unproved(): Generator<string> {
    const { runs, tip } = this.snapshot;
    const held = this.#held.get(tip)!;
    if (this.snapshot.frozenAt !== null) return;
    for (const { id, of, composition, drifted } of runs.values()) {
      if (of.kind !== 'line' || drifted) continue;
      const tested = this.tested.get(id)!;
      if (tested.join() !== [...held, ...composition.members].join())
        yield `run ${id} tested ${tested.join()}, and is held to be about ${held.join()} with ${composition.members.join()}`;
    }
  }

  *#wrongfullyLanded({ members, proof }: Landing): Generator<string> {
    const content = [...this.branch, ...members];
    if (proof.kind === 'direct') return;
    const tested = this.tested.get(proof.run)!;
    if (!this.#passed.has(proof.run)) yield `${members.join()} lands, but CI never passed run ${proof.run}`;
    if (proof.kind === 'exact') {
      if (tested.join() !== content.join()) yield `${content.join()} lands, but ${tested.join()} was tested`;
      return;
    }
    const own = members.map((pr) => this.snapshot.items.get(pr)!.targets);
    for (const pr of content)
      if (!tested.includes(pr) && own.some((targets) => share(targets, this.#targets.get(pr)!)))
        yield `${members.join()} lands as a lane, but was not tested with #${pr}, which shares a target`;
    for (const pr of tested)
      if (!content.includes(pr)) yield `${members.join()} lands, but was tested with #${pr}`;
  }

  /** The failed run tested the change alone, on a state that the branch had. */
  *#wronglyBlamed({ pr, evidence }: Extract<PlannerFact, { kind: 'failed' }>): Generator<string> {
    if (evidence === null) return;
    const tested = this.tested.get(evidence.failedRun)!;
    if (this.#passed.has(evidence.failedRun)) yield `#${pr} failed by a run that passed`;
    if (tested.at(-1) !== pr) yield `#${pr} failed by a run of ${tested.join()}`;
    const without = tested.slice(0, -1);
    // In lanes the entries that it was tested on may have landed in another order, and with others between them.
    const isBranch = this.#hadLanes
      ? without.every((other) => this.branch.includes(other))
      : without.every((other, index) => other === this.branch[index]);
    if (!isBranch) yield `#${pr} failed on top of ${without.join()}, and the branch is ${this.branch.join()}`;
  }

  #demand(violations: Iterable<string>): void {
    const wrong = [...violations];
    if (wrong.length > 0) throw new Error(`${wrong.join('\n')}\n\n${this.story.join('\n')}`);
  }
}
