// Writes test_case, test_rollup, test_failure and test_failure_group for a sandbox, and links of tests to tickets.

import { createHash } from 'node:crypto';
import type { RepositoryId } from '#base/id.ts';
import { sql } from 'kysely';
import type { Tx } from './cell.ts';
import { hourOf } from './history-store.ts';

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

/** Rewrites what is known of a test: its status, its hours and its failures are what the record says, no more. */
export async function putTestCase(tx: Tx, repositoryId: RepositoryId, record: TestCaseRecord): Promise<void> {
  const row = {
    name: record.name,
    variant: record.variant,
    file_path: record.file ?? null,
    classname: record.classname ?? null,
    parent: record.parent ?? null,
    status: record.status,
    status_reason: record.reason,
    status_changed_at: record.statusChangedAt,
    quarantine_setting: record.quarantineSetting,
    quarantined_at: record.quarantinedAt,
    pull_requests_impacted_7d: record.pullRequestsImpacted,
    codeowners: [...record.codeowners],
  };
  await tx
    .insertInto('test_case')
    .values({ repository_id: repositoryId, id: record.id, ...row })
    .onConflict((conflict) => conflict.columns(['repository_id', 'id']).doUpdateSet(row))
    .execute();
  for (const table of ['test_rollup', 'test_failure', 'test_failure_group'] as const)
    await tx
      .deleteFrom(table)
      .where('repository_id', '=', repositoryId)
      .where('test_case_id', '=', record.id)
      .execute();
  const owner = { repository_id: repositoryId, test_case_id: record.id };
  for (const { at, runs, failures } of record.runs)
    await tx
      .insertInto('test_rollup')
      .values({ ...owner, hour: hourOf(at), runs, failures })
      .onConflict((conflict) =>
        conflict.columns(['repository_id', 'test_case_id', 'hour']).doUpdateSet({
          runs: sql`test_rollup.runs + excluded.runs`,
          failures: sql`test_rollup.failures + excluded.failures`,
        }),
      )
      .execute();
  for (const failure of record.failures) await putFailure(tx, owner, failure);
}

async function putFailure(
  tx: Tx,
  owner: { repository_id: string; test_case_id: string },
  { summary, at, count }: TestCaseRecord['failures'][number],
): Promise<void> {
  const fingerprint = createHash('sha256').update(summary).digest();
  await tx
    .insertInto('test_failure_group')
    .values({ ...owner, fingerprint, summary, occurrence_count: count, last_occurrence: at })
    .onConflict((conflict) =>
      conflict.columns(['repository_id', 'test_case_id', 'fingerprint']).doUpdateSet({
        occurrence_count: sql`test_failure_group.occurrence_count + excluded.occurrence_count`,
        last_occurrence: sql`greatest(test_failure_group.last_occurrence, excluded.last_occurrence)`,
      }),
    )
    .execute();
  await sql`insert into test_failure (repository_id, test_case_id, failed_at, fingerprint)
    select ${owner.repository_id}, ${owner.test_case_id}, ${at}::timestamptz, ${fingerprint}::bytea
    from generate_series(1, ${count}::int)`.execute(tx);
}

/** False if the repository has no such test. */
export async function linkTicket(
  tx: Tx,
  repositoryId: RepositoryId,
  testCaseId: string,
  ticketId: string,
): Promise<boolean> {
  const result = await tx
    .updateTable('test_case')
    .set({ ticket_id: ticketId })
    .where('repository_id', '=', repositoryId)
    .where('id', '=', testCaseId)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}
