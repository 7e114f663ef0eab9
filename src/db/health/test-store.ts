// Writes test_case, test_rollup, test_failure and test_failure_group for a sandbox, and links of tests to tickets.

import { createHash } from 'node:crypto';
import type { RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { startOfHour } from './history-store.ts';
import { statement } from '../statement.ts';

export type TestCaseRecord = {
  readonly id: string;
  readonly name: string;
  readonly variant: string;
  readonly file: string | undefined;
  readonly classname: string | undefined;
  readonly parent: string | undefined;
  readonly status: 'healthy' | 'flaky' | 'broken';
  readonly reason: string;
  readonly statusChangedAt: Date;
  readonly quarantineSetting: string;
  readonly quarantinedAt: Date | null;
  readonly pullRequestsImpacted: number;
  readonly codeowners: readonly string[];
  readonly failures: readonly { readonly summary: string; readonly at: Date; readonly count: number }[];
  readonly runs: readonly { readonly at: Date; readonly runs: number; readonly failures: number }[];
};

const upsertCase = statement<
  [
    repositoryId: string,
    id: string,
    name: string,
    variant: string,
    file: string | null,
    classname: string | null,
    parent: string | null,
    status: string,
    reason: string,
    statusChangedAt: Date,
    quarantineSetting: string,
    quarantinedAt: Date | null,
    pullRequestsImpacted: number,
    codeowners: readonly string[],
  ]
>(`
  insert into test_case (repository_id, id, name, variant, file_path, classname, parent, status, status_reason,
    status_changed_at, quarantine_setting, quarantined_at, pull_requests_impacted_7d, codeowners)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
  on conflict (repository_id, id) do update set name = excluded.name, variant = excluded.variant,
    file_path = excluded.file_path, classname = excluded.classname, parent = excluded.parent, status = excluded.status,
    status_reason = excluded.status_reason, status_changed_at = excluded.status_changed_at,
    quarantine_setting = excluded.quarantine_setting, quarantined_at = excluded.quarantined_at,
    pull_requests_impacted_7d = excluded.pull_requests_impacted_7d, codeowners = excluded.codeowners`);

const deleteResults = ['test_rollup', 'test_failure', 'test_failure_group'].map((table) =>
  statement<[repositoryId: string, testCaseId: string]>(
    `delete from ${table} where repository_id = $1 and test_case_id = $2`,
  ),
);

const addRollup = statement<
  [repositoryId: string, testCaseId: string, hour: Date, runs: number, failures: number]
>(`
  insert into test_rollup (repository_id, test_case_id, hour, runs, failures) values ($1, $2, $3, $4, $5)
  on conflict (repository_id, test_case_id, hour) do update set runs = test_rollup.runs + excluded.runs,
    failures = test_rollup.failures + excluded.failures`);

/** Replaces the status, the hours and the failures of a test by those of the record. */
export async function putTestCase(tx: Tx, repositoryId: RepositoryId, record: TestCaseRecord): Promise<void> {
  await upsertCase(
    tx,
    repositoryId,
    record.id,
    record.name,
    record.variant,
    record.file ?? null,
    record.classname ?? null,
    record.parent ?? null,
    record.status,
    record.reason,
    record.statusChangedAt,
    record.quarantineSetting,
    record.quarantinedAt,
    record.pullRequestsImpacted,
    record.codeowners,
  );
  for (const remove of deleteResults) await remove(tx, repositoryId, record.id);
  for (const { at, runs, failures } of record.runs)
    await addRollup(tx, repositoryId, record.id, startOfHour(at), runs, failures);
  for (const { summary, at, count } of record.failures)
    await addFailures(
      tx,
      repositoryId,
      record.id,
      createHash('sha256').update(summary).digest(),
      summary,
      at,
      count,
    );
}

const addFailures = statement<
  [repositoryId: string, testCaseId: string, fingerprint: Buffer, summary: string, at: Date, count: number]
>(`
  with kind as (
    insert into test_failure_group (repository_id, test_case_id, fingerprint, summary, occurrence_count, last_occurrence)
    values ($1, $2, $3, $4, $6, $5)
    on conflict (repository_id, test_case_id, fingerprint) do update set
      occurrence_count = test_failure_group.occurrence_count + excluded.occurrence_count,
      last_occurrence = greatest(test_failure_group.last_occurrence, excluded.last_occurrence))
  insert into test_failure (repository_id, test_case_id, failed_at, fingerprint)
  select $1, $2, $5, $3 from generate_series(1, $6::int)`);

const setTicket = statement<[repositoryId: string, testCaseId: string, ticketId: string], { id: string }>(
  'update test_case set ticket_id = $3 where repository_id = $1 and id = $2 returning id',
);

/** False if the repository has no such test. */
export async function linkTicket(
  tx: Tx,
  repositoryId: RepositoryId,
  testCaseId: string,
  ticketId: string,
): Promise<boolean> {
  return (await setTicket(tx, repositoryId, testCaseId, ticketId)).length > 0;
}
