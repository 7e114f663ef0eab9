// Writes impacted_targets.

import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import type { RepositoryId } from '#base/id.ts';
import { hashTarget } from '#core/queue/rule/target-hash.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

export type EncodedTargets = {
  readonly impactsAll: boolean;
  readonly count: number;
  readonly hashes: Buffer;
  readonly names: Buffer;
};

/** Removes duplicates. */
export async function encodeTargets(targets: 'ALL' | readonly string[]): Promise<EncodedTargets> {
  if (targets === 'ALL')
    return { impactsAll: true, count: 0, hashes: Buffer.alloc(0), names: Buffer.alloc(0) };
  let names = targets;
  let hashes = sortedHashes(names);
  // Most lists have no duplicates, and a set of 200,000 strings costs more than everything else: check first.
  if (hashes.some((hash, index) => hash === hashes[index + 1])) {
    names = [...new Set(targets)];
    hashes = sortedHashes(names);
  }
  // Compression runs on another thread; level 1, because the names are read only when a person asks.
  const packed = await compress(JSON.stringify(names), {
    params: { [constants.ZSTD_c_compressionLevel]: 1 },
  });
  return { impactsAll: false, count: names.length, hashes: Buffer.from(hashes.buffer), names: packed };
}

function sortedHashes(names: readonly string[]): Float64Array {
  const hashes = new Float64Array(names.length);
  for (let index = 0; index < names.length; index++) hashes[index] = hashTarget(names[index]!);
  return hashes.sort();
}

const upsertTargets = statement<
  [
    repositoryId: string,
    prNumber: number,
    headSha: string,
    impactsAll: boolean,
    count: number,
    hashes: Buffer,
    names: Buffer,
    at: Date,
  ]
>(`
  insert into impacted_targets
    (repository_id, pr_number, head_sha, impacts_all, target_count, hashes, names, uploaded_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8)
  on conflict (repository_id, pr_number, head_sha) do update set impacts_all = excluded.impacts_all,
    target_count = excluded.target_count, hashes = excluded.hashes, names = excluded.names,
    uploaded_at = excluded.uploaded_at`);

export type TargetKey = {
  readonly repositoryId: RepositoryId;
  readonly prNumber: number;
  readonly headSha: string;
};

/** The last upload for a head wins. */
export async function saveTargets(tx: Tx, key: TargetKey, targets: EncodedTargets, at: Date): Promise<void> {
  const { impactsAll, count, hashes, names } = targets;
  await upsertTargets(tx, key.repositoryId, key.prNumber, key.headSha, impactsAll, count, hashes, names, at);
}

const selectForUpdate = statement<
  [repositoryId: string, prNumber: number, headSha: string],
  { impacts_all: boolean; names: Buffer }
>(`
  select impacts_all, names from impacted_targets where repository_id = $1 and pr_number = $2 and head_sha = $3
  for update`);

/** The stored targets of a head, locked for a write; null: none. */
export async function lockTargets(tx: Tx, key: TargetKey): Promise<'ALL' | readonly string[] | null> {
  const [row] = await selectForUpdate(tx, key.repositoryId, key.prNumber, key.headSha);
  if (row === undefined) return null;
  return row.impacts_all ? 'ALL' : (JSON.parse((await decompress(row.names)).toString()) as string[]);
}

const selectNames = statement<
  [repositoryId: string, prNumbers: string, headShas: string],
  { pr_number: number; impacts_all: boolean; names: Buffer }
>(`
  select i.pr_number, i.impacts_all, i.names from impacted_targets i
  join unnest($2::bigint[], $3::text[]) as k (pr_number, head_sha) using (pr_number, head_sha)
  where i.repository_id = $1`);

/** The targets of some pull requests by number, `ALL` where one impacts every target. */
export async function readTargetNames(
  db: Tx,
  repositoryId: RepositoryId,
  heads: readonly { readonly prNumber: number; readonly headSha: string }[],
): Promise<ReadonlyMap<number, readonly string[]>> {
  const rows = await selectNames(
    db,
    repositoryId,
    `{${heads.map((head) => head.prNumber).join(',')}}`,
    `{${heads.map((head) => head.headSha).join(',')}}`,
  );
  const named = await Promise.all(
    rows.map(async (row) => {
      const names = row.impacts_all
        ? ['ALL']
        : (JSON.parse((await decompress(row.names)).toString()) as string[]);
      return [row.pr_number, names] as const;
    }),
  );
  return new Map(named);
}

const selectHashes = statement<
  [repositoryId: string, prNumbers: string, headShas: string],
  { pr_number: number; hashes: Buffer }
>(`
  select i.pr_number, i.hashes from impacted_targets i
  join unnest($2::bigint[], $3::text[]) as k (pr_number, head_sha) using (pr_number, head_sha)
  where i.repository_id = $1`);

/** The hashes of the targets of some pull requests, in rising order. */
export async function readTargetHashes(
  db: Tx,
  repositoryId: RepositoryId,
  heads: readonly { readonly prNumber: number; readonly headSha: string }[],
): Promise<ReadonlyMap<number, Float64Array>> {
  const rows = await selectHashes(
    db,
    repositoryId,
    `{${heads.map((head) => head.prNumber).join(',')}}`,
    `{${heads.map((head) => head.headSha).join(',')}}`,
  );
  // Copied, because the driver's buffer need not be aligned for numbers.
  return new Map(
    rows.map(({ pr_number: pr, hashes }) => [pr, new Float64Array(new Uint8Array(hashes).buffer)]),
  );
}
