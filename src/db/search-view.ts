// Finding pull requests of an organization by number or by words, at a cost that does not grow with its history.

import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { EntryState } from '#core/queue/model.ts';
import type { RepositoryName } from '#core/repository.ts';
import type { Tx } from './cell.ts';
import { statement } from './statement.ts';

/** Where is looked; a null repository is all of them. */
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

type FoundRow = {
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

const foundOf = (row: FoundRow): FoundPullRequest => ({
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

// A beginning of digits is some ranges of numbers, each a piece of the key.
const selectByNumber = statement<
  [organizationId: string, repositoryId: string | null, ranges: string, take: number],
  FoundRow
>(`
  with ${places}, ranges as (select low, high from jsonb_to_recordset($3) as r (low bigint, high bigint))
  select ${columns} from places q cross join ranges g
  cross join lateral (
    select * from entry e where e.queue_id = q.id and e.pr_number between g.low and g.high
    order by e.pr_number limit $4
  ) e
  order by e.pr_number, e.state_changed_at desc limit $4`);

/** The largest number that a pull request may have. */
const numberMax = 4_294_967_295;

/** 12 → 12, 120 to 129, 1200 to 1299, … */
function rangesOf(beginning: number): readonly { readonly low: number; readonly high: number }[] {
  const ranges = [];
  for (let low = beginning, width = 1; low > 0 && low <= numberMax; low *= 10, width *= 10)
    ranges.push({ low, high: Math.min(numberMax, low + width - 1) });
  return ranges;
}

/** The number itself first, then those that begin with it, the shorter first. */
export async function findByNumber(
  db: Tx,
  { organizationId, repositoryId }: SearchPlace,
  beginning: number,
  take: number,
): Promise<readonly FoundPullRequest[]> {
  const ranges = JSON.stringify(rangesOf(beginning));
  return (await selectByNumber(db, organizationId, repositoryId, ranges, take)).map(foundOf);
}

/** Of all queues together as many are looked at, and of each queue at least so many. */
const lookedAtMax = 20_000;
const lookedAtMin = 100;

const lookedAt =
  'e.pr_number, e.pr_title, e.pr_author, e.state, e.state_changed_at, e.line_rank, e.seniority';
const hasWords = `lower(e.pr_title || ' ' || e.pr_author) like all ($3::text[])`;

// Whoever waits for long is not among the newest, and is looked at all the same.
const selectByWords = statement<
  [organizationId: string, repositoryId: string | null, patterns: readonly string[], take: number],
  FoundRow
>(`
  with ${places}
  select ${columns}, e.line_rank, e.seniority from places q cross join lateral (
    select ${lookedAt} from entry e where e.queue_id = q.id order by e.seniority desc
    limit (select greatest(${lookedAtMin}, ${lookedAtMax} / count(*)) from places)
  ) e where ${hasWords}
  union
  select ${columns}, e.line_rank, e.seniority from places q
  join entry e on e.queue_id = q.id and e.line_rank is not null where ${hasWords}
  order by line_rank nulls last, seniority desc limit $4`);

const patternOf = (word: string): string => `%${word.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;

/** What is in a queue first, then the newest. */
export async function findByWords(
  db: Tx,
  { organizationId, repositoryId }: SearchPlace,
  words: readonly string[],
  take: number,
): Promise<readonly FoundPullRequest[]> {
  return (await selectByWords(db, organizationId, repositoryId, words.map(patternOf), take)).map(foundOf);
}
