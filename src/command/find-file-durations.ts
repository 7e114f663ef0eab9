// How long test files take, by the durations that reports have shown. The first answer about a list of files on a commit is
// stored, and is the answer from then on (split-store.ts).
//
// Durations are used for a week while the files stay the same. Measured again for each commit they would differ a little each
// time, and tests would move from shard to shard: then no shard has tests that it usually runs (job/health/ingest-usual.ts), and
// the failure of a quarantined test is not excused.

import { createHash } from 'node:crypto';
import { dayMs } from '#base/duration.ts';
import type { RepositoryId } from '#base/id.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import type { BranchClass } from '#core/health/branch.ts';
import { binarySearch } from '#core/health/segment.ts';
import { createFileMatcher } from '#core/health/split/match-file.ts';
import { createFileSums, findTypicalDurations } from '#core/health/split/typical-duration.ts';
import type { Cell } from '#db/cell.ts';
import { listRecentDurations } from '#db/health/segment-store.ts';
import {
  type FileDurations,
  findMeasured,
  findSplit,
  listTestPlaces,
  putSplit,
  type SplitKey,
} from '#db/health/split-store.ts';

export type FileDurationsRequest = {
  readonly repositoryId: RepositoryId;
  readonly sha: string;
  readonly files: readonly string[];
  /** Empty: any. */
  readonly variant: string;
  readonly now: Date;
  /** Called before durations are computed; throws if this caller may not ask for more. */
  readonly beforeComputing: () => Promise<void>;
};

/** The shards of a run ask at the same time: they share one computation, and what came of it. */
const answers = createTtlCache<FileDurations>({ max: 50, ttlMs: 60_000 });

/** In the order of the files. */
export async function findFileDurations(cell: Cell, request: FileDurationsRequest): Promise<FileDurations> {
  const { repositoryId, sha, variant } = request;
  const files = [...new Set(request.files)].toSorted();
  const filesHash = createHash('sha256')
    .update(JSON.stringify([variant, files]))
    .digest()
    .subarray(0, 16);
  const key: SplitKey = { repositoryId, sha, filesHash };
  const name = `${cell.name} ${repositoryId} ${sha} ${filesHash.toString('hex')}`;
  const durations = await answers.load(name, async () => {
    const stored = await findSplit(cell.db, key);
    if (stored !== null) return stored;
    await request.beforeComputing();
    const { now } = request;
    const measured = await findMeasured(cell.db, key, new Date(now.getTime() - measuredMs));
    const fresh = measured ?? { durations: await computeDurations(cell, request, files), measuredAt: now };
    return putSplit(cell.db, key, fresh, now);
  });
  const byName = new Map(files.map((file, index) => [file, durations[index] ?? null]));
  return request.files.map((file) => byName.get(file) ?? null);
}

/** How long durations are used. */
const measuredMs = 7 * dayMs;
/** How far back durations are read. */
const recentMs = 14 * dayMs;
/** Pull requests may change how long tests take: their uploads are read if there are no others. */
const sharedBranches: readonly BranchClass[] = ['default', 'queue'];
const ownBranches: readonly BranchClass[] = ['pull_request', 'other'];
/** Tests that are looked up by one statement. */
const pageSize = 10_000;

async function computeDurations(
  cell: Cell,
  { repositoryId, variant, now }: FileDurationsRequest,
  files: readonly string[],
): Promise<FileDurations> {
  const since = new Date(now.getTime() - recentMs);
  const shared = await listRecentDurations(cell.reader, repositoryId, since, sharedBranches);
  const uploads =
    shared.length > 0 ? shared : await listRecentDurations(cell.reader, repositoryId, since, ownBranches);
  const typical = findTypicalDurations(uploads);
  const match = createFileMatcher(files);
  const sums = createFileSums(files.length);
  for (let from = 0; from < typical.ordinals.length; from += pageSize) {
    const page = [...typical.ordinals.subarray(from, from + pageSize)];
    for (const place of await listTestPlaces(cell.reader, repositoryId, page)) {
      const file = match(place);
      if (file === -1) continue;
      for (const ordinal of place.ordinals) {
        const durationMs = typical.durationMs(binarySearch(typical.ordinals, ordinal));
        if (durationMs !== null) sums.add(file, place.variant, durationMs);
      }
    }
  }
  return sums.durations(variant);
}
