// A plan being made: a copy of the snapshot that the planner's steps change, with their facts and actions.

import { assert } from '#base/assert.ts';
import type { FailedReason, QueuedReason } from '../reason.ts';
import { DirectLanes, type LaneOrder, Lanes, share, type Targets } from './lane.ts';
import {
  type Action,
  type Composition,
  type Departure,
  type Evidence,
  type Findings,
  type PlannerFact,
  type Group,
  type Item,
  isActive,
  type Landing,
  type QueuePosition,
  type Run,
  withoutRerun,
  type ScreenResult,
  type Search,
  sameMembers,
  type Snapshot,
} from './model.ts';
import { isDirect, sharesSlots, type StrategyRules } from './strategy.ts';

const restartReasons = {
  failed: 'PREREQUISITE_MERGE_ITEM_FAILED',
  cancelled: 'PREREQUISITE_MERGE_ITEM_CANCELLED',
  merged_by_hand: 'PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED',
} as const satisfies Record<Departure, QueuedReason>;

const noFindings: Findings = { passed: false, passedWith: [], failedBehind: [] };

/** A map that counts its changes, so that what was computed from it can be kept until the next change. */
class CountedMap<Key, Value> extends Map<Key, Value> {
  changes = 0;

  constructor(entries: Iterable<readonly [Key, Value]>) {
    // Not passed to Map, which would count before the counter exists.
    super();
    for (const [key, value] of entries) super.set(key, value);
  }

  override set(key: Key, value: Value): this {
    this.changes++;
    return super.set(key, value);
  }

  override delete(key: Key): boolean {
    this.changes++;
    return super.delete(key);
  }
}

/** What a repeated run keeps of the one before. */
type RunStart = Partial<Pick<Run, 'attempt' | 'timeouts' | 'flakes' | 'tests'>>;

/** Where the entry is pending: the same as in its place. */
type RequeueOptions = { alone?: boolean; behind?: number; failedTogether?: true };

export class Draft {
  state: Snapshot['state'];
  settings: Snapshot['settings'];
  readonly limits: Snapshot['limits'];
  readonly failureShare: Snapshot['failureShare'];
  readonly flakeShare: Snapshot['flakeShare'];
  switching: Snapshot['switching'];
  tip: Snapshot['tip'];
  readonly items: Map<number, Item>;
  line: Group[];
  searches: Search[];
  readonly runs: CountedMap<number, Run>;
  landing: Landing | null;
  readonly gone: Map<number, Departure>;
  frozenAt: number | null;
  outageSince: number | null;
  nextId: number;
  readonly now: number;
  readonly facts: PlannerFact[] = [];
  readonly actions: Action[] = [];
  wakeAt: number | null = null;
  #strategy: StrategyRules;
  #lanes: { readonly line: Group[]; readonly mode: string; readonly lanes: LaneOrder } | undefined;

  constructor(snapshot: Snapshot, now: number, strategy: StrategyRules = { screens: false }) {
    this.state = snapshot.state;
    this.settings = snapshot.settings;
    this.limits = snapshot.limits;
    this.failureShare = snapshot.failureShare;
    this.flakeShare = snapshot.flakeShare;
    this.switching = snapshot.switching;
    this.tip = snapshot.tip;
    this.items = new Map(snapshot.items);
    this.line = [...snapshot.line];
    this.searches = [...snapshot.searches];
    this.runs = new CountedMap(snapshot.runs);
    this.landing = snapshot.landing;
    this.gone = new Map(snapshot.gone);
    this.frozenAt = snapshot.frozenAt;
    this.outageSince = snapshot.outageSince;
    this.nextId = snapshot.nextId;
    this.now = now;
    this.#strategy = strategy;
  }

  snapshot(): Snapshot {
    const { state, settings, limits, switching, tip, items, line, searches, runs, landing, gone } = this;
    const { failureShare, flakeShare, frozenAt, outageSince, nextId } = this;
    return {
      state,
      settings,
      limits,
      failureShare,
      flakeShare,
      switching,
      tip,
      items,
      line,
      searches,
      runs,
      landing,
      gone,
      frozenAt,
      outageSince,
      nextId,
    };
  }

  /** The queue has another mode now, and with it another strategy. */
  useStrategy(strategy: StrategyRules): void {
    this.#strategy = strategy;
  }

  /** Whether the strategy screens (strategy.ts). */
  get screens(): boolean {
    return this.#strategy.screens;
  }

