// Histories of the watched tests that uploads ran. A test is watched from its first failure on; until then it passed
// wherever it was executed, so a newly watched test's earlier passes are known without having been written down one by
// one: uploads of a shape were counted by the hour, the newest uploads of the default branch and those of the very same
// source are known by name, and what was in their shapes passed in them.

import type { RepositoryId } from '#base/id.ts';
import {
  addPasses,
  dayMs,
  dayOf,
  emptyHistory,
  type History,
  record,
  type RunFact,
} from '#core/health/history.ts';
import { placeOf } from '#core/health/segment.ts';
import type { Tx } from '#db/cell.ts';
import { findHistories, hourOf, type TestHour, type WatchedTest } from '#db/history-store.ts';
import { listPassSources, type PassSource } from '#db/ingest-store.ts';
import { listRecentShapes, listShapeHours, type ShapeHour } from '#db/segment-store.ts';
import type { ReadUpload } from './ingest-read.ts';
import { outcomeOf } from './ingest-run.ts';
import type { TestMemory } from './test-memory.ts';

/** How far back earlier passes are looked for: what the longest window of a monitor can see. */
const earlierMs = 14 * dayMs;

/** An upload, with what the guard said of it. */
export type GuardedUpload = { readonly read: ReadUpload; readonly isSuspect: boolean };

export type ChangedHistory = {
  readonly test: WatchedTest;
  readonly before: History;
  readonly isNew: boolean;
  /** Something happened that can change what the test is. */
  readonly isTelling: boolean;
  /** Whether it ran before these uploads, as far as is known. */
  readonly isSeenBefore: boolean;
};

export type HistoryChanges = {
  /** By the tests' numbers. */
  readonly tests: ReadonlyMap<number, ChangedHistory>;
  readonly hours: readonly TestHour[];
};

type Draft = {
  ordinal: number;
  testCaseId: string;
  before: History;
  history: History;
  activeMonitors: WatchedTest['activeMonitors'];
  lastFailedAt: Date;
  isNew: boolean;
  isTelling: boolean;
};

/** Only trusted uploads, in the order they arrived. */
export async function changeHistories(
  tx: Tx,
  memory: TestMemory,
  uploads: readonly GuardedUpload[],
): Promise<HistoryChanges> {
  const drafts = await loadDrafts(tx, memory, uploads);
  const hours: TestHour[] = [];
  await fillEarlier(tx, memory.repositoryId, drafts, uploads, hours);
  for (const { read, isSuspect } of uploads) recordUpload(drafts, read, isSuspect, hours);
  const tests = [...drafts.values()].map((draft): [number, ChangedHistory] => [
    draft.ordinal,
    {
      test: {
        ordinal: draft.ordinal,
        testCaseId: draft.testCaseId,
        history: draft.history,
        activeMonitors: draft.activeMonitors,
        lastFailedAt: draft.lastFailedAt,
      },
      before: draft.before,
      isNew: draft.isNew,
      isTelling:
        draft.isTelling ||
        draft.activeMonitors.length > 0 ||
        draft.history.contradictions !== draft.before.contradictions,
      isSeenBefore: draft.before.days.some(({ runs }) => runs > 0),
    },
  ]);
  return { tests: new Map(tests), hours };
}

async function loadDrafts(
  tx: Tx,
  memory: TestMemory,
  uploads: readonly GuardedUpload[],
): Promise<Map<number, Draft>> {
  const watched = new Set<number>();
  const fresh = new Map<number, { testCaseId: string; at: Date }>();
  for (const { read } of uploads) {
    const { ordinals, outcomes } = read.runs;
    for (let place = 0; place < ordinals.length; place++) {
      const ordinal = ordinals[place]!;
      if (memory.watched[ordinal] === 1) watched.add(ordinal);
      else if (outcomes[place] !== 0 && !fresh.has(ordinal)) {
        const failure = read.failures.get(ordinal);
        // What fails beyond the bound of one upload is not watched for it.
        if (failure !== undefined)
          fresh.set(ordinal, { testCaseId: failure.testCaseId, at: read.upload.uploaded_at });
      }
    }
  }
  const drafts = new Map<number, Draft>();
  for (const test of await findHistories(tx, memory.repositoryId, [...watched]))
    drafts.set(test.ordinal, { ...test, before: test.history, isNew: false, isTelling: false });
  for (const [ordinal, { testCaseId, at }] of fresh)
    drafts.set(ordinal, {
      ordinal,
      testCaseId,
      before: emptyHistory,
      history: emptyHistory,
      activeMonitors: [],
      lastFailedAt: at,
      isNew: true,
      isTelling: true,
    });
  return drafts;
}

