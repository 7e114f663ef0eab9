// Changes that people make to single tests and to the test-health settings of a repository. Each change, its line in the
// audit log and the new statuses of the tests commit together.

import { monitorIds } from '#core/health/monitor/monitors.ts';
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

type Write = (tx: Tx, lock: TestsLock, before: OverrideRow) => Promise<{ before: unknown; after: unknown }>;

/** Null: the repository has no such test. */
function changeTest(change: TestChange, action: string, write: Write): Promise<OverrideRow | null> {
  const { cell, repository, testCaseId, by } = change;
  return withTestsLock(cell, repository.id, async (tx, lock) => {
    const before = await findOverride(tx, repository.id, testCaseId);
    if (before === null) return null;
    const subject = `${fullName(repository)} ${testCaseId} ${before.name}`;
    await recordAudit(tx, by, { action, subject, ...(await write(tx, lock, before)) });
    await reclassify(tx, lock, [testCaseId], by);
    return findOverride(tx, repository.id, testCaseId);
  });
}

export const setQuarantine = (change: TestChange, requested: QuarantineUpdate): Promise<OverrideRow | null> =>
  changeTest(change, 'test.quarantine', async (tx, lock, before) => {
    await putQuarantine(tx, lock, change.testCaseId, requested);
    const { actor, now } = change.by;
    if (before.quarantine_setting !== requested.setting) {
      const said = { before: { setting: before.quarantine_setting }, after: { setting: requested.setting } };
      const fact = { testCaseId: change.testCaseId, kind: 'quarantining_setting_changed', ...said } as const;
      await appendTestFacts(tx, lock, [fact], { kind: 'person', actor }, now);
    }
    return {
      before: {
        setting: before.quarantine_setting,
        expiresAt: before.quarantine_expires_at,
        owner: before.quarantine_owner,
        note: before.quarantine_note,
      },
      after: requested,
    };
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
export function setTicket(
  { cell, repository, by }: RepositoryChange,
  { testCaseId, ticketId }: { readonly testCaseId: string; readonly ticketId: string },
): Promise<boolean> {
  return withTransaction(cell, async (tx) => {
    if (!(await linkTicket(tx, repository.id, testCaseId, ticketId))) return false;
    const subject = `${fullName(repository)} ${testCaseId}`;
    await recordAudit(tx, by, { action: 'test.ticket', subject, before: null, after: { ticketId } });
    return true;
  });
}

export function changeSettings(
  { cell, repository, by }: RepositoryChange,
  requested: HealthSettingsOverrides,
): Promise<ResolvedHealthSettings> {
  return withTestsLock(cell, repository.id, async (tx, lock) => {
    const before = await findHealthChange(tx, repository.id);
    const after = merged(before ?? {}, requested);
    await saveHealthChange(tx, repository.id, after, by.now);
    await recordAudit(tx, by, { action: 'health.settings', subject: fullName(repository), before, after });
    await reclassify(tx, lock, 'all', by);
    return completeSettings(after);
  });
}

/** The previous choice, overridden by the new one. */
function merged(
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
  };
}
