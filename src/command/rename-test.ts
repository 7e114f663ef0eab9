// Carries the history of a test over to its new name, and takes it back.
//
//   The history stays where it is: it is read together with that of the former name (core/health/rename/continue-history.ts).
//   What people had set is copied (db/health/carried-store.ts), depending on how sure the rename is:
//
//     renamed    owner, note and ticket, and “never quarantine”. No quarantine: a similar name is no proof.
//     moved      also an automatic quarantine with its end, and the incident with its issue. It excuses a failure only if the
//                former test was contradicted with the same one.
//     confirmed  everything, also what hides failures of any kind: “always quarantine”, a status that was set, mutes
//
// Undone, the test has its own history and settings alone, and the pair is never joined again automatically.

import { emptyHistory, type TestCaseHistory } from '#core/health/history.ts';
import { evaluate } from '#core/health/monitor/monitor.ts';
import type { MonitorId } from '#core/health/monitor/monitors.ts';
import type { ResolvedHealthSettings } from '#core/health/settings.ts';
import { historyAt, listInstants } from '#core/health/trial/history-at.ts';
import { dayMs } from '#base/duration.ts';
import { fullName } from '#core/repository.ts';
import { recordAudit } from '#db/audit-store.ts';
import type { Tx } from '#db/cell.ts';
import {
  type CarriedTerms,
  copyMutes,
  findTerms,
  joinIncident,
  leaveIncident,
  putTerms,
  removeMutes,
  type TestTerms,
} from '#db/rename/carried-store.ts';
import { findHealthSettings } from '#db/health/health-settings-store.ts';
import { addHours, findHistoriesByTestId, putHistories, removeHistory } from '#db/health/history-store.ts';
import { findOrdinals, noteWatchChange } from '#db/health/numbering-store.ts';
import {
  findRename,
  listRivalRenames,
  putRenameState,
  putStatedRename,
  removeRename,
  type RenameRow,
} from '#db/rename/rename-store.ts';
import { listLaterTests } from '#db/rename/rename-view.ts';
import { enqueueIssues } from '#db/job/job.ts';
import { type TestsLock, withTestsLock } from '#db/transaction.ts';
import { appendTestFacts, type FactTrigger } from '#db/health/verdict-store.ts';
import { reclassifyTests } from './classify-tests.ts';
import { addEarlierPasses } from './earlier-passes.ts';
import type { TestChange } from './override-test.ts';

type RenameOccasion = {
  readonly settings: ResolvedHealthSettings;
  readonly trigger: FactTrigger;
  readonly now: Date;
};

/** What a person answers to a rename of the test. */
type RenameAnswer = 'set' | 'no-test' | 'no-former' | 'same-test' | 'circle';

/** A person confirms or states that the test had another name, or undoes that. */
export function setRename(
  change: TestChange,
  { formerId, isRename }: { readonly formerId: string; readonly isRename: boolean },
): Promise<RenameAnswer> {
  const { cell, repository, testCaseId, by } = change;
  return withTestsLock(cell, repository.id, async (tx, lock) => {
    if ((await findTerms(tx, lock, testCaseId)) === null) return 'no-test';
    if (formerId === testCaseId) return 'same-test';
    const settings = await findHealthSettings(tx, repository.id);
    const occasion = { settings, trigger: { kind: 'person', actor: by.actor }, now: by.now } as const;
    const before = await findRename(tx, lock, testCaseId, formerId);
    if (isRename) {
      if ((await findTerms(tx, lock, formerId)) === null) return 'no-former';
      if ((await listLaterTests(tx, repository.id, testCaseId)).includes(formerId)) return 'circle';
      for (const rival of await listRivalRenames(tx, lock, testCaseId, formerId))
        await endRename(tx, lock, rival, 'undone', occasion);
      if (before === null) await putStatedRename(tx, lock, testCaseId, formerId, by.now);
      const rename = before ?? (await findRename(tx, lock, testCaseId, formerId));
      if (rename !== null) await beginRename(tx, lock, rename, occasion);
    } else if (before === null) return 'no-former';
    else await endRename(tx, lock, before, 'undone', occasion);
    await recordAudit(tx, by, {
      action: 'test.rename',
      subject: `${fullName(repository)} ${testCaseId}`,
      before: before === null ? null : { formerId, state: before.state },
      after: { formerId, isRename },
    });
    return 'set';
  });
}

