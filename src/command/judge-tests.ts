// Judges tests and writes what changed: status and quarantine of each, with a fact for whoever is to be told. What is
// judged is the history that is handed in; who asks (an upload, the passing of time, a person) is the trigger.

import { evaluate, type Evaluation } from '#core/health/monitor.ts';
import { emptyHistory, type History } from '#core/health/history.ts';
import { isOverrideOver, quarantineOf, type QuarantineSetting } from '#core/health/quarantine.ts';
import type { HealthSettings, MonitorId } from '#core/health/settings.ts';
import type { HealthStatus } from '#core/health/status.ts';
import type { Tx } from '#db/cell.ts';
import { findHistoriesOf, putActiveMonitors } from '#db/history-store.ts';
import type { TestsLock } from '#db/transaction.ts';
import {
  appendTestFacts,
  type FactTrigger,
  findMutes,
  findStandings,
  putVerdicts,
  type Standing,
  type TestFact,
  type Verdict,
} from '#db/verdict-store.ts';

export type JudgedTest = {
  readonly testCaseId: string;
  readonly history: History;
  /** Monitors that were active when it was last judged. */
  readonly activeMonitors: readonly MonitorId[];
};

export type Judgement = {
  readonly before: Standing;
  readonly status: HealthStatus;
  readonly activeMonitors: readonly MonitorId[];
};

type Occasion = {
  readonly settings: HealthSettings;
  readonly trigger: FactTrigger;
  readonly now: Date;
};

/** By the tests' ids; a test that is not there any more has no judgement. */
export async function judgeTests(
  tx: Tx,
  lock: TestsLock,
  tests: readonly JudgedTest[],
  { settings, trigger, now }: Occasion,
): Promise<ReadonlyMap<string, Judgement>> {
  const ids = tests.map((test) => test.testCaseId);
  if (ids.length === 0) return new Map();
  const standings = await findStandings(tx, lock.repositoryId, ids);
  const mutes = await findMutes(tx, lock.repositoryId, ids, now);
  const judgements = new Map<string, Judgement>();
  const verdicts: Verdict[] = [];
  const facts: TestFact[] = [];
  for (const { testCaseId, history, activeMonitors } of tests) {
    const before = standings.get(testCaseId);
    if (before === undefined) continue;
    const judged = { mutes: mutes.get(testCaseId) ?? [], manualStatus: before.manual_status };
    const evaluation =
      before.ordinal === null
        ? asPut(before)
        : evaluate(history, settings, { ...judged, wasActive: activeMonitors }, now.getTime());
    const verdict = verdictOf(before, evaluation, settings, now);
    if (isChanged(before, verdict)) verdicts.push(verdict);
    facts.push(...factsOf(before, verdict, evaluation, activeMonitors));
    const active = evaluation.monitors.filter(({ isActive }) => isActive).map(({ monitor }) => monitor);
    judgements.set(testCaseId, { before, status: verdict.status, activeMonitors: active });
  }
  await putVerdicts(tx, lock, verdicts, now);
  await appendTestFacts(tx, lock, facts, trigger, now);
  return judgements;
}

/** A test that only a sandbox knows is what the sandbox said. */
function asPut(before: Standing): Evaluation {
  const value = before.manual_status ?? before.status;
  const reason = value === before.status ? before.status_reason : 'A person marked it so.';
  return { status: { value, reason }, monitors: [], mayAutoQuarantine: true, culprit: null };
}

function verdictOf(
  before: Standing,
  { status, mayAutoQuarantine }: Evaluation,
  settings: HealthSettings,
  now: Date,
): Verdict {
  // An override that is over is one no more.
  const isOver = isOverrideOver(before.quarantine_expires_at?.getTime() ?? null, now.getTime());
  const setting: QuarantineSetting = isOver ? 'AUTO_QUARANTINE' : before.quarantine_setting;
  const expiresAt = isOver ? null : before.quarantine_expires_at;
  const facts = { settings, setting, expiresAt: null, status: status.value, mayAutoQuarantine };
  const isQuarantined = quarantineOf(facts, now.getTime());
  return {
    id: before.id,
    status: status.value,
    // That a test is healthy needs a reason only if it was not.
    status_reason:
      status.value === 'healthy' && before.status === 'healthy' ? before.status_reason : status.reason,
    isStatusNew: status.value !== before.status,
    quarantine_setting: setting,
    quarantine_expires_at: expiresAt,
    quarantined_at: isQuarantined ? (before.quarantined_at ?? now) : null,
  };
}

const isChanged = (before: Standing, after: Verdict): boolean =>
  after.isStatusNew ||
  after.status_reason !== before.status_reason ||
  after.quarantine_setting !== before.quarantine_setting ||
  (after.quarantined_at === null) !== (before.quarantined_at === null);

function factsOf(
  before: Standing,
  after: Verdict,
  { monitors }: Evaluation,
  wasActive: readonly MonitorId[],
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
    });
  if (after.quarantine_setting !== before.quarantine_setting)
    facts.push({
      testCaseId,
      kind: 'quarantining_setting_changed',
      before: { setting: before.quarantine_setting },
      after: { setting: after.quarantine_setting },
    });
  return facts;
}

/** Judges tests anew by what is stored of them; one that never failed has no history. */
export async function rejudgeTests(
  tx: Tx,
  lock: TestsLock,
  testCaseIds: readonly string[],
  occasion: Occasion,
): Promise<void> {
  const watched = new Map(
    (await findHistoriesOf(tx, lock.repositoryId, testCaseIds)).map((test) => [test.testCaseId, test]),
  );
  const tests = testCaseIds.map((testCaseId): JudgedTest => {
    const known = watched.get(testCaseId);
    return {
      testCaseId,
      history: known?.history ?? emptyHistory,
      activeMonitors: known?.activeMonitors ?? [],
    };
  });
  const judgements = await judgeTests(tx, lock, tests, occasion);
  const changed = [...watched.values()].flatMap((test) => {
    const active = judgements.get(test.testCaseId)?.activeMonitors ?? test.activeMonitors;
    return active.join() === test.activeMonitors.join() ? [] : [{ ...test, activeMonitors: active }];
  });
  await putActiveMonitors(tx, lock, changed);
}
