// A plan in the making: a copy of the snapshot that the steps of the kernel change, with what they record and ask for.

import { assert } from '#base/assert.ts';
import type { FailedReason, QueuedReason } from '../reason.ts';
import { Lanes, type Targets } from './lane.ts';
import {
  type Action,
  type Composition,
  type Departure,
  type Evidence,
  type Fact,
  type Group,
  type Item,
  isActive,
  type Landing,
  type Place,
  type Run,
  type Search,
  type Snapshot,
} from './model.ts';

const restartReasons = {
  failed: 'PREREQUISITE_MERGE_ITEM_FAILED',
  cancelled: 'PREREQUISITE_MERGE_ITEM_CANCELLED',
  merged_by_hand: 'PREREQUISITE_MERGE_ITEM_MANUALLY_MERGED',
} as const satisfies Record<Departure, QueuedReason>;

/** A map that says how often it was changed, so that what was computed from it can be kept until it is. */
class CountedMap<Key, Value> extends Map<Key, Value> {
  changes = 0;

  constructor(entries: Iterable<readonly [Key, Value]>) {
    // Not handed on to Map, which would count before there is a counter.
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

export class Draft {
  state: Snapshot['state'];
  settings: Snapshot['settings'];
  readonly limits: Snapshot['limits'];
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
  readonly facts: Fact[] = [];
  readonly actions: Action[] = [];
  wakeAt: number | null = null;
  #lanes: { readonly line: Group[]; readonly mode: string; readonly lanes: Lanes } | undefined;

  constructor(snapshot: Snapshot, now: number) {
    this.state = snapshot.state;
    this.settings = snapshot.settings;
    this.limits = snapshot.limits;
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
  }

  snapshot(): Snapshot {
    const { state, settings, limits, switching, tip, items, line, searches, runs, landing, gone } = this;
    const { frozenAt, outageSince, nextId } = this;
    return {
      state,
      settings,
      limits,
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

  item(pr: number): Item {
    const item = this.items.get(pr);
    assert(item !== undefined, `#${pr} is live`);
    return item;
  }

  put(pr: number, place: Place): void {
    this.items.set(pr, { ...this.item(pr), place });
  }

  /** Time alone changes the plan at this instant. */
  wake(at: number): void {
    if (at > this.now && (this.wakeAt === null || at < this.wakeAt)) this.wakeAt = at;
  }

  /** Back to pending, where it keeps its seniority. */
  requeue(pr: number, reason: QueuedReason, how: { alone?: boolean; behind?: number } = {}): void {
    this.put(pr, {
      kind: 'pending',
      since: this.now,
      restarting: true,
      alone: how.alone ?? false,
      behind: how.behind ?? null,
    });
    this.facts.push({ kind: 'queued', pr, reason });
  }

  /** Takes an entry out for good. Whoever was tested with it begins anew; those on top of it are pruned. */
  leave(pr: number, departure: Departure): void {
    this.items.delete(pr);
    this.gone.set(pr, departure);
    const group = this.line.find(({ members }) => members.includes(pr));
    if (group !== undefined) this.dissolve(group, restartReasons[departure]);
  }

  fail(pr: number, reason: FailedReason, evidence: Evidence | null): void {
    this.facts.push({ kind: 'failed', pr, reason, evidence });
    this.leave(pr, 'failed');
  }

  startRun(of: Run['of'], composition: Composition, { attempt = 0, timeouts = 0 } = {}): Run {
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
  }

  /** The same composition once more, in place, because this run ended without a result. */
  repeatRun(run: Run): void {
    const { of, composition, attempt, status, timeouts } = run;
    this.dropRun(run);
    this.startRun(of, composition, {
      attempt: attempt + 1,
      timeouts: timeouts + (status === 'timed_out' ? 1 : 0),
    });
  }

  /** The same composition once more, in place, as soon as there is room; it counts as a first attempt. */
  runAgain(run: Run): void {
    this.dropRun(run);
    this.runs.set(run.id, {
      ...run,
      status: 'start_failed',
      attempt: -1,
      timeouts: 0,
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
   * Takes an entry that is no longer ready out of the line, where it keeps its seniority. Entries that were tested with it
   * or on top of it are tested again without it.
   */
  withdraw(pr: number): void {
    this.put(pr, { kind: 'not_ready' });
    this.facts.push({ kind: 'unready', pr });
    this.gone.set(pr, 'cancelled');
    const group = this.line.find(({ members }) => members.includes(pr));
    if (group !== undefined) this.dissolve(group, restartReasons.cancelled);
  }

  /** Ends a search: its runs are dropped. Where its members go is for the caller to say. */
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

  targetsOf(group: Group): Targets[] {
    return group.members.map((pr) => this.item(pr).targets);
  }

  /** The lanes of the line as it is. Computed once for as long as the line stays the same array. */
  lanes(): Lanes {
    if (this.#lanes?.line !== this.line || this.#lanes.mode !== this.settings.mode) {
      const targets = this.line.map((group) => this.targetsOf(group));
      this.#lanes = {
        line: this.line,
        mode: this.settings.mode,
        lanes: new Lanes(this.settings.mode, targets),
      };
    }
    return this.#lanes.lanes;
  }

  /** Puts a group at the end of the line and answers with the entries it depends on, in line order. */
  append(group: Group): number[] {
    const lanes = this.lanes();
    const ahead = lanes.append(this.targetsOf(group)).flatMap((index) => this.line[index]!.members);
    this.line = [...this.line, group];
    this.#lanes = { line: this.line, mode: this.settings.mode, lanes };
    return ahead;
  }

  isLanding(pr: number): boolean {
    return this.landing?.members.includes(pr) ?? false;
  }

  /** It is being put on the branch: nothing but the branch can say what becomes of it. */
  isProtected(group: Group): boolean {
    return this.landing !== null && group.members.some((pr) => this.isLanding(pr));
  }
}
