// Finds pull requests of an organization by number or by search terms, at a cost independent of its history.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { EntryState } from '#core/queue/model.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

/** The scope of the search; a null repository means all of them. */
export type SearchPlace = {
  readonly organizationId: OrganizationId;
  readonly repositoryId: RepositoryId | null;
};

export type FoundPullRequest = {
  readonly repository: RepositoryName;
  readonly branch: string;
  readonly number: number;
  readonly title: string;
  readonly author: string;
  readonly state: EntryState;
  readonly changedAt: Date;
};

type PullRequestMatchRow = {
  host: string;
  owner: string;
  name: string;
  branch: string;
  pr_number: number;
  pr_title: string;
  pr_author: string;
  state: EntryState;
  state_changed_at: Date;
};

const toFoundPullRequest = (row: PullRequestMatchRow): FoundPullRequest => ({
  repository: { host: row.host, owner: row.owner, name: row.name },
  branch: row.branch,
  number: row.pr_number,
  title: row.pr_title,
  author: row.pr_author,
  state: row.state,
  changedAt: row.state_changed_at,
});

const places = `
  places as (
    select q.id, q.branch, r.host, r.owner, r.name from repository r join queue q on q.repository_id = r.id
    where r.organization_id = $1 and ($2::uuid is null or r.id = $2) and q.deleted_at is null
  )`;
const columns = `q.host, q.owner, q.name, q.branch, e.pr_number, e.pr_title, e.pr_author, e.state,
  e.state_changed_at`;

// A prefix of digits is a few ranges of numbers, each of them a range of the key.
const selectByNumber = statement<
  [organizationId: string, repositoryId: string | null, ranges: string, take: number],
  PullRequestMatchRow
>(`
  with ${places}, ranges as (select low, high from jsonb_to_recordset($3) as r (low bigint, high bigint))
  select ${columns} from places q cross join ranges g
  cross join lateral (
    select * from queue_entry e where e.queue_id = q.id and e.pr_number between g.low and g.high
    order by e.pr_number limit $4
  ) e
  order by e.pr_number, e.state_changed_at desc limit $4`);

/** The largest number that a pull request may have. */
const numberMax = 4_294_967_295;

/** 12 → 12, 120 to 129, 1200 to 1299, … */
function listPrefixRanges(beginning: number): readonly { readonly low: number; readonly high: number }[] {
  const ranges = [];
  for (let low = beginning, width = 1; low > 0 && low <= numberMax; low *= 10, width *= 10)
    ranges.push({ low, high: Math.min(numberMax, low + width - 1) });
  return ranges;
}

/** The number itself first, then numbers that start with it, shorter ones first. */
export async function findByNumber(
  db: Tx,
  { organizationId, repositoryId }: SearchPlace,
  beginning: number,
  take: number,
): Promise<readonly FoundPullRequest[]> {
  const ranges = JSON.stringify(listPrefixRanges(beginning));
  return (await selectByNumber(db, organizationId, repositoryId, ranges, take)).map(toFoundPullRequest);
}

/** How many entries a search reads over all queues, and at least from each queue. */
const lookedAtMax = 20_000;
const lookedAtMin = 100;

const lookedAt =
  'e.pr_number, e.pr_title, e.pr_author, e.state, e.state_changed_at, e.line_rank, e.seniority';
const matchesPatterns = `lower(e.pr_title || ' ' || e.pr_author) like all ($3::text[])`;

// An entry that has been queued for long is not among the newest, so queued entries are searched separately.
const selectByPatterns = statement<
  [organizationId: string, repositoryId: string | null, patterns: readonly string[], take: number],
  PullRequestMatchRow
>(`
  with ${places}
  select ${columns}, e.line_rank, e.seniority from places q cross join lateral (
    select ${lookedAt} from queue_entry e where e.queue_id = q.id order by e.seniority desc
    limit (select greatest(${lookedAtMin}, ${lookedAtMax} / count(*)) from places)
  ) e where ${matchesPatterns}
  union
  select ${columns}, e.line_rank, e.seniority from places q
  join queue_entry e on e.queue_id = q.id and e.line_rank is not null where ${matchesPatterns}
  order by line_rank nulls last, seniority desc limit $4`);

const toLikePattern = (term: string): string => `%${term.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;

/** Queued entries first, then the newest. */
export async function findBySearchTerms(
  db: Tx,
  { organizationId, repositoryId }: SearchPlace,
  searchTerms: readonly string[],
  take: number,
): Promise<readonly FoundPullRequest[]> {
  return (await selectByPatterns(db, organizationId, repositoryId, searchTerms.map(toLikePattern), take)).map(
    toFoundPullRequest,
  );
}
