// The targets of pull requests in the planner's form: dense numbers in rising order. Reading and numbering
// them is most of the work of a reconcile with parallel lanes, and they change only with an upload, so they
// are cached between reconciles.

import type { RepositoryId } from '#base/id.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import type { Targets } from '#core/queue/planner/lane.ts';
import type { Cell } from '../cell.ts';
import type { TargetSource } from './reconcile-view.ts';
import { readTargetHashes } from '../run/target-store.ts';

type WantedTargets = Parameters<TargetSource>[1];

/** The targets of pull requests, and the hash that a number among them stands for. */
type NumberedTargets = {
  readonly sets: ReadonlyMap<number, Targets>;
  readonly hashOf: (target: number) => number;
};

export type TargetCache = {
  readonly read: (repositoryId: RepositoryId, wanted: WantedTargets) => Promise<NumberedTargets>;
  readonly source: TargetSource;
};

/** Repositories whose targets are kept. */
const repositoriesMax = 1_000;
/** Numbers kept of one repository: 4 bytes each, and about 70 for a hash that is seen for the first time. */
const numbersMax = 50_000_000;
const hashesMax = 5_000_000;

class Numbered {
  readonly #numbers = new Map<number, number>();
  /** By number. */
  readonly #hashes: number[] = [];
  readonly #sets = new Map<string, Targets>();
  size = 0;

  get hashes(): number {
    return this.#hashes.length;
  }

  hashOf(target: number): number {
    return this.#hashes[target]!;
  }

  find(key: string): Targets | undefined {
    return this.#sets.get(key);
  }

  add(key: string, hashes: Float64Array): Targets {
    const numbers = new Uint32Array(hashes.length);
    for (let index = 0; index < hashes.length; index++) {
      const hash = hashes[index]!;
      let number = this.#numbers.get(hash);
      if (number === undefined) {
        this.#numbers.set(hash, (number = this.#hashes.length));
        this.#hashes.push(hash);
      }
      numbers[index] = number;
    }
    numbers.sort();
    this.#sets.set(key, numbers);
    this.size += numbers.length;
    return numbers;
  }
}

export function createTargetCache(cell: Cell): TargetCache {
  const byRepository = createTtlCache<Numbered>({ max: repositoriesMax });
  const read: TargetCache['read'] = async (repositoryId, wanted) => {
    let numbered = byRepository.get(repositoryId);
    // A number is never used for another hash, so numbers that have grown too many are all dropped.
    if (numbered !== undefined && (numbered.hashes > hashesMax || numbered.size > numbersMax))
      numbered = undefined;
    if (numbered === undefined) byRepository.set(repositoryId, (numbered = new Numbered()));
    const formatTargetKey = ({ prNumber, headSha, at }: WantedTargets[number]) =>
      `${prNumber} ${headSha} ${at}`;
    const missing = wanted.filter((one) => numbered.find(formatTargetKey(one)) === undefined);
    const hashes =
      missing.length === 0
        ? new Map<number, Float64Array>()
        : await readTargetHashes(cell.reader, repositoryId, missing);
    for (const one of missing)
      numbered.add(formatTargetKey(one), hashes.get(one.prNumber) ?? new Float64Array(0));
    return {
      sets: new Map(wanted.map((one) => [one.prNumber, numbered.find(formatTargetKey(one))!])),
      hashOf: (target) => numbered.hashOf(target),
    };
  };
  return { read, source: async (repositoryId, wanted) => (await read(repositoryId, wanted)).sets };
}