function recordUpload(
  drafts: ReadonlyMap<number, Draft>,
  read: ReadUpload,
  isSuspect: boolean,
  hours: TestHour[],
): void {
  const { about, runs, upload } = read;
  const failing = runs.outcomes.reduce((sum, code) => sum + (code === 0 ? 0 : 1), 0);
  const hour = hourOf(upload.uploaded_at);
  for (const draft of drafts.values()) {
    const place = placeOf(runs.ordinals, draft.ordinal);
    if (place === -1) continue;
    const outcome = outcomeOf(runs.outcomes[place]!);
    const fact: RunFact = {
      at: upload.uploaded_at.getTime(),
      // Without a commit nothing can be said to be the same: each upload is a source of its own.
      source: about.sha === '' ? upload.id : about.sha,
      branchClass: about.branchClass,
      prNumber: about.prNumber,
      outcome,
      isSuspect,
      fingerprint: read.failures.get(draft.ordinal)?.fingerprint || null,
      failing,
      tests: runs.ordinals.length,
    };
    draft.history = record(draft.history, fact);
    const isFailed = outcome === 'failed';
    if (outcome !== 'passed') {
      draft.isTelling = true;
      if (upload.uploaded_at > draft.lastFailedAt) draft.lastFailedAt = upload.uploaded_at;
    }
    // What fails in a mass failure is in no rate.
    if (!isFailed || !isSuspect)
      hours.push({ testCaseId: draft.testCaseId, hour, runs: 1, failures: isFailed ? 1 : 0 });
  }
}

/** What newly watched tests did before: they passed. */
async function fillEarlier(
  tx: Tx,
  repositoryId: RepositoryId,
  drafts: ReadonlyMap<number, Draft>,
  uploads: readonly GuardedUpload[],
  hours: TestHour[],
): Promise<void> {
  const fresh = [...drafts.values()].filter(({ isNew }) => isNew);
  const newest = uploads.at(-1)?.read.upload.uploaded_at;
  if (fresh.length === 0 || newest === undefined) return;
  const since = new Date(newest.getTime() - earlierMs);
  const ordinals = fresh.map(({ ordinal }) => ordinal);
  const span = { first: Math.min(...ordinals), last: Math.max(...ordinals) };
  const holders = new Map<string, readonly Draft[]>();
  const hashes: Buffer[] = [];
  for (const { hash, ordinals: unpack } of await listRecentShapes(tx, repositoryId, since, span)) {
    const shape = unpack();
    const held = fresh.filter(({ ordinal }) => placeOf(shape, ordinal) !== -1);
    if (held.length === 0) continue;
    holders.set(hash.toString('hex'), held);
    hashes.push(hash);
  }
  if (hashes.length === 0) return;
  const shas = [...new Set(uploads.map(({ read }) => read.about.sha).filter((sha) => sha !== ''))];
  const sources = await listPassSources(tx, repositoryId, { since, shapes: hashes, shas });
  addEarlier(holders, await listShapeHours(tx, repositoryId, since, hashes), sources, hours);
  for (const draft of fresh) draft.before = draft.history;
}

function addEarlier(
  holders: ReadonlyMap<string, readonly Draft[]>,
  counted: readonly ShapeHour[],
  sources: readonly PassSource[],
  hours: TestHour[],
): void {
  // Those that are known by name are told one by one, and no longer among those that are counted.
  const named = new Map<string, number>();
  const keyOf = (shape: string, branchClass: string, hour: Date) =>
    `${shape} ${branchClass} ${hour.getTime()}`;
  for (const source of sources) {
    const shape = source.shape.toString('hex');
    const key = keyOf(shape, source.branchClass, hourOf(source.uploadedAt));
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
      });
  }
  const days = new Map<Draft, Map<string, number>>();
  for (const { shape, branchClass, hour, runs } of counted) {
    const name = shape.toString('hex');
    const unnamed = Math.max(0, runs - (named.get(keyOf(name, branchClass, hour)) ?? 0));
    for (const draft of holders.get(name) ?? []) {
      hours.push({ testCaseId: draft.testCaseId, hour, runs, failures: 0 });
      if (unnamed === 0) continue;
      const sums = days.get(draft) ?? new Map<string, number>();
      const key = `${dayOf(hour.getTime())} ${branchClass}`;
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
}
