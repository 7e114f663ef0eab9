// Changes that people make to single tests and to the test-health settings of a repository. Each change, its line in the
// audit log and the new statuses of the tests commit together.

import { monitorIds } from '#core/health/monitor/monitors.ts';
import { reachedWarning } from '#core/health/quarantine/quarantine-contract.ts';
import {
  completeSettings,
  type ResolvedHealthSettings,
  type HealthSettingsOverrides,
} from '#core/health/settings.ts';
import type { HealthStatus } from '#core/health/status.ts';
import { fullName } from '#core/repository.ts';
import { type Auditor, recordAudit } from '#db/audit-store.ts';
import type { Cell, Tx } from '#db/cell.ts';
import { findHealthChange, saveHealthChange } from '#db/health/health-settings-store.ts';
import {
  findMute,
  findOverride,
  type MuteRow,
  type OverrideRow,
  putManualStatus,
  putMute,
  putQuarantine,
  type QuarantineUpdate,
  removeMute,
} from '#db/health/override-store.ts';
import { enqueueIssues } from '#db/job/job.ts';
import type { RepositoryRecord } from '#db/account/scope-view.ts';
import { linkTicket } from '#db/health/test-store.ts';
import { type TestsLock, withTestsLock, withTransaction } from '#db/transaction.ts';
import { appendTestFacts } from '#db/health/verdict-store.ts';
import { reclassify } from './reclassify.ts';

export type RepositoryChange = {
  readonly cell: Cell;
  readonly repository: RepositoryRecord;
  readonly by: Auditor;
};
export type TestChange = RepositoryChange & { readonly testCaseId: string };

type Write<Result> = (tx: Tx, lock: TestsLock, before: OverrideRow) => Promise<Result>;

/** Writes a change of one test and classifies the test again. Null: the repository has no such test. */
function writeTest(change: TestChange, write: Write<void>): Promise<OverrideRow | null> {
  const { cell, repository, testCaseId, by } = change;
  return withTestsLock(cell, repository.id, async (tx, lock) => {
    const before = await findOverride(tx, repository.id, testCaseId);
    if (before === null) return null;
    await write(tx, lock, before);
    await reclassify(tx, lock, [testCaseId], by);
    return findOverride(tx, repository.id, testCaseId);
  });
}

/** The same, with a line in the audit log of what was before and what is after. */
const changeTest = (
  change: TestChange,
  action: string,
  write: Write<{ before: unknown; after: unknown }>,
): Promise<OverrideRow | null> =>
  writeTest(change, async (tx, lock, before) => {
    const subject = `${fullName(change.repository)} ${change.testCaseId} ${before.name}`;
    await recordAudit(tx, change.by, { action, subject, ...(await write(tx, lock, before)) });
  });

type RequestedQuarantine = Omit<QuarantineUpdate, 'warnedDays'>;

export const setQuarantine = (
  change: TestChange,
  requested: RequestedQuarantine,
): Promise<OverrideRow | null> =>
  writeTest(change, async (tx, lock, before) => {
    const known = {
      name: before.name,
      setting: before.quarantine_setting,
      expiresAt: before.quarantine_expires_at,
      owner: before.quarantine_owner,
      note: before.quarantine_note,
    };
    await applyQuarantine(tx, lock, change, known, requested);
  });

/** Writes what was requested for a test; the caller classifies the test again. */
export async function applyQuarantine(
  tx: Tx,
  lock: TestsLock,
  { repository, testCaseId, by }: TestChange,
  before: RequestedQuarantine & { readonly name: string },
  { setting, expiresAt, owner, note }: RequestedQuarantine,
): Promise<void> {
  const requested = { setting, expiresAt, owner, note };
  await putQuarantine(tx, lock, testCaseId, withWarning(requested, by.now));
  const { name, setting: settingBefore } = before;
  if (settingBefore !== setting) {
    const said = { before: { setting: settingBefore }, after: { setting } };
    const fact = { testCaseId, kind: 'quarantining_setting_changed', ...said } as const;
    await appendTestFacts(tx, lock, [fact], { kind: 'person', actor: by.actor }, by.now);
  }
  await recordAudit(tx, by, {
    action: 'test.quarantine',
    subject: `${fullName(repository)} ${testCaseId} ${name}`,
    before: {
      setting: settingBefore,
      expiresAt: before.expiresAt,
      owner: before.owner,
      note: before.note,
    },
    after: requested,
  });
}

