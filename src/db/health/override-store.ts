// Writes people's decisions about single tests: the override columns of test_case, and test_mute.

import type { RepositoryId } from '#base/id.ts';
import type { HeldBackReason } from '#core/health/quarantine/quarantine-contract.ts';
import type { QuarantineSetting } from '#core/health/quarantine/quarantine.ts';
import type { HealthStatus } from '#core/health/status.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';
import { quarantineOwnersColumn } from './test-view.ts';

export type OverrideRow = {
  readonly id: string;
  readonly name: string;
  readonly status: HealthStatus;
  readonly manual_status: HealthStatus | null;
  readonly quarantine_setting: QuarantineSetting;
  readonly quarantined_at: Date | null;
  readonly quarantine_expires_at: Date | null;
  readonly quarantine_held_back: HeldBackReason | null;
  readonly quarantine_owner: string | null;
  readonly quarantine_owners: string[];
  readonly quarantine_note: string | null;
};

const selectOverride = statement<[repositoryId: string, id: string], OverrideRow>(`
  select c.id, c.name, c.status, c.manual_status, c.quarantine_setting, c.quarantined_at, c.quarantine_expires_at,
    c.quarantine_held_back, c.quarantine_owner, ${quarantineOwnersColumn}, c.quarantine_note
  from test_case c where c.repository_id = $1 and c.id = $2`);

export async function findOverride(
  db: Tx,
  repositoryId: RepositoryId,
  testCaseId: string,
): Promise<OverrideRow | null> {
  return (await selectOverride(db, repositoryId, testCaseId))[0] ?? null;
}

export type QuarantineUpdate = {
  readonly setting: QuarantineSetting;
  readonly expiresAt: Date | null;
  readonly owner: string | null;
  readonly note: string | null;
  /** The announcement of its end that is not due any more; null: all are. */
  readonly warnedDays: number | null;
};

const updateQuarantine = statement<
  [
    repositoryId: string,
    id: string,
    setting: string,
    expiresAt: Date | null,
    owner: string | null,
    note: string | null,
    warnedDays: number | null,
  ]
>(`
  update test_case set quarantine_setting = $3, quarantine_expires_at = $4, quarantine_owner = $5, quarantine_note = $6,
    quarantine_warned_days = $7, quarantine_held_back = null
  where repository_id = $1 and id = $2`);

export const putQuarantine = (
  tx: Tx,
  { repositoryId }: TestsLock,
  testCaseId: string,
  { setting, expiresAt, owner, note, warnedDays }: QuarantineUpdate,
): Promise<unknown> =>
  updateQuarantine(tx, repositoryId, testCaseId, setting, expiresAt, owner, note, warnedDays);

const updateManual = statement<[string, string, status: string | null]>(
  'update test_case set manual_status = $3 where repository_id = $1 and id = $2',
);

export const putManualStatus = (
  tx: Tx,
  { repositoryId }: TestsLock,
  testCaseId: string,
  status: HealthStatus | null,
): Promise<unknown> => updateManual(tx, repositoryId, testCaseId, status);

export type MuteRow = { readonly monitor: string; readonly until: Date; readonly reason: string };

const selectMute = statement<[string, string, monitor: string], MuteRow>(
  'select monitor, until, reason from test_mute where repository_id = $1 and test_case_id = $2 and monitor = $3',
);

export async function findMute(
  db: Tx,
  repositoryId: RepositoryId,
  testCaseId: string,
  monitor: string,
): Promise<MuteRow | null> {
  return (await selectMute(db, repositoryId, testCaseId, monitor))[0] ?? null;
}

const upsertMute = statement<[string, string, monitor: string, until: Date, reason: string]>(`
  insert into test_mute (repository_id, test_case_id, monitor, until, reason) values ($1, $2, $3, $4, $5)
  on conflict (repository_id, test_case_id, monitor) do update set until = excluded.until, reason = excluded.reason`);

export const putMute = (
  tx: Tx,
  { repositoryId }: TestsLock,
  testCaseId: string,
  { monitor, until, reason }: MuteRow,
): Promise<unknown> => upsertMute(tx, repositoryId, testCaseId, monitor, until, reason);

const deleteMute = statement<[string, string, monitor: string]>(
  'delete from test_mute where repository_id = $1 and test_case_id = $2 and monitor = $3',
);

export const removeMute = (
  tx: Tx,
  { repositoryId }: TestsLock,
  testCaseId: string,
  monitor: string,
): Promise<unknown> => deleteMute(tx, repositoryId, testCaseId, monitor);

const selectOverrides = statement<[repositoryId: string, ids: readonly string[] | null], { id: string }>(`
  select c.id from test_case c
  where c.repository_id = $1 and case when $2::uuid[] is not null then c.id = any ($2::uuid[])
    else c.status <> 'healthy' or c.quarantined_at is not null or c.quarantine_setting <> 'AUTO_QUARANTINE'
      or exists (select from test_history h where h.repository_id = $1 and h.test_case_id = c.id) end`);

/** Those of the ids; of all, those that a change of settings can touch. */
export const listOverrides = (
  db: Tx,
  repositoryId: RepositoryId,
  testCaseIds: readonly string[] | 'all',
): Promise<{ id: string }[]> => selectOverrides(db, repositoryId, testCaseIds === 'all' ? null : testCaseIds);
