// Classifies tests and writes what changed: status and quarantine of each, with a fact for webhook
// subscribers. The input is the given history; the trigger is an upload, the passing of time, or a person.

import type { RepositoryId } from '#base/id.ts';
import { countRepeats } from '#core/health/accuracy/accuracy.ts';
import { evaluate, type Evaluation } from '#core/health/monitor/monitor.ts';
import { emptyHistory, type TestCaseHistory } from '#core/health/history.ts';
import {
  beginsQuarantine,
  type ContractFacts,
  decideQuarantine,
  type DecidedQuarantine,
  type QuarantineRoom,
  suiteEnough,
} from '#core/health/quarantine/quarantine-contract.ts';
import type { MonitorId } from '#core/health/monitor/monitors.ts';
import type { ResolvedHealthSettings } from '#core/health/settings.ts';
import type { HealthStatus, Mute } from '#core/health/status.ts';
import type { Tx } from '#db/cell.ts';
import {
  findFormerTests,
  findHistoriesByTestId,
  putActiveMonitors,
  withFormers,
} from '#db/health/history-store.ts';
import { enqueueIssues } from '#db/job/job.ts';
import type { TestsLock } from '#db/transaction.ts';
import {
  appendTestFacts,
  type FactTrigger,
  findMutes,
  findTestHealth,
  putVerdicts,
  readQuarantineRoom,
  type TestHealthRow,
  type TestFact,
  type TestClassification,
} from '#db/health/verdict-store.ts';
import { type BrokenRange, recordBreakages } from './record-breakages.ts';

export type TestToClassify = {
  readonly testCaseId: string;
  readonly history: TestCaseHistory;
  /** Monitors that were active at the last classification. */
  readonly activeMonitors: readonly MonitorId[];
};

export type ClassifiedTest = {
  readonly before: TestHealthRow;
  readonly status: HealthStatus;
  readonly activeMonitors: readonly MonitorId[];
};

type Occasion = {
  readonly settings: ResolvedHealthSettings;
  readonly trigger: FactTrigger;
  readonly now: Date;
};

/** By the tests' ids; a test that was deleted has no classification. */
export async function classifyTests(
  tx: Tx,
  lock: TestsLock,
  tests: readonly TestToClassify[],
  { settings, trigger, now }: Occasion,
): Promise<ReadonlyMap<string, ClassifiedTest>> {
  if (tests.length === 0) return new Map();
  const allKnown = await readKnownTests(tx, lock.repositoryId, tests, now);
  const evaluated = allKnown.map((known) => ({ known, ...evaluateTest(known, settings, now) }));
  const classifications = new Map<string, ClassifiedTest>();
  const verdicts: TestClassification[] = [];
  const facts: TestFact[] = [];
  const ranges: BrokenRange[] = [];
  const room = await readRoom(
    tx,
    lock,
    evaluated.map(({ contract }) => contract),
    { settings, now },
  );
  let { quarantined } = room;
  for (const { known, evaluation, contract, active } of evaluated) {
    const { before } = known;
    const decided = decideQuarantine(contract, { ...room, quarantined }, now.getTime());
    quarantined += Number(decided.isQuarantined) - Number(contract.before.isQuarantined);
    const verdict = applyEvaluation(before, evaluation, decided, now);
    if (isChanged(before, verdict)) verdicts.push(verdict);
    facts.push(...collectTestFacts(known, verdict, evaluation));
    if (decided.warning !== null) facts.push(announceEnd(verdict, before, decided.warning));
    ranges.push({
      testCaseId: before.id,
      before: before.status,
      status: verdict.status,
      edge: evaluation.edge,
    });
    classifications.set(before.id, { before, status: verdict.status, activeMonitors: active });
  }
  await putVerdicts(tx, lock, verdicts, now);
  if (verdicts.length > 0 && settings.quarantine.openIssues)
    await enqueueIssues(tx, { repositoryId: lock.repositoryId });
  await appendTestFacts(tx, lock, facts, trigger, now);
  await recordBreakages(tx, lock, ranges, now);
  return classifications;
}

export type KnownTest = Omit<TestToClassify, 'testCaseId'> & {
  /** What an automatic quarantine is decided by: without former names that it is not carried over from. */
  readonly quarantineHistory: TestCaseHistory;
  /** The test as the last classification left it. */
  readonly before: TestHealthRow;
  readonly mutes: readonly Mute[];
};

