// The names of single targets. Plans hold hashes only; the names of a pull request's targets are read as a whole, so
// those that were told once are kept.

import type { RepositoryId } from '#base/id.ts';
import { hashTarget } from '#core/queue/target-hash.ts';
import type { Cell } from './cell.ts';
import { readTargetNames } from './target-store.ts';

/** A hash and a pull request that impacts it. */
export type NamedBy = { readonly hash: number; readonly prNumber: number; readonly headSha: string };

/** Answers with names by hash. One whose upload was replaced meanwhile has none. */
export type TargetNames = (
  repositoryId: RepositoryId,
  wanted: readonly NamedBy[],
) => Promise<ReadonlyMap<number, string>>;

/** Names kept per repository, some hundred bytes each. */
const namesMax = 20_000;
const repositoriesMax = 200;
/** Lists are large: so many are held at once. */
const readAtOnce = 16;

export function createTargetNames(cell: Cell): TargetNames {
  const byRepository = new Map<RepositoryId, Map<number, string>>();
  return async (repositoryId, wanted) => {
    let known = byRepository.get(repositoryId);
    if (known === undefined || known.size > namesMax) {
      if (byRepository.size >= repositoriesMax) byRepository.clear();
      byRepository.set(repositoryId, (known = new Map()));
    }
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
