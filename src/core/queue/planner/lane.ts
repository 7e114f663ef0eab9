// Lanes: who depends on whom. In single mode on everybody ahead. In parallel mode on everybody ahead who shares an
// impacted target, transitively; `ALL` shares with everybody, the empty list with nobody.
//
// Targets are numbered densely, so the last one to hold each target fits an array, and one pass over a line finds every
// direct dependency: of several earlier holders of a target only the last matters, because it depends on the others.

import type { QueueSettings } from '../settings.ts';

/** Every target, or dense target numbers. */
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
    let largest = 0;
    for (let index = 0; index < list.length; index++) if (list[index]! > largest) largest = list[index]!;
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

/** The direct dependencies and all of theirs, in line order. */
function closureOf(direct: readonly number[], closed: readonly (readonly number[])[]): number[] {
  if (direct.length === 1) return [...closed[direct[0]!]!, direct[0]!];
  const all = new Set<number>();
  for (const index of direct) {
    all.add(index);
    for (const earlier of closed[index]!) all.add(earlier);
  }
  return [...all].toSorted((a, b) => a - b);
}

/** A line that grows at its end: for each place everything ahead that it depends on, transitively, in line order. */
export class Lanes {
  readonly #walk: LaneWalk;
  readonly closed: number[][] = [];

  constructor(mode: QueueSettings['mode'], line: readonly (readonly Targets[])[] = []) {
    this.#walk = new LaneWalk(mode);
    for (const targets of line) this.append(targets);
  }

  /** What whoever stands here depends on, by index; it is in the line from now on. */
  append(targets: readonly Targets[]): readonly number[] {
    const closure = closureOf(this.#walk.dependencies(targets), this.closed);
    this.#walk.add(this.closed.length, targets);
    this.closed.push(closure);
    return closure;
  }
}