/** From now on the test continues the former one. A person's word carries everything. */
export async function beginRename(
  tx: Tx,
  lock: TestsLock,
  rename: RenameRow,
  occasion: RenameOccasion,
): Promise<void> {
  const { test_case_id: id, former_id: formerId } = rename;
  const { trigger, now } = occasion;
  const by = trigger.kind === 'person' ? trigger.actor : null;
  const level = by === null ? (rename.kind === 'moved' ? 'moved' : 'renamed') : 'confirmed';
  await watchLike(tx, lock, id, formerId, now);
  const carried = await carryTerms(tx, lock, rename, level, now);
  const carriesQuarantine = level !== 'renamed';
  if (carriesQuarantine) await joinIncident(tx, lock, formerId, id, now);
  await putRenameState(tx, lock, rename, { state: 'active', carriesQuarantine, carried, by }, now);
  if (rename.state !== 'active') await announce(tx, lock, rename, true, occasion);
  await reclassifyWithLater(tx, lock, id, occasion);
}

/** The test is on its own again; `ended`: because the former test is back. */
export async function endRename(
  tx: Tx,
  lock: TestsLock,
  rename: RenameRow,
  state: 'undone' | 'ended',
  occasion: RenameOccasion,
): Promise<void> {
  const { test_case_id: id, former_id: formerId, carries_quarantine: carriesQuarantine, carried } = rename;
  const { trigger, now } = occasion;
  const by = trigger.kind === 'person' ? trigger.actor : null;
  if (rename.state === 'undone' || rename.state === 'ended') {
    await putRenameState(tx, lock, rename, { state, carriesQuarantine, carried, by }, now);
    return;
  }
  if (rename.state === 'suspected' && state === 'ended') {
    await removeRename(tx, lock, rename);
    return;
  }
  await putRenameState(tx, lock, rename, { state, carriesQuarantine: false, carried: null, by }, now);
  if (rename.state === 'suspected') return;
  if (carried !== null) await returnTerms(tx, lock, id, carried);
  if (carriesQuarantine) await leaveIncident(tx, lock, formerId, id);
  await watchAlone(tx, lock, id, occasion);
  await announce(tx, lock, rename, false, occasion);
  await reclassifyWithLater(tx, lock, id, occasion);
  if (occasion.settings.quarantine.openIssues) await enqueueIssues(tx, { repositoryId: lock.repositoryId });
}

async function reclassifyWithLater(
  tx: Tx,
  lock: TestsLock,
  id: string,
  occasion: RenameOccasion,
): Promise<void> {
  const later = await listLaterTests(tx, lock.repositoryId, id);
  await reclassifyTests(tx, lock, [id, ...later], occasion);
}

const announce = (
  tx: Tx,
  lock: TestsLock,
  { test_case_id: testCaseId, former_id, former_name, kind, sha }: RenameRow,
  isCarried: boolean,
  { trigger, now }: RenameOccasion,
): Promise<void> => {
  const known = { former_test_case_id: former_id, former_name, how: kind, commit: sha };
  const fact = {
    testCaseId,
    kind: 'renamed',
    before: { is_carried: !isCarried },
    after: { is_carried: isCarried, ...known },
  } as const;
  return appendTestFacts(tx, lock, [fact], trigger, now);
};

/** A test that never failed is not watched. Now it is, as if it had failed: its runs count for the former test's recovery. */
async function watchLike(tx: Tx, lock: TestsLock, id: string, formerId: string, now: Date): Promise<void> {
  const watched = await findHistoriesByTestId(tx, lock.repositoryId, [id, formerId]);
  const former = watched.find(({ testCaseId }) => testCaseId === formerId);
  const own = watched.find(({ testCaseId }) => testCaseId === id);
  if (former === undefined) return;
  if (own !== undefined) {
    const activeMonitors = [...new Set([...own.activeMonitors, ...former.activeMonitors])];
    await putHistories(tx, lock, [{ ...own, activeMonitors }]);
    return;
  }
  const ordinal = (await findOrdinals(tx, lock.repositoryId, [id])).get(id) ?? null;
  if (ordinal === null) return;
  const { activeMonitors, lastFailedAt } = former;
  const fresh = { ordinal, testCaseId: id, history: emptyHistory, activeMonitors, lastFailedAt };
  const hours = await addEarlierPasses(tx, lock.repositoryId, [fresh], now, []);
  await putHistories(tx, lock, [fresh]);
  await addHours(tx, lock, hours);
  await noteWatchChange(tx, lock);
}

/** The monitors that are active by the test's own history alone; a test that never failed is not watched any more. */
async function watchAlone(
  tx: Tx,
  lock: TestsLock,
  id: string,
  { settings, now }: RenameOccasion,
): Promise<void> {
  const [own] = await findHistoriesByTestId(tx, lock.repositoryId, [id]);
  if (own === undefined) return;
  if (own.history.lastFailureAt > 0) {
    const activeMonitors = replayMonitors(own.history, settings, now.getTime());
    await putHistories(tx, lock, [{ ...own, activeMonitors }]);
    return;
  }
  await removeHistory(tx, lock, id);
  await noteWatchChange(tx, lock);
}