/** What else decides about these tests; a test that was deleted is left out. */
export async function readKnownTests(
  db: Tx,
  repositoryId: RepositoryId,
  tests: readonly TestToClassify[],
  now: Date,
): Promise<readonly KnownTest[]> {
  const ids = tests.map(({ testCaseId }) => testCaseId);
  const rows = await findTestHealth(db, repositoryId, ids);
  const mutes = await findMutes(db, repositoryId, ids, now);
  const formers = await findFormerTests(db, repositoryId, ids);
  return tests.flatMap(({ testCaseId, history: own, activeMonitors }) => {
    const before = rows.get(testCaseId);
    if (before === undefined) return [];
    const all = formers.get(testCaseId) ?? [];
    const carrying = all.filter(({ carries_quarantine: carries }) => carries);
    const history = withFormers(own, all);
    const quarantineHistory = carrying.length === all.length ? history : withFormers(own, carrying);
    return [{ before, history, quarantineHistory, activeMonitors, mutes: mutes.get(testCaseId) ?? [] }];
  });
}

type EvaluatedTest = {
  readonly evaluation: Evaluation;
  readonly contract: ContractFacts;
  readonly active: readonly MonitorId[];
};

function evaluateTest(
  { before, history, quarantineHistory, activeMonitors, mutes }: KnownTest,
  settings: ResolvedHealthSettings,
  now: Date,
): EvaluatedTest {
  const classifiedBefore = {
    mutes,
    manualStatus: before.manual_status,
    wasQuarantined: before.quarantined_at !== null && before.quarantine_setting === 'AUTO_QUARANTINE',
    wasActive: activeMonitors,
  };
  const evaluateBy = (by: TestCaseHistory) => evaluate(by, settings, classifiedBefore, now.getTime());
  const evaluation = before.ordinal === null ? asPut(before) : evaluateBy(history);
  const forQuarantine =
    before.ordinal === null || quarantineHistory === history ? evaluation : evaluateBy(quarantineHistory);
  const mayAutoQuarantine = evaluation.mayAutoQuarantine && forQuarantine.mayAutoQuarantine;
  return {
    evaluation,
    contract: contractFacts(before, { ...evaluation, mayAutoQuarantine }, settings),
    active: evaluation.monitors.filter(({ isActive }) => isActive).map(({ monitor }) => monitor),
  };
}

/** Room for every test: how many others are quarantined does not count. */
export const unlimitedRoom: QuarantineRoom = { quarantined: 0, suite: Number.MAX_SAFE_INTEGER };

/** The decision about one test alone: nothing is read or written. Settings that are tried are decided by it (try-settings.ts). */
export function classifyTest(
  known: KnownTest,
  settings: ResolvedHealthSettings,
  room: QuarantineRoom,
  now: Date,
): Pick<EvaluatedTest, 'active'> & { readonly verdict: TestClassification } {
  const { evaluation, contract, active } = evaluateTest(known, settings, now);
  const decided = decideQuarantine(contract, room, now.getTime());
  return { verdict: applyEvaluation(known.before, evaluation, decided, now), active };
}

/** A test that only a sandbox knows has the status that the sandbox set. */
function asPut(before: TestHealthRow): Evaluation {
  const value = before.manual_status ?? before.status;
  const reason = value === before.status ? before.status_reason : 'A person set this status.';
  return { status: { value, reason }, monitors: [], mayAutoQuarantine: true, culprit: null, edge: null };
}

const contractFacts = (
  before: TestHealthRow,
  { status, mayAutoQuarantine }: Evaluation,
  settings: ResolvedHealthSettings,
): ContractFacts => ({
  settings,
  before: {
    setting: before.quarantine_setting,
    isQuarantined: before.quarantined_at !== null,
    expiresAt: before.quarantine_expires_at?.getTime() ?? null,
    heldBack: before.quarantine_held_back,
    warnedDays: before.quarantine_warned_days,
  },
  status: status.value,
  mayAutoQuarantine,
  test: { name: before.name, file: before.file_path },
});

/** The room is counted only if a test is to enter quarantine: most uploads change nothing about it. */
async function readRoom(
  tx: Tx,
  lock: TestsLock,
  contracts: readonly ContractFacts[],
  { settings, now }: Pick<Occasion, 'settings' | 'now'>,
): Promise<QuarantineRoom> {
  if (!contracts.some((contract) => beginsQuarantine(contract, now.getTime())))
    return { quarantined: 0, suite: 0 };
  return readQuarantineRoom(tx, lock.repositoryId, suiteEnough(settings.quarantine));
}

