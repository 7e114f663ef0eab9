// The targets of pull requests as the planner wants them: dense numbers in rising order. Reading and numbering them is
// most of the work of a look in lanes, and they change only with an upload, so they are kept between looks.

import type { RepositoryId } from '#base/id.ts';
import type { Targets } from '#core/queue/planner/lane.ts';
import type { Cell } from '#db/cell.ts';
import type { TargetSource } from '#db/plan-store.ts';
import { readTargetHashes } from '#db/target-store.ts';

export type TargetCache = { readonly source: TargetSource };

/** Numbers kept over all repositories; 4 bytes each, and about 60 for a hash that is seen for the first time. */
const numbersMax = 50_000_000;
const hashesMax = 5_000_000;

class Numbered {
  readonly #numbers = new Map<number, number>();
  readonly #sets = new Map<string, Targets>();
  size = 0;

  get hashes(): number {
    return this.#numbers.size;
  }

  find(key: string): Targets | undefined {
    return this.#sets.get(key);
  }

  add(key: string, hashes: Float64Array): Targets {
    const numbers = new Uint32Array(hashes.length);
    for (let index = 0; index < hashes.length; index++) {
      const hash = hashes[index]!;
      let number = this.#numbers.get(hash);
      if (number === undefined) this.#numbers.set(hash, (number = this.#numbers.size));
      numbers[index] = number;
    }
    numbers.sort();
    this.#sets.set(key, numbers);
    this.size += numbers.length;
    return numbers;
  }
}

export function createTargetCache(cell: Cell): TargetCache {
  const byRepository = new Map<RepositoryId, Numbered>();
  const source: TargetSource = async (repositoryId, wanted) => {
    let numbered = byRepository.get(repositoryId);
    // Numbers are never given back: a cache that has grown too large begins anew.
    if (numbered !== undefined && (numbered.hashes > hashesMax || numbered.size > numbersMax))
      numbered = undefined;
    if (numbered === undefined) byRepository.set(repositoryId, (numbered = new Numbered()));
    const keyOf = ({ prNumber, headSha, at }: (typeof wanted)[number]) => `${prNumber} ${headSha} ${at}`;
    const missing = wanted.filter((one) => numbered.find(keyOf(one)) === undefined);
    const read =
      missing.length === 0
        ? new Map<number, Float64Array>()
        : await readTargetHashes(cell.reader, repositoryId, missing);
    for (const one of missing) numbered.add(keyOf(one), read.get(one.prNumber) ?? new Float64Array(0));
    return new Map(wanted.map((one) => [one.prNumber, numbered.find(keyOf(one))!]));
  };
  return { source };
}
