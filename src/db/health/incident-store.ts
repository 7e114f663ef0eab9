// Writes test_incident and test_incident_test.

import type { RepositoryId } from '#base/id.ts';
import type { IncidentPlan } from '#core/health/incident/incident.ts';
import type { HealthStatus } from '#core/health/status.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';
import { quarantineOwnersColumn } from './test-view.ts';

type IncidentTestRow = {
  readonly id: string;
  readonly status: HealthStatus;
  readonly quarantined_at: Date | null;
  readonly incident_id: string | null;
  readonly closed_at: Date | null;
  /** The uploads of its latest failures. */
  readonly uploads: string[];
};

/** The latest failures of a test that are looked at. */
const failuresMax = 200;

const selectTests = statement<[repositoryId: string, since: Date], IncidentTestRow>(`
  select c.id, c.status, c.quarantined_at, t.incident_id, i.closed_at, array(
      select distinct f.upload_id::text from (
        select upload_id from test_failure f
        where f.repository_id = $1 and f.test_case_id = c.id and f.failed_at > $2 and f.is_trusted
          and f.upload_id is not null
        order by f.failed_at desc limit ${failuresMax}) f) as uploads
  from (
    select id from test_case where repository_id = $1 and quarantined_at is not null
    union
    select t.test_case_id from test_incident i
    join test_incident_test t on t.repository_id = i.repository_id and t.incident_id = i.id
    where i.repository_id = $1 and i.closed_at is null) concerned
  join test_case c on c.repository_id = $1 and c.id = concerned.id
  left join test_incident_test t on t.repository_id = $1 and t.test_case_id = c.id
  left join test_incident i on i.repository_id = $1 and i.id = t.incident_id
  order by c.quarantined_at, c.id`);

/** Every quarantined test, and every test of an open incident. */
export const listIncidentTests = (
  tx: Tx,
  { repositoryId }: TestsLock,
  since: Date,
): Promise<IncidentTestRow[]> => selectTests(tx, repositoryId, since);

const insertIncidents = statement<[repositoryId: string, ids: readonly string[], now: Date]>(`
  insert into test_incident (repository_id, id, opened_at)
  select $1::uuid, id, $3::timestamptz from unnest($2::uuid[]) as opened (id)`);

const updateClosed = statement<[repositoryId: string, ids: readonly string[], closedAt: Date | null]>(
  'update test_incident set closed_at = $3 where repository_id = $1 and id = any ($2::uuid[])',
);

const upsertTests = statement<[repositoryId: string, rows: string, now: Date]>(`
  insert into test_incident_test (repository_id, test_case_id, incident_id, joined_at)
  select $1::uuid, r."testCaseId", r."incidentId", $3::timestamptz
  from jsonb_to_recordset($2::jsonb) as r ("testCaseId" uuid, "incidentId" uuid)
  on conflict (repository_id, test_case_id) do update set incident_id = excluded.incident_id,
    joined_at = excluded.joined_at`);

// Its tests are gone, or have another incident since.
const deleteEmpty = statement<[repositoryId: string]>(`
  delete from test_incident i where i.repository_id = $1 and not exists (
    select from test_incident_test t where t.repository_id = i.repository_id and t.incident_id = i.id)`);

export const removeEmptyIncidents = (tx: Tx, { repositoryId }: TestsLock): Promise<unknown> =>
  deleteEmpty(tx, repositoryId);

export async function putIncidents(
  tx: Tx,
  lock: TestsLock,
  { opened, reopened, closed, joined }: IncidentPlan,
  now: Date,
): Promise<void> {
  const { repositoryId } = lock;
  if (opened.length > 0) await insertIncidents(tx, repositoryId, opened, now);
  if (joined.length > 0) await upsertTests(tx, repositoryId, JSON.stringify(joined), now);
  if (reopened.length > 0) await updateClosed(tx, repositoryId, reopened, null);
  if (closed.length > 0) await updateClosed(tx, repositoryId, closed, now);
  await removeEmptyIncidents(tx, lock);
}

export type IncidentRow = {
  readonly id: string;
  readonly closed_at: Date | null;
  readonly issue_number: number | null;
  readonly requested_at: Date | null;
  readonly written_hash: Buffer | null;
  readonly refusal: string | null;
  readonly tests: readonly {
    readonly id: string;
    readonly name: string;
    readonly file_path: string | null;
    readonly status: HealthStatus;
    readonly quarantined_at: string | null;
    readonly quarantine_expires_at: string | null;
    readonly quarantine_owners: readonly string[];
  }[];
};

const selectIncidents = statement<[repositoryId: string, closedSince: Date], IncidentRow>(`
  select i.id, i.closed_at, i.issue_number, i.requested_at, i.written_hash, i.refusal, (
    select json_agg(row order by row.name, row.id) from (
      select c.id, c.name, c.file_path, c.status, c.quarantined_at, c.quarantine_expires_at, ${quarantineOwnersColumn}
      from test_incident_test t join test_case c on c.repository_id = t.repository_id and c.id = t.test_case_id
      where t.repository_id = i.repository_id and t.incident_id = i.id) row) as tests
  from test_incident i
  where i.repository_id = $1 and (i.closed_at is null or i.closed_at > $2)
  order by i.opened_at, i.id`);

/** Those that are open, and those that were closed since, with their tests. */
export const listIncidents = (
  db: Tx,
  repositoryId: RepositoryId,
  closedSince: Date,
): Promise<IncidentRow[]> => selectIncidents(db, repositoryId, closedSince);

const updateRequested = statement<[repositoryId: string, id: string, now: Date]>(
  'update test_incident set requested_at = $3 where repository_id = $1 and id = $2',
);

/** The issue is about to be opened. */
export const noteIssueRequested = (
  db: Tx,
  repositoryId: RepositoryId,
  incidentId: string,
  now: Date,
): Promise<unknown> => updateRequested(db, repositoryId, incidentId, now);

const updateWritten = statement<
  [repositoryId: string, id: string, number: number, url: string, hash: Buffer]
>(`
  update test_incident set issue_number = $3, issue_url = $4, written_hash = $5, refusal = null
  where repository_id = $1 and id = $2`);

export const noteIssueWritten = (
  db: Tx,
  repositoryId: RepositoryId,
  incidentId: string,
  { number, url, hash }: { readonly number: number; readonly url: string; readonly hash: Buffer },
): Promise<unknown> => updateWritten(db, repositoryId, incidentId, number, url, hash);

const updateRefused = statement<[repositoryId: string, id: string, refusal: string]>(
  'update test_incident set refusal = $3 where repository_id = $1 and id = $2',
);

export const noteIssueRefused = (
  db: Tx,
  repositoryId: RepositoryId,
  incidentId: string,
  reason: string,
): Promise<unknown> => updateRefused(db, repositoryId, incidentId, reason);
