// Lanes: which entry depends on which. In single mode an entry depends on every entry ahead. In parallel mode
// it depends on every entry ahead that shares an impacted target, and on what those depend on, unless dependencies are
// direct (strategy.ts); `ALL` shares with every non-empty list, the empty list with none.
//
// Targets are numbered densely, so the last entry to hold each target fits an array, and one pass over a
// queue finds every direct dependency: of several earlier holders of a target only the last matters, because
// it depends on the others. If dependencies are direct (strategy.ts), every earlier holder matters.

import type { QueueSettings } from '../settings.ts';

/** Every target, or dense target numbers in rising order. */
export type Targets = 'ALL' | Uint32Array;

export const noTargets: Targets = new Uint32Array(0);

const none = -1;

/** The last entry to hold each target, by its index in the queue. */
class LastHolders {
  #holders = new Int32Array(1024).fill(none);

  of(target: number): number {
    return target < this.#holders.length ? this.#holders[target]! : none;
  }

  /**
   * The entry is from now on the last to hold these targets. Returns those that were, in no order. One pass reads and writes:
   * with millions of targets most of the time goes into reading memory.
   */
  replace(list: Uint32Array, index: number): ReadonlySet<number> {
    this.#grow(list.at(-1) ?? 0);
    const holders = this.#holders;
    const found = new Set<number>();
    // Neighboring targets often have the same holder.
    let previous = none;
    for (let at = 0; at < list.length; at++) {
      const target = list[at]!;
      const holder = holders[target]!;
      holders[target] = index;
      if (holder === previous || holder === none) continue;
      found.add(holder);
      previous = holder;
    }
    found.delete(index);
    return found;
  }