/** A quarantine that is set for three days begins without the warning of seven days. */
const withWarning = (requested: RequestedQuarantine, now: Date): QuarantineUpdate => ({
  ...requested,
  warnedDays:
    requested.expiresAt === null ? null : reachedWarning(requested.expiresAt.getTime(), now.getTime()),
});

export const flagTest = (
  change: TestChange,
  status: HealthStatus | null,
  note: string | null,
): Promise<OverrideRow | null> =>
  changeTest(change, 'test.flag', async (tx, lock, before) => {
    await putManualStatus(tx, lock, change.testCaseId, status);
    return { before: { status: before.manual_status }, after: { status, note } };
  });

/** `until` null, or in the past: the monitor counts again. */
export const muteMonitor = (
  change: TestChange,
  { monitor, until, reason }: Omit<MuteRow, 'until'> & { readonly until: Date | null },
): Promise<OverrideRow | null> =>
  changeTest(change, 'test.mute', async (tx, lock) => {
    const before = await findMute(tx, change.repository.id, change.testCaseId, monitor);
    const mute = until === null || until <= change.by.now ? null : { monitor, until, reason };
    if (mute === null) await removeMute(tx, lock, change.testCaseId, monitor);
    else await putMute(tx, lock, change.testCaseId, mute);
    return { before: before ?? { monitor, until: null }, after: mute ?? { monitor, until: null } };
  });

/** False: the repository has no such test. */
export const setTicket = (change: TestChange, ticketId: string): Promise<boolean> =>
  withTransaction(change.cell, (tx) => linkTestTicket(tx, change, ticketId));

/** False: the repository has no such test. */
export async function linkTestTicket(
  tx: Tx,
  { repository, testCaseId, by }: TestChange,
  ticketId: string,
): Promise<boolean> {
  if (!(await linkTicket(tx, repository.id, testCaseId, ticketId))) return false;
  const subject = `${fullName(repository)} ${testCaseId}`;
  await recordAudit(tx, by, { action: 'test.ticket', subject, before: null, after: { ticketId } });
  return true;
}

export function changeHealthSettings(
  { cell, repository, by }: RepositoryChange,
  requested: HealthSettingsOverrides,
): Promise<ResolvedHealthSettings> {
  return withTestsLock(cell, repository.id, async (tx, lock) => {
    const before = await findHealthChange(tx, repository.id);
    const after = mergeSettings(before ?? {}, requested);
    await saveHealthChange(tx, repository.id, after, by.now);
    await recordAudit(tx, by, { action: 'health.settings', subject: fullName(repository), before, after });
    await reclassify(tx, lock, 'all', by);
    // Also for tests that are quarantined already.
    if (after.quarantine?.openIssues === true) await enqueueIssues(tx, { repositoryId: repository.id });
    return completeSettings(after);
  });
}

/** The previous choice, overridden by the new one. */
export function mergeSettings(
  before: HealthSettingsOverrides,
  requested: HealthSettingsOverrides,
): HealthSettingsOverrides {
  const chosen = monitorIds.flatMap((id) => {
    const monitor = { ...before.monitors?.[id], ...requested.monitors?.[id] };
    return Object.keys(monitor).length === 0 ? [] : [[id, monitor] as const];
  });
  return {
    ...before,
    ...(requested.defaultBranches === undefined ? {} : { defaultBranches: requested.defaultBranches }),
    monitors: Object.fromEntries(chosen),
    quarantine: { ...before.quarantine, ...requested.quarantine },
    ...(before.fixes === undefined && requested.fixes === undefined
      ? {}
      : { fixes: { ...before.fixes, ...requested.fixes } }),
  };
}
