// Tests by what they are called. No index answers this: one over words costs more than all others of a new test
// together, and uploads bring a million of those at once. A search is a person's, and reads on until it has enough.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import { type RawBuilder, sql } from 'kysely';
import type { RepositoryName } from '#core/repository.ts';
import type { Tx } from './cell.ts';
import type { TestCaseRow } from './test-view.ts';

/** Words beyond these are not looked for. */
const wordsMax = 8;

/** What is looked through of the test case `c`. With the collation "C" only ASCII letters change, at half the cost. */
const haystack = sql`lower((c.name || ' ' || coalesce(c.file_path, '') || ' ' || coalesce(c.classname, '')) collate "C")`;

const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Whether every word of a text is in the name, the file or the class of the test case `c`. */
export function matching(text: string): RawBuilder<unknown> {
  const words = lowerAscii(text)
    .split(/\s+/)
    .filter((word) => word !== '');
  const conditions = words.slice(0, wordsMax).map((word) => sql`strpos(${haystack}, ${word}) > 0`);
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

export type FoundTest = Pick<TestCaseRow, 'id' | 'name' | 'variant' | 'file_path' | 'classname'> & {
  readonly status: 'healthy' | 'flaky' | 'broken';
  readonly is_quarantined: boolean;
  readonly repository: RepositoryName;
};

/** Matches among which the best are chosen. */
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
        r.host, r.owner, r.name as repo
      from repository r join test_case c on c.repository_id = r.id
      where r.organization_id = ${organizationId}${one} and ${matching(text)} limit ${candidatesMax}) m
    order by starts_with(lower(m.name), ${text.trim().toLowerCase()}) desc, m.status <> 'healthy' desc,
      length(m.name), m.name, m.id
    limit ${take}`.execute(db);
  return rows.map(({ host, owner, repo, ...test }) => ({ ...test, repository: { host, owner, name: repo } }));
}
