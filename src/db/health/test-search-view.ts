// Finds tests by name. There is no index for this: a text index costs more than all other indexes of a new
// test together, and one upload may bring a million new tests. Only people search, and a search stops when it
// has enough.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { Tx } from '../cell.ts';
import { filteredStatement } from '../statement.ts';

/** Search terms beyond this number are ignored. */
export const searchTermsMax = 8;

/** The searched text of the test case `c`. With the collation "C" only ASCII is lowered, at half the cost. */
const searchedText = `lower((c.name || ' ' || coalesce(c.file_path, '') || ' ' || coalesce(c.classname, '')) collate "C")`;

const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Whether the name, file or class of the test case `c` has every search term, from parameter `first` on. */
export const hasEverySearchTerm = (first: number): string =>
  Array.from({ length: searchTermsMax }, (_, index) => `$${first + index}::text`)
    .map((term) => `(${term} is null or strpos(${searchedText}, ${term}) > 0)`)
    .join(' and ');

/** The search terms as the parameters of `hasEverySearchTerm`. Null: every test matches. */
export function parseSearchTerms(search: string | null): readonly (string | null)[] {
  const terms = lowerAscii(search ?? '')
    .split(/\s+/)
    .filter((term) => term !== '');
  return Array.from({ length: searchTermsMax }, (_, index) => terms[index] ?? null);
}

export type FoundTest = {
  readonly id: string;
  readonly name: string;
  readonly variant: string;
  readonly file_path: string | null;
  readonly classname: string | null;
  readonly status: 'healthy' | 'flaky' | 'broken';
  readonly is_quarantined: boolean;
  readonly repository: RepositoryName;
};

/** Matches among which the best are chosen. */
const candidatesMax = 500;

type TestSearchQuery = {
  readonly organizationId: OrganizationId;
  /** Null: all repositories of the organization. */
  readonly repositoryId: RepositoryId | null;
  readonly text: string;
  readonly take: number;
};

type FoundRow = Omit<FoundTest, 'repository'> & {
  readonly host: string;
  readonly owner: string;
  readonly repo: string;
};

const selectFound = filteredStatement<
  [
    organizationId: string,
    repositoryId: string | null,
    prefix: string,
    take: number,
    ...terms: readonly (string | null)[],
  ],
  FoundRow
>(`
  select m.id, m.name, m.variant, m.file_path, m.classname, m.status, m.is_quarantined, m.host, m.owner, m.repo
  from (
    select c.id, c.name, c.variant, c.file_path, c.classname, c.status, c.quarantined_at is not null as is_quarantined,
      r.host, r.owner, r.name as repo
    from repository r join test_case c on c.repository_id = r.id
    where r.organization_id = $1 and ($2::uuid is null or r.id = $2) and ${hasEverySearchTerm(5)} limit ${candidatesMax}) m
  order by starts_with(lower(m.name), $3) desc, m.status <> 'healthy' desc, length(m.name), m.name, m.id
  limit $4`);

/** Names that begin with the text first, then unhealthy tests, then short names. */
export async function searchTests(
  db: Tx,
  { organizationId, repositoryId, text, take }: TestSearchQuery,
): Promise<readonly FoundTest[]> {
  const prefix = text.trim().toLowerCase();
  const rows = await selectFound(db, organizationId, repositoryId, prefix, take, ...parseSearchTerms(text));
  return rows.map(({ host, owner, repo, ...test }) => ({ ...test, repository: { host, owner, name: repo } }));
}
