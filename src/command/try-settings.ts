// What would other settings of test health have changed? Every test that failed in the last 14 days is classified again
// at the instants of its failures and at the end of each day, once with the saved settings and once with the tried ones,
// by the function that classifies after an upload. Both see the same histories, so a difference comes from the settings
// alone. Nothing is written.
//
// Example. A test passed and failed on the same commit on Monday and on Thursday. With the saved settings two commits make
// it flaky; with `sourcesMin` 3 it is one test less that would have been flaky.
//
// The work is bounded: histories are read in pages, other requests run in between, and after some thousand tests or some
// seconds it ends and says so. Tests are read in the order of their ids, which are hashes: a cut answer is about a
// random part of them.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { dayMs } from '#base/duration.ts';
import type { RepositoryId } from '#base/id.ts';
import {
  completeSettings,
  type HealthSettingsOverrides,
  type ResolvedHealthSettings,
} from '#core/health/settings.ts';
import { suiteEnough } from '#core/health/quarantine/quarantine-contract.ts';
import type { HealthStatus } from '#core/health/status.ts';
import { historyAt, listInstants } from '#core/health/trial/history-at.ts';
import { trialDays, type TrialKind, trialKinds } from '#core/health/trial/trial-kind.ts';
import type { Tx } from '#db/cell.ts';
import { findHealthChange } from '#db/health/health-settings-store.ts';
import { listHistoriesFailedSince } from '#db/health/history-store.ts';
import { findRenamedTests } from '#db/rename/rename-view.ts';
import { readQuarantineRoom, type TestHealthRow } from '#db/health/verdict-store.ts';
import { classifyTest, type KnownTest, readKnownTests, unlimitedRoom } from './classify-tests.ts';
import { mergeSettings } from './override-test.ts';

type TrialLimits = {
  /** Most tests with a failure in the window that are tried. */
  readonly testsMax: number;
  /** No further test is tried after this time. */
  readonly timeMs: number;
};

const defaultTrialLimits: TrialLimits = { testsMax: 10_000, timeMs: 5_000 };

/** Watched tests that one statement reads, and how long other work waits at most. */
const pageSize = 200;
const turnMs = 20;
const firstId = '00000000-0000-0000-0000-000000000000';

type HealthState = { readonly status: HealthStatus; readonly isQuarantined: boolean };

export type TrialTest = {
  readonly testCaseId: string;
  /** When it was so for the first time in the window, and why. */
  readonly at: Date;
  readonly reason: string;
  /** The test as it is, and as it would be at once if the settings were saved. */
  readonly current: HealthState;
  readonly ifSaved: HealthState;
};

export type TrialDifference = {
  /** Tests that were so at some time, with the saved and with the tried settings. */
  saved: number;
  tried: number;
  /** Only with the tried settings, and only with the saved ones; the latest first. */
  readonly more: TrialTest[];
  readonly fewer: TrialTest[];
};

export type TrialResult = {
  readonly since: Date;
  /** Tests with a failure in the window that were tried. */
  tests: number;
  /** Not all of them were. */
  isCut: boolean;
  /** Tests whose status or quarantine would change at once if the settings were saved. */
  changesOnSave: number;
  readonly differences: Readonly<Record<TrialKind, TrialDifference>>;
};

export async function trySettings(
  db: Tx,
  repositoryId: RepositoryId,
  requested: HealthSettingsOverrides,
  now: Date,
  limits: TrialLimits = defaultTrialLimits,
): Promise<TrialResult> {
  const change = await findHealthChange(db, repositoryId);
  const settings = {
    saved: completeSettings(change),
    tried: completeSettings(mergeSettings(change ?? {}, requested)),
  };
  const room = { ...(await readQuarantineRoom(db, repositoryId, suiteEnough(settings.tried.quarantine))) };
  const trial = emptyTrial(now);
  const begunAt = performance.now();
  let turnedAt = begunAt;
  for (let after: string | null = firstId; after !== null;) {
    const page = await readPage(db, repositoryId, trial.since, after, now);
    after = page.last;
    for (const test of page.tests) {
      if (trial.tests >= limits.testsMax || performance.now() - begunAt >= limits.timeMs) {
        trial.isCut = true;
        return sorted(trial);
      }
      addTest(trial, test, settings, room, now);
      if (performance.now() - turnedAt < turnMs) continue;
      await nextTurn();
      turnedAt = performance.now();
    }
  }
  return sorted(trial);
}

