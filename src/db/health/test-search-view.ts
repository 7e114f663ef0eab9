// Finds tests by name. There is no index for this: a text index costs more than all other indexes of a new
// test together, and one upload may bring a million new tests. Only people search, and a search stops when it
// has enough.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { Tx } from '../cell.ts';
import { filteredStatement, statement } from '../statement.ts';

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

type SearchedRepositoryRow = RepositoryName & { readonly id: string };

const selectRepositories = statement<
  [organizationId: string, repositoryId: string | null],
  SearchedRepositoryRow
>(`
  select id, host, owner, name from repository where organization_id = $1 and ($2::uuid is null or id = $2)`);

type FoundRow = Omit<FoundTest, 'repository'> & { readonly repository_id: string };

// The repositories are values, not a join: PostgreSQL then knows how many tests they have, and does not scan those of all
// organizations because one of them has most.
const selectFound = filteredStatement<
  [repositoryIds: readonly string[], prefix: string, take: number, ...terms: readonly (string | null)[]],
  FoundRow
>(`
  select m.id, m.name, m.variant, m.file_path, m.classname, m.status, m.is_quarantined, m.repository_id
  from (
    select c.id, c.name, c.variant, c.file_path, c.classname, c.status, c.quarantined_at is not null as is_quarantined,
      c.repository_id
    from test_case c where c.repository_id = any ($1::uuid[]) and ${hasEverySearchTerm(4)} limit ${candidatesMax}) m
  order by starts_with(lower(m.name), $2) desc, m.status <> 'healthy' desc, length(m.name), m.name, m.id
  limit $3`);

/** Names that begin with the text first, then unhealthy tests, then short names. */
export async function searchTests(
  db: Tx,
  { organizationId, repositoryId, text, take }: TestSearchQuery,
): Promise<readonly FoundTest[]> {
  const searched = await selectRepositories(db, organizationId, repositoryId);
  const names = new Map(searched.map(({ id, ...name }) => [id, name]));
  const prefix = text.trim().toLowerCase();
  const rows = await selectFound(db, [...names.keys()], prefix, take, ...parseSearchTerms(text));
  return rows.map(({ repository_id: id, ...test }) => ({ ...test, repository: names.get(id)! }));
}
