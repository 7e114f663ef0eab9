// Which tests are quarantined now. Asked by every failing run of CI before it calls itself failed, with up to thousands
// of tests at once: one statement by key, however many tests the repository has.

import type { RepositoryId } from '#base/id.ts';
import type { QuarantineSetting } from '#core/health/quarantine.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

export type QuarantinedTest = {
  readonly id: string;
  readonly quarantine_setting: QuarantineSetting;
  /** Of failures that were contradicted by a pass on the same source: their fingerprints, and what they say. */
  readonly flakes: readonly Buffer[];
  readonly flake_summaries: readonly string[];
};

// An expired override does not count, even if the test has not been classified since.
const isQuarantined = `c.quarantined_at is not null
    and not (c.quarantine_setting = 'ALWAYS_QUARANTINE' and coalesce(c.quarantine_expires_at <= $2, false))`;

const selectAmong = statement<[repositoryId: string, now: Date, ids: string], QuarantinedTest>(`
  select c.id, c.quarantine_setting, flake.flakes, flake.flake_summaries
  from test_case c
  cross join lateral (
    select coalesce(array_agg(g.fingerprint), '{}') as flakes, coalesce(array_agg(g.summary), '{}') as flake_summaries
    from test_failure_group g
    where g.repository_id = c.repository_id and g.test_case_id = c.id and g.flake_count > 0) flake
  where c.repository_id = $1 and c.id = any ($3::uuid[]) and ${isQuarantined}`);

const selectAll = statement<[repositoryId: string, now: Date], { id: string }>(`
  select c.id from test_case c where c.repository_id = $1 and ${isQuarantined} order by c.quarantined_at desc, c.id`);

export const findQuarantined = (
  db: Tx,
  repositoryId: RepositoryId,
  ids: readonly string[],
  now: Date,
): Promise<QuarantinedTest[]> => selectAmong(db, repositoryId, now, `{${ids.join(',')}}`);

export async function listQuarantinedIds(
  db: Tx,
  repositoryId: RepositoryId,
  now: Date,
): Promise<readonly string[]> {
  return (await selectAll(db, repositoryId, now)).map(({ id }) => id);
}