export const emptyTrial = (now: Date): TrialResult => ({
  since: new Date(now.getTime() - trialDays * dayMs),
  tests: 0,
  isCut: false,
  changesOnSave: 0,
  differences: { flaky: noDifference(), broken: noDifference(), quarantined: noDifference() },
});

const noDifference = (): TrialDifference => ({ saved: 0, tried: 0, more: [], fewer: [] });

function sorted(trial: TrialResult): TrialResult {
  for (const { more, fewer } of Object.values(trial.differences))
    for (const list of [more, fewer])
      list.sort((a, b) => b.at.getTime() - a.at.getTime() || (a.testCaseId < b.testCaseId ? -1 : 1));
  return trial;
}

async function readPage(
  db: Tx,
  repositoryId: RepositoryId,
  since: Date,
  after: string,
  now: Date,
): Promise<{ readonly tests: readonly KnownTest[]; readonly last: string | null }> {
  const { tests, last } = await listHistoriesFailedSince(db, repositoryId, since, { after, limit: pageSize });
  // A test that was renamed is tried once, under its present name.
  const renamed = await findRenamedTests(
    db,
    repositoryId,
    tests.map(({ testCaseId }) => testCaseId),
  );
  const present = tests.filter(({ testCaseId }) => !renamed.has(testCaseId));
  return { tests: await readKnownTests(db, repositoryId, present, now), last };
}

type BothSettings = { readonly saved: ResolvedHealthSettings; readonly tried: ResolvedHealthSettings };

function addTest(
  trial: TrialResult,
  test: KnownTest,
  settings: BothSettings,
  room: { quarantined: number; readonly suite: number },
  now: Date,
): void {
  const instants = listInstants(test.history, trial.since.getTime(), now.getTime());
  const past = instants.map((at) => ({
    at: new Date(at),
    history: historyAt(test.history, at, now.getTime()),
  }));
  const saved = findFirsts(test, past, settings.saved);
  const tried = findFirsts(test, past, settings.tried);
  const current = { status: test.before.status, isQuarantined: test.before.quarantined_at !== null };
  const { verdict } = classifyTest(test, settings.tried, room, now);
  const ifSaved = { status: verdict.status, isQuarantined: verdict.quarantined_at !== null };
  room.quarantined += Number(ifSaved.isQuarantined) - Number(current.isQuarantined);
  trial.tests++;
  if (ifSaved.status !== current.status || ifSaved.isQuarantined !== current.isQuarantined)
    trial.changesOnSave++;
  for (const kind of trialKinds) {
    const difference = trial.differences[kind];
    const [before, after] = [saved[kind], tried[kind]];
    if (before !== undefined) difference.saved++;
    if (after !== undefined) difference.tried++;
    const first = after ?? before;
    if (first === undefined || (before !== undefined && after !== undefined)) continue;
    const list = after === undefined ? difference.fewer : difference.more;
    list.push({ testCaseId: test.before.id, ...first, current, ifSaved });
  }
}

type Past = readonly { readonly at: Date; readonly history: KnownTest['history'] }[];
type Firsts = { [Kind in TrialKind]?: { readonly at: Date; readonly reason: string } };

/** When the test was first flaky, broken and quarantined. It is followed from healthy on: what was before the window is not known. */
function findFirsts(test: KnownTest, past: Past, settings: ResolvedHealthSettings): Firsts {
  const firsts: Firsts = {};
  const isAutomatic = test.before.quarantine_setting === 'AUTO_QUARANTINE';
  let before: TestHealthRow = {
    ...test.before,
    status: 'healthy',
    status_reason: '',
    quarantined_at: null,
    quarantine_expires_at: isAutomatic ? null : test.before.quarantine_expires_at,
    quarantine_held_back: null,
    quarantine_warned_days: null,
  };
  let activeMonitors: KnownTest['activeMonitors'] = [];
  for (const { at, history } of past) {
    // Which tests had the room in the past is not known.
    const known = { ...test, before, history, quarantineHistory: history, activeMonitors };
    const { verdict, active } = classifyTest(known, settings, unlimitedRoom, at);
    const first = { at, reason: verdict.status_reason };
    if (verdict.status !== 'healthy') firsts[verdict.status] ??= first;
    if (verdict.quarantined_at !== null && verdict.quarantine_setting === 'AUTO_QUARANTINE')
      firsts.quarantined ??= first;
    before = { ...before, ...verdict };
    activeMonitors = active;
  }
  return firsts;
}
