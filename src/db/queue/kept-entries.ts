// What a worker keeps of long queues between two reconciles (open-entry-view.ts describes how it is updated).
// It holds only rows as they were read, so a reconcile that is rolled back leaves nothing wrong behind.

import type { QueueId } from '#base/id.ts';
import type { Horizon, OpenEntry } from './open-entry.ts';

const getPullRequestNumber = ({ shown }: OpenEntry): number => shown.entry.pullRequest.number;
const seniorityOf = ({ shown }: OpenEntry): number => shown.entry.seniority;

/** The open entries of one queue. */
export class KeptEntries {
  readonly incarnation: string;
  horizon: string;
  /** Entries that the last reconcile concluded, which may not be open any more. */
  closing: readonly number[] = [];
  /** In order of seniority. */
  #entries: Map<number, OpenEntry>;

  constructor({ horizon, incarnation }: Horizon, entries: readonly OpenEntry[]) {
    this.horizon = horizon;
    this.incarnation = incarnation;
    this.#entries = new Map(entries.map((entry) => [getPullRequestNumber(entry), entry]));
  }

  get size(): number {
    return this.#entries.size;
  }

  inOrder(): readonly OpenEntry[] {
    return [...this.#entries.values()];
  }

  /** The first entries that were read without a status comment: posting one does not change their row. */
  listDueStatusComments(most: number): readonly number[] {
    const numbers: number[] = [];
    for (const [number, { isStatePosted: isReported }] of this.#entries) {
      if (numbers.length >= most) break;
      if (!isReported) numbers.push(number);
    }
    return numbers;
  }

  /** These were read again; numbers that are not among `entries` are not open any more. */
  renew(numbers: readonly number[], entries: readonly OpenEntry[], horizon: string): void {
    this.horizon = horizon;
    this.closing = [];
    const fresh = new Map(entries.map((entry) => [getPullRequestNumber(entry), entry]));
    for (const number of numbers) if (!fresh.has(number)) this.#entries.delete(number);
    let isInOrder = true;
    let last = this.#last();
    for (const [number, entry] of fresh) {
      const before = this.#entries.get(number);
      if (before === undefined || seniorityOf(before) !== seniorityOf(entry)) {
        this.#entries.delete(number);
        isInOrder &&= seniorityOf(entry) > last;
        last = Math.max(last, seniorityOf(entry));
      }
      this.#entries.set(number, entry);
    }
    if (!isInOrder)
      this.#entries = new Map([...this.#entries].toSorted(([, a], [, b]) => seniorityOf(a) - seniorityOf(b)));
  }

  expectClosed({ items }: { readonly items: ReadonlyMap<number, object | null> }): void {
    this.closing = [...items].flatMap(([number, item]) => (item === null ? [number] : []));
  }

  keepOnly(numbers: readonly number[]): void {
    const open = new Set(numbers);
    for (const number of this.#entries.keys()) if (!open.has(number)) this.#entries.delete(number);
  }

  #last(): number {
    let last = -1;
    for (const entry of this.#entries.values()) last = Math.max(last, seniorityOf(entry));
    return last;
  }
}

/** A shorter queue is read whole: that takes less time than to find out what changed. */
const entriesMin = 500;
/** Over all queues of a worker, about 1 KiB each. */
const entriesMax = 100_000;

export type KeptQueues = {
  readonly find: (queueId: QueueId) => KeptEntries | undefined;
  readonly keep: (queueId: QueueId, horizon: Horizon, entries: readonly OpenEntry[]) => void;
  readonly forget: (queueId: QueueId) => void;
};

/** The queues that are kept; the one that was not used for the longest time goes first. */
export function createKeptQueues(limits: { readonly entriesMin?: number } = {}): KeptQueues {
  const queues = new Map<QueueId, KeptEntries>();
  const least = limits.entriesMin ?? entriesMin;
  const total = () => [...queues.values()].reduce((sum, { size }) => sum + size, 0);
  return {
    find: (queueId) => {
      const kept = queues.get(queueId);
      if (kept === undefined) return undefined;
      queues.delete(queueId);
      if (kept.size < least) return undefined;
      queues.set(queueId, kept);
      return kept;
    },
    keep: (queueId, horizon, entries) => {
      queues.delete(queueId);
      if (entries.length < least || entries.length > entriesMax) return;
      queues.set(queueId, new KeptEntries(horizon, entries));
      for (const oldest of queues.keys()) {
        if (total() <= entriesMax) break;
        queues.delete(oldest);
      }
    },
    forget: (queueId) => void queues.delete(queueId),
  };
}