function applyEvaluation(
  before: TestHealthRow,
  { status }: Evaluation,
  decided: DecidedQuarantine,
  now: Date,
): TestClassification {
  return {
    id: before.id,
    status: status.value,
    // A healthy test needs a reason only if it was not healthy before.
    status_reason:
      status.value === 'healthy' && before.status === 'healthy' ? before.status_reason : status.reason,
    isStatusNew: status.value !== before.status,
    quarantine_setting: decided.setting,
    quarantine_expires_at: decided.expiresAt === null ? null : new Date(decided.expiresAt),
    quarantined_at: decided.isQuarantined ? (before.quarantined_at ?? now) : null,
    quarantine_held_back: decided.heldBack,
    quarantine_warned_days: decided.warnedDays,
  };
}

const isChanged = (before: TestHealthRow, after: TestClassification): boolean =>
  after.isStatusNew ||
  after.status_reason !== before.status_reason ||
  after.quarantine_setting !== before.quarantine_setting ||
  after.quarantine_expires_at?.getTime() !== before.quarantine_expires_at?.getTime() ||
  after.quarantine_held_back !== before.quarantine_held_back ||
  after.quarantine_warned_days !== before.quarantine_warned_days ||
  (after.quarantined_at === null) !== (before.quarantined_at === null);

function collectTestFacts(
  { before, history, activeMonitors: wasActive }: KnownTest,
  after: TestClassification,
  { monitors }: Evaluation,
): readonly TestFact[] {
  const testCaseId = before.id;
  const facts: TestFact[] = monitors
    .filter(({ monitor, isActive }) => wasActive.includes(monitor) !== isActive)
    .map(({ monitor, isActive, evidence }) => ({
      testCaseId,
      kind: 'monitor_status_changed',
      before: { monitor, isActive: !isActive },
      after: { monitor, isActive, evidence },
    }));
  if (after.isStatusNew)
    facts.push({
      testCaseId,
      kind: 'status_changed',
      before: { value: before.status, reason: before.status_reason },
      after: { value: after.status, reason: after.status_reason },
      ...(before.ordinal === null
        ? {}
        : { repeats: countRepeats(history, before.status, before.status_changed_at.getTime()) }),
    });
  if (after.quarantine_setting !== before.quarantine_setting)
    facts.push({
      testCaseId,
      kind: 'quarantining_setting_changed',
      before: { setting: before.quarantine_setting },
      after: { setting: after.quarantine_setting },
    });
  if (after.quarantine_held_back !== null && after.quarantine_held_back !== before.quarantine_held_back)
    facts.push({
      testCaseId,
      kind: 'quarantine_held_back',
      before: { reason: before.quarantine_held_back },
      after: { reason: after.quarantine_held_back },
    });
  return facts;
}

/** The end of a quarantine is announced in the transaction that remembers it: once, also if a worker is killed. */
const announceEnd = (
  { id, quarantine_expires_at: endsAt }: TestClassification,
  { quarantine_warned_days: warnedDays }: TestHealthRow,
  days: number,
): TestFact => ({
  testCaseId: id,
  kind: 'quarantine_ending',
  before: { days: warnedDays },
  after: { days, endsAt: endsAt?.toISOString() },
});

/** Classifies tests again from their stored history; a test that never failed has none. */
export async function reclassifyTests(
  tx: Tx,
  lock: TestsLock,
  testCaseIds: readonly string[],
  occasion: Occasion,
): Promise<void> {
  const watched = new Map(
    (await findHistoriesByTestId(tx, lock.repositoryId, testCaseIds)).map((test) => [test.testCaseId, test]),
  );
  const tests = testCaseIds.map((testCaseId): TestToClassify => {
    const known = watched.get(testCaseId);
    return {
      testCaseId,
      history: known?.history ?? emptyHistory,
      activeMonitors: known?.activeMonitors ?? [],
    };
  });
  const classifications = await classifyTests(tx, lock, tests, occasion);
  const changed = [...watched.values()].flatMap((test) => {
    const active = classifications.get(test.testCaseId)?.activeMonitors ?? test.activeMonitors;
    return active.join() === test.activeMonitors.join() ? [] : [{ ...test, activeMonitors: active }];
  });
  await putActiveMonitors(tx, lock, changed);
}
