// Tests by what they are called. No index answers this: one over words costs more than all others of a new test
// together, and uploads bring a million of those at once. A search is a person's, and reads on until it has enough.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import { type RawBuilder, sql } from 'kysely';
import type { RepositoryName } from '#core/repository.ts';
import type { Tx } from './cell.ts';
import type { TestCaseRow } from './test-view.ts';

/** Words beyond these are not looked for. */
const wordsMax = 8;

const patternOf = (word: string): string => `%${word.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;

// With the collation "C" the case of letters beyond ASCII counts, and a row costs half as much.
const holds = (pattern: string): RawBuilder<unknown> => sql`(c.name collate "C" ilike ${pattern}
  or c.file_path collate "C" ilike ${pattern} or c.classname collate "C" ilike ${pattern})`;

/** Whether every word of a text is in the name, the file or the class of the test case `c`. */
export function matching(text: string): RawBuilder<unknown> {
  const words = text.split(/\s+/).filter((word) => word !== '');
  const conditions = words.slice(0, wordsMax).map((word) => holds(patternOf(word)));
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

export type FoundTest = Pick<TestCaseRow, 'id' | 'name' | 'variant' | 'file_path' | 'classname'> & {
  readonly status: 'healthy' | 'flaky' | 'broken';
  readonly is_quarantined: boolean;
  readonly repository: RepositoryName;
};

/** Tests looked through, and matches among which the best are chosen. */
const lookedThroughMax = 2_000_000;
const candidatesMax = 500;

type Search = {
  readonly organizationId: OrganizationId;
  /** Null: all of the organization. */
  readonly repositoryId: RepositoryId | null;
  readonly text: string;
  readonly take: number;
};

/** Names that begin with the text first, then unhealthy tests, then short names. */
export async function searchTests(
  db: Tx,
  { organizationId, repositoryId, text, take }: Search,
): Promise<readonly FoundTest[]> {
  const one = repositoryId === null ? sql`` : sql` and r.id = ${repositoryId}`;
  const { rows } = await sql<Omit<FoundTest, 'repository'> & { host: string; owner: string; repo: string }>`
    select m.id, m.name, m.variant, m.file_path, m.classname, m.status, m.is_quarantined, m.host, m.owner, m.repo
    from (
      select c.id, c.name, c.variant, c.file_path, c.classname, c.status, c.quarantined_at is not null as is_quarantined,
        c.host, c.owner, c.repo
      from (
        select t.*, r.host, r.owner, r.name as repo from repository r join test_case t on t.repository_id = r.id
        where r.organization_id = ${organizationId}${one} limit ${lookedThroughMax}) c
      where ${matching(text)} limit ${candidatesMax}) m
    order by starts_with(lower(m.name), ${text.trim().toLowerCase()}) desc, m.status <> 'healthy' desc,
      length(m.name), m.name, m.id
    limit ${take}`.execute(db);
  return rows.map(({ host, owner, repo, ...test }) => ({ ...test, repository: { host, owner, name: repo } }));
}