  /** Whether dependencies are direct (strategy.ts). */
  get direct(): boolean {
    return isDirect(this.#strategy, this.settings);
  }

  /** Whether all runs share one budget of slots. */
  get sharesSlots(): boolean {
    return sharesSlots(this.#strategy, this.settings);
  }

  item(pr: number): Item {
    const item = this.items.get(pr);
    assert(item !== undefined, `#${pr} is live`);
    return item;
  }

  put(pr: number, place: QueuePosition): void {
    this.items.set(pr, { ...this.item(pr), place });
  }

  setScreen(pr: number, next: Readonly<Record<ScreenResult, ScreenResult>>): void {
    const item = this.item(pr);
    this.items.set(pr, { ...item, screen: next[item.screen] });
  }

  /** Time alone changes the plan at this instant. */
  wake(at: number): void {
    if (at > this.now && (this.wakeAt === null || at < this.wakeAt)) this.wakeAt = at;
  }

  /** Moves the entry back to pending, where it keeps its seniority. */
  requeue(pr: number, reason: QueuedReason, how: RequeueOptions = {}): void {
    this.put(pr, {
      kind: 'pending',
      since: this.now,
      restarting: true,
      alone: how.alone ?? false,
      behind: how.behind ?? null,
      ...(how.failedTogether === true ? { failedTogether: true } : {}),
    });
    this.facts.push({ kind: 'queued', pr, reason });
  }

  /** Removes an entry for good. Entries tested in its group restart; runs on top of it are pruned. */
  leave(pr: number, departure: Departure): void {
    this.items.delete(pr);
    this.gone.set(pr, departure);
    const group = this.line.find(({ members }) => members.includes(pr));
    if (group !== undefined) this.dissolve(group, restartReasons[departure]);
  }

  fail(pr: number, reason: FailedReason, evidence: Evidence | null): void {
    this.facts.push({ kind: 'failed', pr, reason, evidence });
    this.leave(pr, 'failed');
    if (this.direct) this.#explainFailures(pr);
  }

  startRun(
    of: Run['of'],
    composition: Composition,
    { attempt = 0, timeouts = 0, flakes = 0, tests }: RunStart = {},
  ): Run {
    const run: Run = {
      id: this.nextId++,
      of,
      composition,
      status: 'starting',
      requestedAt: this.now,
      pushedAt: null,
      startedAt: null,
      attempt,
      timeouts,
      ...(flakes === 0 ? {} : { flakes }),
      ...(tests === undefined ? {} : { tests }),
      notBefore: this.now,
      drifted: false,
      why: null,
      overtaken: false,
    };
    this.runs.set(run.id, run);
    this.actions.push({ kind: 'start-run', run });
    return run;
  }

  dropRun(run: Run): void {
    this.runs.delete(run.id);
    if (isActive(run)) this.actions.push({ kind: 'cancel-run', run: run.id });
    else if (this.direct) this.#remember(run);
  }

  /** Keeps what a run has shown about the entries that it tested. */
  #remember({ status, why, tests, composition: { members, tested } }: Run): void {
    // A run of some tests says nothing about the others.
    if (tests !== undefined) return;
    if (status !== 'passed' && (status !== 'failed' || why !== null)) return;
    const ahead = members.slice(0, members.length - tested);
    for (const pr of members.slice(-tested)) {
      const item = this.items.get(pr);
      if (item === undefined) continue;
      const known = item.findings ?? noFindings;
      const findings = status === 'passed' ? this.#afterPass(known, ahead) : this.#afterFailure(known, ahead);
      if (findings !== known) this.items.set(pr, { ...item, findings });
    }
  }

  #afterPass({ passedWith, ...known }: Findings, ahead: readonly number[]): Findings {
    const others = [...passedWith, ...ahead].filter((pr) => this.items.has(pr));
    return { ...known, passed: true, passedWith: [...new Set(others)].toSorted((a, b) => a - b) };
  }

