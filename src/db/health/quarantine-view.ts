// Which tests are quarantined now. Asked by every failing run of CI before it calls itself failed, with up to thousands
// of tests at once: one statement by key, however many tests the repository has.

import type { RepositoryId } from '#base/id.ts';
import { excusableFingerprints } from '#core/health/explained.ts';
import { decodeHistory } from '#core/health/history-bytes.ts';
import type { QuarantineSetting } from '#core/health/quarantine/quarantine.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import { findFormerTests, type FormerTest, withFormers } from './history-store.ts';

export type QuarantinedTest = {
  readonly id: string;
  readonly quarantine_setting: QuarantineSetting;
  /** Of the failures that a quarantine excuses: their fingerprints, and what they say. */
  readonly flakes: readonly string[];
  readonly flake_summaries: readonly string[];
};

type QuarantineRow = {
  readonly id: string;
  readonly quarantine_setting: QuarantineSetting;
  /** Null: only a sandbox knows the test. */
  readonly history: Buffer | null;
  readonly flakes: readonly Buffer[];
  readonly flake_summaries: readonly string[];
};

// A quarantine that has ended does not count, even if the test has not been classified since.
const isQuarantined = `c.quarantined_at is not null and not coalesce(c.quarantine_expires_at <= $2, false)`;

const selectAmong = statement<[repositoryId: string, now: Date, ids: string], QuarantineRow>(`
  select c.id, c.quarantine_setting, h.body as history, flake.flakes, flake.flake_summaries
  from test_case c
  left join test_history h on h.repository_id = c.repository_id and h.test_case_id = c.id
  cross join lateral (
    select coalesce(array_agg(g.fingerprint), '{}') as flakes, coalesce(array_agg(g.summary), '{}') as flake_summaries
    from test_failure_group g
    where g.repository_id = c.repository_id and g.test_case_id = c.id and g.flake_count > 0) flake
  where c.repository_id = $1 and c.id = any ($3::uuid[]) and ${isQuarantined}`);

const selectFlakes = statement<
  [repositoryId: string, ids: readonly string[]],
  { test_case_id: string; fingerprint: Buffer; summary: string }
>(`
  select test_case_id, fingerprint, summary from test_failure_group
  where repository_id = $1 and test_case_id = any ($2::uuid[]) and flake_count > 0`);

const selectAll = statement<[repositoryId: string, now: Date], { id: string }>(`
  select c.id from test_case c where c.repository_id = $1 and ${isQuarantined} order by c.quarantined_at desc, c.id`);

export const findQuarantined = async (
  db: Tx,
  repositoryId: RepositoryId,
  ids: readonly string[],
  now: Date,
): Promise<readonly QuarantinedTest[]> => {
  const rows = await selectAmong(db, repositoryId, now, `{${ids.join(',')}}`);
  const formers = await findQuarantineFormers(
    db,
    repositoryId,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => excusableOnly(row, formers.get(row.id) ?? []));
};

type FormerFlakes = FormerTest & Pick<QuarantineRow, 'flakes' | 'flake_summaries'>;

/** The former tests whose quarantine is carried over, with what they are known for. */
async function findQuarantineFormers(
  db: Tx,
  repositoryId: RepositoryId,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly FormerFlakes[]>> {
  const formers = [...(await findFormerTests(db, repositoryId, ids)).values()]
    .flat()
    .filter(({ carries_quarantine: carries }) => carries);
  if (formers.length === 0) return new Map();
  const formerIds = formers.map(({ former_id: id }) => id);
  const flakes = Map.groupBy(await selectFlakes(db, repositoryId, formerIds), (row) => row.test_case_id);
  return Map.groupBy(
    formers.map((former): FormerFlakes => {
      const known = flakes.get(former.former_id) ?? [];
      return {
        ...former,
        flakes: known.map(({ fingerprint }) => fingerprint),
        flake_summaries: known.map(({ summary }) => summary),
      };
    }),
    (former) => former.test_case_id,
  );
}

function excusableOnly(
  { id, quarantine_setting, history: own, ...row }: QuarantineRow,
  formers: readonly FormerFlakes[],
): QuarantinedTest {
  const history = own === null ? null : withFormers(decodeHistory(own), formers);
  const flakes = [row, ...formers].flatMap((one) => one.flakes);
  const flake_summaries = [row, ...formers].flatMap((one) => one.flake_summaries);
  const excusable = history === null ? null : new Set(excusableFingerprints(history));
  const kept = flakes
    .map((flake, index) => ({ fingerprint: flake.toString('utf8'), summary: flake_summaries[index]! }))
    .filter(({ fingerprint }) => excusable?.has(fingerprint) ?? true);
  return {
    id,
    quarantine_setting,
    flakes: kept.map(({ fingerprint }) => fingerprint),
    flake_summaries: kept.map(({ summary }) => summary),
  };
}

/** A test that is quarantined or has a setting of its own. */
export type ListedQuarantine = {
  readonly id: string;
  readonly name: string;
  readonly file_path: string | null;
  readonly variant: string;
  readonly codeowners: string[];
  readonly quarantined_at: Date | null;
  readonly quarantine_setting: QuarantineSetting;
  readonly quarantine_expires_at: Date | null;
  readonly quarantine_owner: string | null;
  readonly quarantine_note: string | null;
  readonly ticket_id: string | null;
};

const listedColumns = `c.id, c.name, c.file_path, c.variant, c.codeowners, c.quarantined_at, c.quarantine_setting,
  c.quarantine_expires_at, c.quarantine_owner, c.quarantine_note, c.ticket_id`;

const selectListed = statement<[repositoryId: string, limit: number], ListedQuarantine>(`
  select ${listedColumns} from test_case c
  where c.repository_id = $1 and (c.quarantined_at is not null or c.quarantine_setting <> 'AUTO_QUARANTINE')
  order by coalesce(c.file_path, ''), c.name, c.variant, c.id limit $2`);

/** By file and name. */
export const listQuarantine = (
  db: Tx,
  repositoryId: RepositoryId,
  limit: number,
): Promise<ListedQuarantine[]> => selectListed(db, repositoryId, limit);

const selectTerms = statement<[repositoryId: string, ids: readonly string[]], ListedQuarantine>(`
  select ${listedColumns} from test_case c where c.repository_id = $1 and c.id = any ($2::uuid[])
  union
  select ${listedColumns} from test_case c where c.repository_id = $1 and c.quarantine_setting <> 'AUTO_QUARANTINE'`);

/** The tests with these ids, and every test with a setting of its own. */
export const listQuarantineTerms = (
  db: Tx,
  repositoryId: RepositoryId,
  ids: readonly string[],
): Promise<ListedQuarantine[]> => selectTerms(db, repositoryId, ids);

export async function listQuarantinedIds(
  db: Tx,
  repositoryId: RepositoryId,
  now: Date,
): Promise<readonly string[]> {
  return (await selectAll(db, repositoryId, now)).map(({ id }) => id);
}