const replayedDays = 14;

/** An active monitor stays active until it resolves, so its state follows from all that happened. */
function replayMonitors(
  history: TestCaseHistory,
  settings: ResolvedHealthSettings,
  now: number,
): readonly MonitorId[] {
  let wasActive: readonly MonitorId[] = [];
  for (const at of listInstants(history, now - replayedDays * dayMs, now)) {
    const before = { mutes: [], manualStatus: null, wasActive };
    const { monitors } = evaluate(historyAt(history, at, now), settings, before, at);
    wasActive = monitors.filter(({ isActive }) => isActive).map(({ monitor }) => monitor);
  }
  return wasActive;
}

const quarantineDates = [
  'quarantined_at',
  'quarantine_expires_at',
  'quarantine_held_back',
  'quarantine_warned_days',
] as const satisfies readonly (keyof TestTerms)[];

type CarriedLevel = 'renamed' | 'moved' | 'confirmed';

async function carryTerms(
  tx: Tx,
  lock: TestsLock,
  { test_case_id: id, former_id: formerId, carried: earlier }: RenameRow,
  level: CarriedLevel,
  now: Date,
): Promise<CarriedTerms | null> {
  const [own, former] = [await findTerms(tx, lock, id), await findTerms(tx, lock, formerId)];
  if (own === null || former === null) return earlier;
  const after = chooseTerms(own, former, level);
  const dates = level === 'renamed' ? [] : quarantineDates;
  const changed = [...(Object.keys(after) as (keyof TestTerms)[]), ...dates];
  const before = Object.fromEntries(changed.map((name) => [name, own[name]])) as Partial<TestTerms>;
  await putTerms(tx, lock, id, after);
  const mutes = level === 'confirmed' ? await copyMutes(tx, lock, formerId, id, now) : [];
  return {
    before: { ...before, ...earlier?.before },
    after: { ...earlier?.after, ...after },
    mutes: [...(earlier?.mutes ?? []), ...mutes],
  };
}

/** The columns that change. What a person has set for the test itself stays. */
export function chooseTerms(own: TestTerms, former: TestTerms, level: CarriedLevel): Partial<TestTerms> {
  const chosen: { -readonly [Name in keyof TestTerms]?: TestTerms[Name] } = {};
  const { quarantine_owner: owner, quarantine_note: note, ticket_id: ticket, manual_status: manual } = former;
  if (own.quarantine_owner === null && owner !== null) chosen.quarantine_owner = owner;
  if (own.quarantine_note === null && note !== null) chosen.quarantine_note = note;
  if (own.ticket_id === null && ticket !== null) chosen.ticket_id = ticket;
  if (level === 'confirmed' && own.manual_status === null && manual !== null) chosen.manual_status = manual;
  const setting = former.quarantine_setting;
  const isCarried =
    setting === 'NEVER_QUARANTINE' ||
    (setting === 'AUTO_QUARANTINE' && level !== 'renamed') ||
    level === 'confirmed';
  if (own.quarantine_setting !== 'AUTO_QUARANTINE' || !isCarried) return chosen;
  if (setting !== 'AUTO_QUARANTINE') chosen.quarantine_setting = setting;
  // An automatic quarantine that began under the former name ends when it would have ended.
  if (former.quarantine_expires_at !== null || former.quarantine_held_back !== null) {
    chosen.quarantined_at = former.quarantined_at;
    chosen.quarantine_expires_at = former.quarantine_expires_at;
    chosen.quarantine_held_back = former.quarantine_held_back;
    chosen.quarantine_warned_days = former.quarantine_warned_days;
  }
  return chosen;
}

async function returnTerms(tx: Tx, lock: TestsLock, id: string, carried: CarriedTerms): Promise<void> {
  const own = await findTerms(tx, lock, id);
  if (own === null) return;
  await putTerms(tx, lock, id, termsToReturn(own, carried));
  await removeMutes(tx, lock, id, carried.mutes);
}

/** The columns as they were before; what was changed since then stays. */
export function termsToReturn(own: TestTerms, { before, after }: CarriedTerms): Partial<TestTerms> {
  const isUnchanged = (name: keyof TestTerms) => own[name] === after[name];
  const names = (Object.keys(before) as (keyof TestTerms)[]).filter(isUnchanged);
  const returned = Object.fromEntries(names.map((name) => [name, before[name]])) as Partial<TestTerms>;
  // The classification moves the dates of an automatic quarantine. What began with the rename ends with it.
  const setting = returned.quarantine_setting ?? own.quarantine_setting;
  if (setting !== 'AUTO_QUARANTINE') return returned;
  const dates = quarantineDates.filter((name) => name in before).map((name) => [name, before[name]] as const);
  return { ...returned, ...Object.fromEntries(dates) };
}
