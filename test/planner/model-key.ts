// The canonical key of a state: two states with the same key have the same future. Groups, searches and runs are told
// apart by where they stand, a base is the tip or it is not, and times are relative to now. What nothing will ever look
// at again is left out. Of the history that the planner does not keep, what the demands look at is part of the key.
// A key is 64 bits of hash: among ten million states the odds that any two share one are about one to 400,000.
import type { Targets } from '#core/queue/planner/lane.ts';
import {
  type Findings,
  isActive,
  type Item,
  type Landing,
  type QueuePosition,
  type Run,
  type Search,
  type Snapshot,
} from '#core/queue/planner/model.ts';
import { ageingMs } from '#core/queue/planner/order.ts';
import { driftOf, type History } from './model-history.ts';

const states = { RUNNING: 0, PAUSED: 1, DRAINING: 2, SWITCHING_MODES: 3 } as const satisfies Codes<
  Snapshot['state']
>;
const modes = { single: 1, parallel: 2 } as const satisfies Codes<Snapshot['settings']['mode']>;
const places = { not_ready: 0, pending: 1, line: 2, search: 3 } as const satisfies Codes<
  QueuePosition['kind']
>;
const shown = { testing: 0, tests_passed: 1, pending_failure: 2, pending: 3 } as const;
const statuses = {
  starting: 0,
  running: 1,
  passed: 2,
  failed: 3,
  timed_out: 4,
  start_failed: 5,
  infrastructure: 6,
} as const satisfies Codes<Run['status']>;
const screens = { none: 0, passed: 1, doubted: 2, confirmed: 3 } as const satisfies Codes<Item['screen']>;
const proofs = { exact: 1, lane: 2, direct: 3 } as const satisfies Codes<Landing['proof']['kind']>;

type Codes<Name extends string> = Record<Name, number>;

/** A key in the making: two murmur hashes of the numbers that are put into it, with different constants. */
export class Key {
  low = 0;
  high = 0;
  readonly #ignoresFindings: boolean;

  constructor(ignoresFindings = false) {
    this.#ignoresFindings = ignoresFindings;
  }

  /** Begins the key of this state; `submitted` of the entries of its world are in it or were. */
  of(snapshot: Snapshot, now: number, submitted: number, history: History): this {
    this.low = 0x9747b28c;
    this.high = 0x1b873593;
    this.#addQueue(snapshot, now);
    this.#add(submitted);
    for (let pr = 1; pr <= submitted; pr++) {
      const item = snapshot.items.get(pr);
      this.#add((item === undefined ? 0 : 1) + (snapshot.gone.has(pr) ? 2 : 0));
      if (item !== undefined) this.#addItem(item, snapshot, now);
    }
    for (const group of snapshot.line) {
      this.#addNumbers(group.members);
      // Runs on different paths: which was started first makes no difference.
      for (const run of runsOf(snapshot, group.id)) this.#addRun(run, snapshot.tip, now, snapshot, history);
    }
    for (const search of snapshot.searches) this.#addSearch(search, snapshot, now, history);
    this.#addLanding(snapshot.landing, history);
    return this;
  }

