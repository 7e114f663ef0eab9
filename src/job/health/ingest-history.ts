// Histories of the watched tests that uploads ran. A test is watched from its first failure on; what it did before is
// known too (command/earlier-passes.ts).

import { addEarlierPasses } from '#command/earlier-passes.ts';
import type { RepositoryId } from '#base/id.ts';
import { addRepeats, emptyHistory, type TestCaseHistory, record } from '#core/health/history.ts';
import { withoutShard } from '#core/health/job-name.ts';
import type { RunFact } from '#core/health/recent-run.ts';
import { binarySearch } from '#core/health/segment.ts';
import type { Tx } from '#db/cell.ts';
import { findHistories, startOfHour, type TestHour, type WatchedTest } from '#db/health/history-store.ts';
import type { ReadUpload } from './ingest-read.ts';
import { decodeOutcome } from './ingest-run.ts';
import type { TestMemory } from './test-memory.ts';

/** An upload, with the result of the mass-failure guard. */
export type GuardedUpload = {
  readonly read: ReadUpload;
  readonly isSuspect: boolean;
  readonly isUnusual: boolean;
  /** How often each of its tests ran: more than once only in a run that verifies a fix. */
  readonly repeats: number;
};

export type ChangedHistory = {
  readonly test: WatchedTest;
  readonly before: TestCaseHistory;
  readonly isNew: boolean;
  /** Something happened that can change the classification of the test. */
  readonly canChangeVerdict: boolean;
  /** Whether the test is known to have run before these uploads. */
  readonly isSeenBefore: boolean;
};

export type HistoryChanges = {
  /** By the tests' numbers. */
  readonly tests: ReadonlyMap<number, ChangedHistory>;
  readonly hours: readonly TestHour[];
};

type TestHistoryDraft = {
  ordinal: number;
  testCaseId: string;
  before: TestCaseHistory;
  history: TestCaseHistory;
  activeMonitors: WatchedTest['activeMonitors'];
  lastFailedAt: Date;
  isNew: boolean;
  canChangeVerdict: boolean;
};

/** Only trusted uploads, in the order they arrived. */
export async function changeHistories(
  tx: Tx,
  memory: TestMemory,
  uploads: readonly GuardedUpload[],
): Promise<HistoryChanges> {
  const drafts = await loadDrafts(tx, memory, uploads);
  const hours: TestHour[] = [];
  await fillEarlier(tx, memory.repositoryId, [...drafts.values()], uploads, hours);
  for (const upload of uploads) recordUpload(drafts, upload, memory.nextOrdinal, hours);
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
      canChangeVerdict:
        draft.canChangeVerdict ||
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
): Promise<Map<number, TestHistoryDraft>> {
  const watched = new Set<number>();
  const fresh = new Map<number, { testCaseId: string; at: Date }>();
  for (const { read } of uploads) {
    const { ordinals, outcomes } = read.runs;
    for (let place = 0; place < ordinals.length; place++) {
      const ordinal = ordinals[place]!;
      if (memory.watched[ordinal] === 1) watched.add(ordinal);
      else if (outcomes[place] !== 0 && !fresh.has(ordinal)) {
        const failure = read.failures.get(ordinal);
        // Failures beyond the limit of one upload do not start watching.
        if (failure !== undefined)
          fresh.set(ordinal, { testCaseId: failure.testCaseId, at: read.upload.uploaded_at });
      }
    }
  }
  const drafts = new Map<number, TestHistoryDraft>();
  for (const test of await findHistories(tx, memory.repositoryId, [...watched]))
    drafts.set(test.ordinal, { ...test, before: test.history, isNew: false, canChangeVerdict: false });
  for (const [ordinal, { testCaseId, at }] of fresh)
    drafts.set(ordinal, {
      ordinal,
      testCaseId,
      before: emptyHistory,
      history: emptyHistory,
      activeMonitors: [],
      lastFailedAt: at,
      isNew: true,
      canChangeVerdict: true,
    });
  return drafts;
}

function recordUpload(
  drafts: ReadonlyMap<number, TestHistoryDraft>,
  { read, isSuspect, isUnusual, repeats }: GuardedUpload,
  suite: number,
  hours: TestHour[],
): void {
  const { about, runs, upload } = read;
  const failing = runs.outcomes.reduce((sum, code) => sum + (code === 0 ? 0 : 1), 0);
  const alike = new Map<string, number>();
  for (const { fingerprint } of read.failures.values())
    alike.set(fingerprint, (alike.get(fingerprint) ?? 0) + 1);
  const job = withoutShard(about.job);
  const hour = startOfHour(upload.uploaded_at);
  for (const draft of drafts.values()) {
    const place = binarySearch(runs.ordinals, draft.ordinal);
    if (place === -1) continue;
    const outcome = decodeOutcome(runs.outcomes[place]!);
    const fingerprint = read.failures.get(draft.ordinal)?.fingerprint ?? '';
    const fact: RunFact = {
      at: upload.uploaded_at.getTime(),
      // Without a commit, uploads cannot be matched: each is its own source.
      source: about.sha === '' ? upload.id : about.sha,
      branchClass: about.branchClass,
      prNumber: about.prNumber,
      outcome,
      isSuspect,
      fingerprint: fingerprint || null,
      failing,
      tests: runs.ordinals.length,
      job,
      alike: alike.get(fingerprint) ?? 1,
      isUnusual,
      suite,
    };
    const recorded = record(draft.history, fact);
    // A report that arrives twice counts once.
    const isNews = recorded !== draft.history && outcome === 'passed';
    draft.history = isNews && repeats > 1 ? addRepeats(recorded, fact.at, repeats - 1) : recorded;
    const isFailed = outcome === 'failed';
    if (outcome !== 'passed') {
      draft.canChangeVerdict = true;
      if (upload.uploaded_at > draft.lastFailedAt) draft.lastFailedAt = upload.uploaded_at;
    }
    // Failures of a mass failure do not count in failure rates.
    if (!isFailed || !isSuspect)
      hours.push({ testCaseId: draft.testCaseId, hour, runs: 1, failures: isFailed ? 1 : 0 });
  }
}

async function fillEarlier(
  tx: Tx,
  repositoryId: RepositoryId,
  drafts: readonly TestHistoryDraft[],
  uploads: readonly GuardedUpload[],
  hours: TestHour[],
): Promise<void> {
  const fresh = drafts.filter(({ isNew }) => isNew);
  const newest = uploads.at(-1)?.read.upload.uploaded_at;
  if (newest === undefined) return;
  const shas = [...new Set(uploads.map(({ read }) => read.about.sha).filter((sha) => sha !== ''))];
  hours.push(...(await addEarlierPasses(tx, repositoryId, fresh, newest, shas)));
  for (const draft of fresh) draft.before = draft.history;
}
