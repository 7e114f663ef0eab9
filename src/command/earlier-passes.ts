// What a test did before it is watched. It passed wherever it was executed, so its passes are known without one record each:
// uploads of a shape are counted by the hour, the newest uploads of the default branch and those of the same source are
// stored individually, and every test in their shapes passed in them.

import { dayMs } from '#base/duration.ts';
import type { RepositoryId } from '#base/id.ts';
import { addPasses, dayNumber, type TestCaseHistory, record } from '#core/health/history.ts';
import { withoutShard } from '#core/health/job-name.ts';
import { binarySearch } from '#core/health/segment.ts';
import type { Tx } from '#db/cell.ts';
import { startOfHour, type TestHour } from '#db/health/history-store.ts';
import { listPassSources, type PassSource } from '#db/health/ingest-store.ts';
import { listRecentShapes, listShapeHours, type ShapeHour } from '#db/health/segment-store.ts';

/** How far back earlier passes are searched: the longest window of a monitor. */
const earlierMs = 14 * dayMs;

/** A test with the history that the passes are added to. */
type PassedTest = { readonly ordinal: number; readonly testCaseId: string; history: TestCaseHistory };

/** Adds the runs of these tests up to an instant, all of which passed; answers with them by the hour. */
export async function addEarlierPasses(
  tx: Tx,
  repositoryId: RepositoryId,
  fresh: readonly PassedTest[],
  newest: Date,
  shas: readonly string[],
): Promise<readonly TestHour[]> {
  if (fresh.length === 0) return [];
  const since = new Date(newest.getTime() - earlierMs);
  const ordinals = fresh.map(({ ordinal }) => ordinal);
  const span = { first: Math.min(...ordinals), last: Math.max(...ordinals) };
  const holders = new Map<string, readonly PassedTest[]>();
  const hashes: Buffer[] = [];
  for (const { hash, ordinals: unpack } of await listRecentShapes(tx, repositoryId, since, span)) {
    const shape = unpack();
    const held = fresh.filter(({ ordinal }) => binarySearch(shape, ordinal) !== -1);
    if (held.length === 0) continue;
    holders.set(hash.toString('hex'), held);
    hashes.push(hash);
  }
  if (hashes.length === 0) return [];
  const sources = await listPassSources(tx, repositoryId, { since, shapes: hashes, shas });
  return addPassesOfShapes(holders, await listShapeHours(tx, repositoryId, since, hashes), sources);
}

function addPassesOfShapes(
  holders: ReadonlyMap<string, readonly PassedTest[]>,
  counted: readonly ShapeHour[],
  sources: readonly PassSource[],
): readonly TestHour[] {
  const hours: TestHour[] = [];
  // Passes with a known source are recorded one by one, and subtracted from the hourly counts.
  const named = new Map<string, number>();
  const formatShapeHourKey = (shape: string, branchClass: string, hour: Date) =>
    `${shape} ${branchClass} ${hour.getTime()}`;
  for (const source of sources) {
    const shape = source.shape.toString('hex');
    const key = formatShapeHourKey(shape, source.branchClass, startOfHour(source.uploadedAt));
    named.set(key, (named.get(key) ?? 0) + 1);
    for (const draft of holders.get(shape) ?? [])
      draft.history = record(draft.history, {
        at: source.uploadedAt.getTime(),
        source: source.sha === '' ? source.uploadId : source.sha,
        branchClass: source.branchClass,
        prNumber: null,
        outcome: 'passed',
        isSuspect: false,
        fingerprint: null,
        failing: 0,
        tests: 0,
        job: withoutShard(source.job),
      });
  }
  const days = new Map<PassedTest, Map<string, number>>();
  for (const { shape, branchClass, hour, runs } of counted) {
    const name = shape.toString('hex');
    const unnamed = Math.max(0, runs - (named.get(formatShapeHourKey(name, branchClass, hour)) ?? 0));
    for (const draft of holders.get(name) ?? []) {
      hours.push({ testCaseId: draft.testCaseId, hour, runs, failures: 0 });
      if (unnamed === 0) continue;
      const sums = days.get(draft) ?? new Map<string, number>();
      const key = `${dayNumber(hour.getTime())} ${branchClass}`;
      days.set(draft, sums.set(key, (sums.get(key) ?? 0) + unnamed));
    }
  }
  for (const [draft, sums] of days)
    for (const [key, runs] of sums) {
      const [day, branchClass] = key.split(' ') as [string, ShapeHour['branchClass']];
      draft.history = addPasses(draft.history, {
        at: Number(day) * dayMs,
        branchClass,
        runs,
        sources: runs,
      });
    }
  return hours;
}
