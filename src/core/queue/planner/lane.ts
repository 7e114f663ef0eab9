// Lanes: who depends on whom. In single mode on everybody ahead. In parallel mode on everybody ahead who shares an
// impacted target, transitively; `ALL` shares with everybody, the empty list with nobody.
//
// Targets are numbered densely, so the last one to hold each target fits an array, and one pass over a line finds every
// direct dependency: of several earlier holders of a target only the last matters, because it depends on the others.

import type { QueueSettings } from '../settings.ts';

/** Every target, or dense target numbers in rising order. */
export type Targets = 'ALL' | Uint32Array;

export const noTargets: Targets = new Uint32Array(0);

const nobody = -1;

/** Walks a line front to back and says of each whom it depends on directly. */
export class LaneWalk {
  readonly #parallel: boolean;
  /** The index of the last one to hold each target. */
  #holders = new Int32Array(1024).fill(nobody);
  /** The last one to hold every target, and everything seen since the beginning. */
  #barrier = nobody;
  #sinceBarrier: number[] = [];
  #last = nobody;

  constructor(mode: QueueSettings['mode']) {
    this.#parallel = mode === 'parallel';
  }

  /** The direct dependencies of whoever stands next with these targets, by index; does not put it in the line. */
  dependencies(targets: readonly Targets[]): number[] {
    if (!this.#parallel) return this.#last === nobody ? [] : [this.#last];
    if (targets.includes('ALL'))
      return this.#barrier === nobody ? [...this.#sinceBarrier] : [this.#barrier, ...this.#sinceBarrier];
    const found = new Set<number>();
    for (const list of targets) {
      if (list === 'ALL' || list.length === 0) continue;
      if (this.#barrier !== nobody) found.add(this.#barrier);
      const holders = this.#holders;
      for (let index = 0; index < list.length; index++) {
        const target = list[index]!;
        const holder = target < holders.length ? holders[target]! : nobody;
        if (holder > this.#barrier) found.add(holder);
      }
    }
    return [...found];
  }

  /** Puts it in the line at this index. */
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
      this.#grow(list);
      const holders = this.#holders;
      for (let at = 0; at < list.length; at++) holders[list[at]!] = index;
    }
    // What holds nothing shares with nobody, not even with those that hold everything.
    if (holdsAny) this.#sinceBarrier.push(index);
  }

  #grow(list: Uint32Array): void {
    const largest = list.at(-1) ?? 0;
    if (largest < this.#holders.length) return;
    const grown = new Int32Array(Math.max(largest + 1, this.#holders.length * 2)).fill(nobody);
    grown.set(this.#holders);
    this.#holders = grown;
  }
}

/** Whether two sets of targets have one in common. Lists are sorted. */
export function share(a: Targets, b: Targets): boolean {
  if (a === 'ALL') return b === 'ALL' || b.length > 0;
  if (b === 'ALL') return a.length > 0;
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

/** A line that grows at its end: for each place everything ahead that it depends on, transitively, in line order. */
export class Lanes {
  readonly #walk: LaneWalk;
  /** What each depends on as bits: uniting them is most of the work where many share. */
  readonly #bits: Uint32Array[] = [];
  readonly closed: number[][] = [];

  constructor(mode: QueueSettings['mode'], line: readonly (readonly Targets[])[] = []) {
    this.#walk = new LaneWalk(mode);
    for (const targets of line) this.append(targets);
  }

  /** What whoever stands here depends on, by index; it is in the line from now on. */
  append(targets: readonly Targets[]): readonly number[] {
    const index = this.closed.length;
    const bits = new Uint32Array((index >>> 5) + 1);
    for (const direct of this.#walk.dependencies(targets)) {
      const theirs = this.#bits[direct]!;
      for (let word = 0; word < theirs.length; word++) bits[word]! |= theirs[word]!;
      bits[direct >>> 5]! |= 1 << (direct & 31);
    }
    this.#walk.add(index, targets);
    this.#bits.push(bits);
    const closure = indexesOf(bits);
    this.closed.push(closure);
    return closure;
  }
}

function indexesOf(bits: Uint32Array): number[] {
  const indexes: number[] = [];
  for (const [word, value] of bits.entries())
    for (let rest = value; rest !== 0; rest &= rest - 1)
      indexes.push((word << 5) + 31 - Math.clz32(rest & -rest));
  return indexes;
}
