// What people have set for a test, carried over to its new name, and put back when a rename is undone. Of each column the value
// before and after is kept with the rename: what a person changed since then stays.

import type { QuarantineSetting } from '#core/health/quarantine/quarantine.ts';
import type { HealthStatus } from '#core/health/status.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';
import { type MuteRow, putMute, removeMute } from '../health/override-store.ts';

/** Columns of test_case; instants as texts. */
export type TestTerms = {
  readonly manual_status: HealthStatus | null;
  readonly quarantine_setting: QuarantineSetting;
  readonly quarantined_at: string | null;
  readonly quarantine_expires_at: string | null;
  readonly quarantine_held_back: string | null;
  readonly quarantine_warned_days: number | null;
  readonly quarantine_owner: string | null;
  readonly quarantine_note: string | null;
  readonly ticket_id: string | null;
};

export type CarriedTerms = {
  readonly before: Partial<TestTerms>;
  readonly after: Partial<TestTerms>;
  readonly mutes: readonly string[];
};

const termNames = `manual_status, quarantine_setting, quarantined_at, quarantine_expires_at, quarantine_held_back,
  quarantine_warned_days, quarantine_owner, quarantine_note, ticket_id`;

const selectTerms = statement<[repositoryId: string, id: string], { terms: TestTerms }>(`
  select to_jsonb(c) as terms from (select ${termNames} from test_case where repository_id = $1 and id = $2) c`);

/** Null: the test is gone. */
export const findTerms = async (
  tx: Tx,
  { repositoryId }: TestsLock,
  testCaseId: string,
): Promise<TestTerms | null> => (await selectTerms(tx, repositoryId, testCaseId))[0]?.terms ?? null;

const updateTerms = statement<[repositoryId: string, id: string, terms: string]>(`
  update test_case c set (${termNames}) = (
    select ${termNames} from jsonb_populate_record(c, $3::jsonb))
  where c.repository_id = $1 and c.id = $2`);

/** Writes these columns; the others stay. */
export async function putTerms(
  tx: Tx,
  { repositoryId }: TestsLock,
  testCaseId: string,
  terms: Partial<TestTerms>,
): Promise<void> {
  if (Object.keys(terms).length > 0) await updateTerms(tx, repositoryId, testCaseId, JSON.stringify(terms));
}

const selectMutes = statement<[string, formerId: string, id: string, now: Date], MuteRow>(`
  select monitor, until, reason from test_mute m
  where repository_id = $1 and test_case_id = $2 and until > $4 and not exists (
    select from test_mute own where own.repository_id = $1 and own.test_case_id = $3 and own.monitor = m.monitor)`);

/** Mutes the monitors that are muted for the former test; returns those that were not muted before. */
export async function copyMutes(
  tx: Tx,
  lock: TestsLock,
  formerId: string,
  testCaseId: string,
  now: Date,
): Promise<readonly string[]> {
  const mutes = await selectMutes(tx, lock.repositoryId, formerId, testCaseId, now);
  for (const mute of mutes) await putMute(tx, lock, testCaseId, mute);
  return mutes.map(({ monitor }) => monitor);
}

export async function removeMutes(
  tx: Tx,
  lock: TestsLock,
  testCaseId: string,
  monitors: readonly string[],
): Promise<void> {
  for (const monitor of monitors) await removeMute(tx, lock, testCaseId, monitor);
}

// A test that has an incident of its own keeps it.
const insertIncident = statement<[repositoryId: string, formerId: string, testCaseId: string, now: Date]>(`
  insert into test_incident_test (repository_id, test_case_id, incident_id, joined_at)
  select t.repository_id, $3::uuid, t.incident_id, $4::timestamptz
  from test_incident_test t join test_incident i on i.repository_id = t.repository_id and i.id = t.incident_id
  where t.repository_id = $1 and t.test_case_id = $2 and i.closed_at is null
  on conflict (repository_id, test_case_id) do nothing`);

/** The test joins the open incident of the former one, so its issue stays open. */
export const joinIncident = (
  tx: Tx,
  { repositoryId }: TestsLock,
  formerId: string,
  testCaseId: string,
  now: Date,
): Promise<unknown> => insertIncident(tx, repositoryId, formerId, testCaseId, now);

const deleteIncident = statement<[repositoryId: string, formerId: string, testCaseId: string]>(`
  delete from test_incident_test t where t.repository_id = $1 and t.test_case_id = $3 and exists (
    select from test_incident_test f
    where f.repository_id = $1 and f.test_case_id = $2 and f.incident_id = t.incident_id)`);

export const leaveIncident = (
  tx: Tx,
  { repositoryId }: TestsLock,
  formerId: string,
  testCaseId: string,
): Promise<unknown> => deleteIncident(tx, repositoryId, formerId, testCaseId);