  #grow(largest: number): void {
    if (largest < this.#holders.length) return;
    const grown = new Int32Array(Math.max(largest + 1, this.#holders.length * 2)).fill(none);
    grown.set(this.#holders);
    this.#holders = grown;
  }
}

/** Walks a queue front to back and finds the direct dependencies of each entry. */
export class LaneWalk {
  readonly #parallel: boolean;
  readonly #holders = new LastHolders();
  /** The last entry to hold every target, and all entries with targets since then. */
  #barrier = none;
  #sinceBarrier: number[] = [];
  #last = none;

  constructor(mode: QueueSettings['mode']) {
    this.#parallel = mode === 'parallel';
  }

  /** The direct dependencies of the next entry with these targets, by index; does not add it to the queue. */
  dependencies(targets: readonly Targets[]): number[] {
    if (!this.#parallel) return this.#last === none ? [] : [this.#last];
    if (targets.includes('ALL'))
      return this.#barrier === none ? [...this.#sinceBarrier] : [this.#barrier, ...this.#sinceBarrier];
    const found = new Set<number>();
    for (const list of targets) {
      if (list === 'ALL' || list.length === 0) continue;
      if (this.#barrier !== none) found.add(this.#barrier);
      for (let at = 0; at < list.length; at++) {
        const holder = this.#holders.of(list[at]!);
        if (holder > this.#barrier) found.add(holder);
      }
    }
    return [...found];
  }

  /** Adds the entry to the queue at this index. */
  add(index: number, targets: readonly Targets[]): void {
    this.#last = index;
    if (!this.#parallel) return;
    if (targets.includes('ALL')) {
      this.#barrier = index;
      this.#sinceBarrier = [];
      return;
    }
    let holdsAny = false;
    for (const list of targets) {
      if (list === 'ALL' || list.length === 0) continue;
      holdsAny = true;
      this.#holders.replace(list, index);
    }
    // An entry without targets shares with no other entry, not even with one that holds every target.
    if (holdsAny) this.#sinceBarrier.push(index);
  }
}

/** Whether two sets of targets have one in common. Lists are sorted. */
export function share(a: Targets, b: Targets): boolean {
  if (a === 'ALL') return b === 'ALL' || b.length > 0;
  if (b === 'ALL') return a.length > 0;
  if (a.length === 0 || b.length === 0 || a.at(-1)! < b[0]! || b.at(-1)! < a[0]!) return false;
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    const difference = a[i]! - b[j]!;
    if (difference === 0) return true;
    if (difference < 0) i++;
    else j++;
  }
  return false;
}

/** A queue that grows at its end: for each entry, in order, all entries ahead that it depends on. */
export type LaneOrder = {
  readonly closed: readonly (readonly number[])[];
  /** Appends an entry and returns the indexes of all entries that it depends on, rising. */
  readonly append: (targets: readonly Targets[]) => readonly number[];
};

/** What an entry depends on, also through others. */
export class Lanes implements LaneOrder {
  readonly #walk: LaneWalk;
  /**
   * The dependencies of each entry as bits: uniting them is most of the work if many entries share targets.
   */
  readonly #bits: Uint32Array[] = [];
  readonly closed: number[][] = [];

  constructor(mode: QueueSettings['mode'], line: readonly (readonly Targets[])[]) {
    this.#walk = new LaneWalk(mode);
    for (const targets of line) this.append(targets);
  }

  append(targets: readonly Targets[]): readonly number[] {
    const index = this.closed.length;
    const bits = new Uint32Array((index >>> 5) + 1);
    for (const direct of this.#walk.dependencies(targets)) {
      const theirs = this.#bits[direct]!;
      for (let part = 0; part < theirs.length; part++) bits[part]! |= theirs[part]!;
      bits[direct >>> 5]! |= 1 << (direct & 31);
    }
    this.#walk.add(index, targets);
    this.#bits.push(bits);
    const closure = listSetBits(bits);
    this.closed.push(closure);
    return closure;
  }
}

/**
 * What shares a target with an entry. The earlier holders of a target are the last one and some of the entries that
 * it shares with, so few pairs are compared.
 */
export class DirectLanes implements LaneOrder {
  readonly #holders = new LastHolders();
  readonly #targets: (readonly Targets[])[] = [];
  /** Entries that hold every target, and entries that hold any. */
  readonly #everything: number[] = [];
  readonly #anything: number[] = [];
  readonly closed: (readonly number[])[] = [];

  constructor(line: readonly (readonly Targets[])[]) {
    for (const targets of line) this.append(targets);
  }

  append(targets: readonly Targets[]): readonly number[] {
    const index = this.closed.length;
    const sharing = this.#findSharing(targets, index);
    this.closed.push(sharing);
    this.#targets.push(targets);
    if (targets.every((list) => list.length === 0)) return sharing;
    this.#anything.push(index);
    if (targets.includes('ALL')) this.#everything.push(index);
    return sharing;
  }

  /** What the entry shares a target with; it becomes the last holder of its targets. */
  #findSharing(targets: readonly Targets[], index: number): readonly number[] {
    if (targets.every((list) => list.length === 0)) return [];
    if (targets.includes('ALL')) return [...this.#anything];
    const last = new Set<number>();
    for (const list of targets)
      if (list !== 'ALL') for (const holder of this.#holders.replace(list, index)) last.add(holder);
    const found = new Set([...this.#everything, ...last]);
    const apart = new Set<number>();
    for (const holder of last)
      for (const earlier of this.closed[holder]!) {
        if (found.has(earlier) || apart.has(earlier)) continue;
        (shareAny(targets, this.#targets[earlier]!) ? found : apart).add(earlier);
      }
    return [...found].toSorted((a, b) => a - b);
  }
}

const shareAny = (some: readonly Targets[], others: readonly Targets[]): boolean =>
  some.some((one) => others.some((other) => share(one, other)));

function listSetBits(bits: Uint32Array): number[] {
  const indexes: number[] = [];
  for (const [part, value] of bits.entries())
    for (let rest = value; rest !== 0; rest &= rest - 1)
      indexes.push((part << 5) + 31 - Math.clz32(rest & -rest));
  return indexes;
}