  #add(value: number): void {
    const low = this.low ^ Math.imul(rotated(Math.imul(value, 0xcc9e2d51), 15), 0x1b873593);
    const high = this.high ^ Math.imul(rotated(Math.imul(value, 0x239b961b), 16), 0xab0e9789);
    this.low = (Math.imul(rotated(low, 13), 5) + 0xe6546b64) | 0;
    this.high = (Math.imul(rotated(high, 17), 5) + 0x561ccd1b + this.low) | 0;
  }

  #addFlags(a: boolean, b = false, c = false, d = false): void {
    this.#add((a ? 1 : 0) + (b ? 2 : 0) + (c ? 4 : 0) + (d ? 8 : 0));
  }

  #addNumbers(numbers: ArrayLike<number>): void {
    this.#add(numbers.length);
    for (let at = 0; at < numbers.length; at++) this.#add(numbers[at]!);
  }

  /** The tests of a model have names of one letter. */
  #addTests(tests: readonly string[] | undefined): void {
    if (tests !== undefined) this.#addNumbers(tests.map((name) => name.codePointAt(0)!));
    else this.#add(-1);
  }

  #addTargets(targets: Targets | null): void {
    if (targets === null || targets === 'ALL') this.#add(targets === null ? -2 : -1);
    else this.#addNumbers(targets);
  }

  #addQueue({ state, switching, settings, frozenAt, outageSince }: Snapshot, now: number): void {
    this.#add(states[state]);
    this.#add(switching === null ? -1 : modes[switching.mode] * 8 + states[switching.returnTo]);
    this.#add(modes[settings.mode]);
    this.#addFlags(settings.canOptimisticallyMerge, outageSince !== null);
    this.#add(frozenAt === null ? -1 : now - frozenAt);
  }

  #addItem(item: Item, { tip, settings, items }: Snapshot, now: number): void {
    const { place, ready, noBatch, endRequested, testedOnTip } = item;
    const isDirect = settings.directMergeMode !== 'off' && testedOnTip === tip;
    this.#addFlags(ready, noBatch, endRequested !== null, isDirect);
    this.#add(item.priority);
    this.#add(Math.min(now - item.submittedAt, ageingMs));
    this.#addTargets(item.targets);
    this.#add(places[place.kind] * 4 + screens[item.screen]);
    if (place.kind === 'pending') {
      this.#addFlags(place.restarting, place.alone);
      this.#add(place.behind ?? 0);
      if (!place.restarting) this.#add(now - place.since);
    } else if (place.kind === 'line') this.#add(shown[place.shown]);
    if (!this.#ignoresFindings) {
      if (item.findings !== undefined) this.#addFindings(item.findings, items);
      if (item.expectedMs !== undefined) this.#add(item.expectedMs);
    }
    // Patience is with those that never were ready.
    if (settings.notReadyTimeoutHours > 0) this.#add(item.queuedAt === null ? now - item.patienceFrom : -1);
  }

  /** Entries that have left explain nothing any more, and the order in which runs failed makes no difference. */
  #addFindings(
    { passed, passedWith, failedBehind, untestedLandings = 0 }: Findings,
    items: Snapshot['items'],
  ): void {
    const isLive = (pr: number) => items.has(pr);
    this.#addFlags(passed);
    this.#add(untestedLandings);
    this.#addNumbers(passedWith.filter(isLive));
    const failed = new Set(failedBehind.map((ahead) => ahead.filter(isLive).join()));
    for (const ahead of [...failed].toSorted()) this.#addNumbers(ahead.split(',').map(Number));
  }

  #addRun(run: Run, tip: string, now: number, snapshot: Snapshot, history: History): void {
    const { composition, status, drifted, overtaken } = run;
    this.#addNumbers(composition.members);
    this.#add(composition.tested * 8 + statuses[status]);
    this.#addFlags(composition.base === tip, drifted, overtaken, run.pushedAt !== null);
    if (status === 'starting' || status === 'running')
      this.#add(now - (run.startedAt ?? run.pushedAt ?? run.requestedAt));
    else if (status !== 'passed' && status !== 'failed') this.#add(Math.max(-1, run.notBefore - now));
    if (status !== 'passed' && status !== 'failed') this.#add(run.attempt * 4 + run.timeouts);
    // A failed run hands them on to the next run of its commits.
    if (status !== 'passed') this.#add(run.flakes ?? 0);
    if (isActive(run)) this.#addFlags(run.rerun !== undefined);
    this.#addTests(run.tests);
    this.#addTests(run.failedTests);
    if (!drifted) return;
    const { untested, absent } = driftOf(snapshot, run, history);
    for (const pr of untested) {
      this.#add(pr);
      this.#addTargets(history.left.get(pr) ?? null);
    }
    this.#addNumbers(absent);
  }

  #addSearch(search: Search, snapshot: Snapshot, now: number, history: History): void {
    const { base, members, passes, fails, failedRun } = search;
    this.#addNumbers(members);
    this.#addFlags(base === snapshot.tip, failedRun === null);
    this.#add(passes);
    this.#add(fails);
    this.#addTests(search.tests);
    // Its runs are told apart by their length: which was started first makes no difference.
    const own = [...snapshot.runs.values()].filter(
      ({ of }) => of.kind === 'search' && of.search === search.id,
    );
    for (const run of own.toSorted(
      (a, b) => a.composition.members.length - b.composition.members.length || a.id - b.id,
    ))
      this.#addRun(run, base, now, snapshot, history);
  }

  #addLanding(landing: Landing | null, { intended }: History): void {
    this.#add(landing === null ? 0 : proofs[landing.proof.kind]);
    if (landing === null) return;
    this.#addNumbers(landing.members);
    if (landing.proof.kind === 'lane' && intended?.landing === landing)
      for (const targets of intended.targets) this.#addTargets(targets);
  }
}

function runsOf({ runs }: Snapshot, group: number): Run[] {
  const own = [...runs.values()].filter(({ of }) => of.kind === 'line' && of.group === group);
  if (own.length < 2) return own;
  const path = ({ composition: { members } }: Run) => members.join();
  return own.toSorted((a, b) => (path(a) < path(b) ? -1 : path(a) > path(b) ? 1 : a.id - b.id));
}

const rotated = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

/** The keys that were seen, as an open hash table: a Set of numbers would take several times the memory and time. */
export class Seen {
  size = 0;
  #mask = (1 << 16) - 1;
  /** Both halves of each key beside each other; an empty place is 0, 0. */
  #places = new Int32Array(2 << 16);

  /** Answers whether the key was new. */
  add({ low, high }: Key): boolean {
    if (!this.#put(low, high | 1)) return false;
    this.size++;
    if (this.size * 2 > this.#mask) this.#grow();
    return true;
  }

  #put(low: number, high: number): boolean {
    const places = this.#places;
    for (let at = low & this.#mask; ; at = (at + 1) & this.#mask) {
      const there = places[at * 2 + 1]!;
      if (there === high && places[at * 2] === low) return false;
      if (there !== 0) continue;
      places[at * 2] = low;
      places[at * 2 + 1] = high;
      return true;
    }
  }

  #grow(): void {
    const before = this.#places;
    this.#mask = this.#mask * 2 + 1;
    this.#places = new Int32Array(before.length * 2);
    for (let at = 0; at < before.length; at += 2)
      if (before[at + 1] !== 0) this.#put(before[at]!, before[at + 1]!);
  }
}
