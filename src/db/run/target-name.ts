// The names of single targets. Plans hold only hashes, and the names of a pull request's targets are read all
// at once, so names that were read are cached.

import type { RepositoryId } from '#base/id.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import { hashTarget } from '#core/queue/rule/target-hash.ts';
import type { Cell } from '../cell.ts';
import { readTargetNames } from './target-store.ts';

/** A hash and a pull request that impacts it. */
export type NamedBy = { readonly hash: number; readonly prNumber: number; readonly headSha: string };

/** Returns names by hash. A target whose upload was replaced meanwhile has none. */
export type TargetNames = (
  repositoryId: RepositoryId,
  wanted: readonly NamedBy[],
) => Promise<ReadonlyMap<number, string>>;

/** Names kept per repository, some hundred bytes each. */
const namesMax = 20_000;
const repositoriesMax = 200;
/** Lists are large: at most this many are read at once. */
const readAtOnce = 16;

export function createTargetNames(cell: Cell): TargetNames {
  const byRepository = createTtlCache<Map<number, string>>({ max: repositoriesMax });
  return async (repositoryId, wanted) => {
    let known = byRepository.get(repositoryId);
    if (known === undefined || known.size > namesMax) byRepository.set(repositoryId, (known = new Map()));
    const missing = new Set(wanted.flatMap(({ hash }) => (known.has(hash) ? [] : [hash])));
    const heads = coveringHeads(wanted, missing);
    for (let at = 0; at < heads.length && missing.size > 0; at += readAtOnce) {
      const read = await readTargetNames(cell.reader, repositoryId, heads.slice(at, at + readAtOnce));
      for (const names of read.values())
        for (const name of names) {
          const hash = hashTarget(name);
          if (missing.delete(hash)) known.set(hash, name);
        }
    }
    return known;
  };
}

/** Pull requests that impact all of the hashes, those that impact most of them first. */
function coveringHeads(
  wanted: readonly NamedBy[],
  missing: ReadonlySet<number>,
): readonly { readonly prNumber: number; readonly headSha: string }[] {
  const byHead = new Map<number, { headSha: string; hashes: Set<number> }>();
  for (const { hash, prNumber, headSha } of wanted) {
    if (!missing.has(hash)) continue;
    const known = byHead.get(prNumber);
    if (known === undefined) byHead.set(prNumber, { headSha, hashes: new Set([hash]) });
    else known.hashes.add(hash);
  }
  const covered = new Set<number>();
  return [...byHead]
    .toSorted(([, a], [, b]) => b.hashes.size - a.hashes.size)
    .flatMap(([prNumber, { headSha, hashes }]) => {
      if ([...hashes].every((hash) => covered.has(hash))) return [];
      for (const hash of hashes) covered.add(hash);
      return [{ prNumber, headSha }];
    });
}