  /** A failure on the branch itself is followed by a removal or a test alone; one with an entry that failed is explained. */
  #afterFailure(known: Findings, ahead: readonly number[]): Findings {
    const isExplained = ahead.length === 0 || ahead.some((pr) => this.gone.get(pr) === 'failed');
    if (isExplained || known.failedBehind.some((other) => sameMembers(other, ahead))) return known;
    return { ...known, failedBehind: [...known.failedBehind, ahead] };
  }

  /** Counts an entry that lands for those that share a target with it and did not pass together with it. */
  countUntestedLanding(landed: number): void {
    if (!this.direct) return;
    const { targets } = this.item(landed);
    const passedWith = new Set<number>();
    for (const { status, tests, composition } of this.runs.values())
      if (status === 'passed' && tests === undefined && composition.members.includes(landed))
        for (const pr of composition.members.slice(-composition.tested)) passedWith.add(pr);
    for (const item of this.items.values()) {
      // The first run of an entry that never had one is on top of what landed.
      if (item.place.kind !== 'line' && item.place.kind !== 'search' && item.findings === undefined) continue;
      if (item.pr === landed || passedWith.has(item.pr) || !share(item.targets, targets)) continue;
      const findings = item.findings ?? noFindings;
      if (findings.passedWith.includes(landed)) continue;
      this.items.set(item.pr, {
        ...item,
        findings: { ...findings, untestedLandings: (findings.untestedLandings ?? 0) + 1 },
      });
    }
  }

  /** Failed runs that assumed this entry are explained by its failure. */
  #explainFailures(pr: number): void {
    for (const item of this.items.values()) {
      const { findings } = item;
      if (findings?.failedBehind.some((ahead) => ahead.includes(pr)) !== true) continue;
      const failedBehind = findings.failedBehind.filter((ahead) => !ahead.includes(pr));
      this.items.set(item.pr, { ...item, findings: { ...findings, failedBehind } });
    }
  }

  /** Runs the same composition once more, in place, because this run ended without a result. */
  repeatRun(run: Run): void {
    const { of, composition, attempt, status, timeouts, flakes = 0, tests } = run;
    this.dropRun(run);
    this.startRun(of, composition, {
      attempt: attempt + 1,
      timeouts: timeouts + (status === 'timed_out' ? 1 : 0),
      flakes,
      ...(tests === undefined ? {} : { tests }),
    });
  }

  /** Runs the same composition once more, in place, once a slot is free; it counts as a first attempt. */
  runAgain(run: Run): void {
    const { failedTests: _, ...again } = withoutRerun(run);
    this.dropRun(run);
    this.runs.set(run.id, {
      ...again,
      status: 'start_failed',
      attempt: -1,
      timeouts: 0,
      flakes: 0,
      why: null,
      notBefore: this.now,
    });
  }

  /** Ends a group: its runs are dropped and its members are pending again. */
  dissolve(group: Group, reason: QueuedReason, how: { alone?: boolean } = {}): void {
    this.line = this.line.filter((other) => other.id !== group.id);
    for (const run of this.runsOf(group)) this.dropRun(run);
    for (const pr of group.members)
      if (this.items.get(pr)?.place.kind === 'line') this.requeue(pr, reason, how);
  }

  /**
   * Takes an entry that is no longer ready out of the line; it keeps its seniority. Entries that were tested
   * with it or on top of it are tested again without it.
   */
  withdraw(pr: number): void {
    this.put(pr, { kind: 'not_ready' });
    this.facts.push({ kind: 'unready', pr });
    this.gone.set(pr, 'cancelled');
    const group = this.line.find(({ members }) => members.includes(pr));
    if (group !== undefined) this.dissolve(group, restartReasons.cancelled);
  }

  /** Ends a bisection: its runs are dropped. The caller decides where its members go. */
  dropSearch(search: Search): void {
    this.searches = this.searches.filter((other) => other.id !== search.id);
    for (const run of this.runsOfSearch(search)) this.dropRun(run);
  }

  runsOf(group: Group): Run[] {
    return [...this.runs.values()].filter((run) => run.of.kind === 'line' && run.of.group === group.id);
  }

  runsOfSearch(search: Search): Run[] {
    return [...this.runs.values()].filter((run) => run.of.kind === 'search' && run.of.search === search.id);
  }

  activeRuns(kind: Run['of']['kind']): number {
    let count = 0;
    for (const run of this.runs.values()) if (run.of.kind === kind && isActive(run)) count++;
    return count;
  }

  /** Runs of this kind that may be started now. */
  freeSlots(kind: Run['of']['kind']): number {
    const { concurrency, bisectionConcurrency } = this.settings;
    if (this.sharesSlots) return concurrency - this.activeRuns('line') - this.activeRuns('search');
    return (kind === 'line' ? concurrency : bisectionConcurrency || concurrency) - this.activeRuns(kind);
  }

  targetsOf(group: Group): Targets[] {
    return group.members.map((pr) => this.item(pr).targets);
  }

  /** The lanes of the current line. Computed once for as long as the line stays the same array. */
  lanes(): LaneOrder {
    if (this.#lanes?.line !== this.line || this.#lanes.mode !== this.settings.mode) {
      const targets = this.line.map((group) => this.targetsOf(group));
      this.#lanes = {
        line: this.line,
        mode: this.settings.mode,
        lanes: this.direct ? new DirectLanes(targets) : new Lanes(this.settings.mode, targets),
      };
    }
    return this.#lanes.lanes;
  }

  /** Appends groups to the line and returns the entries that the last of them depends on, in the order of the line. */
  append(...groups: readonly Group[]): number[] {
    const lanes = this.lanes();
    for (const group of groups) lanes.append(this.targetsOf(group));
    this.line = [...this.line, ...groups];
    this.#lanes = { line: this.line, mode: this.settings.mode, lanes };
    return lanes.closed.at(-1)?.flatMap((index) => this.line[index]!.members) ?? [];
  }

  isLanding(pr: number): boolean {
    return this.landing?.members.includes(pr) ?? false;
  }

  /** The group is landing: only the branch shows how that ends. */
  isProtected(group: Group): boolean {
    return this.landing !== null && group.members.some((pr) => this.isLanding(pr));
  }
}
