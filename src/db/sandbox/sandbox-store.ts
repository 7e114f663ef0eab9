// Writes sandbox_pull_request.

import type { RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { SandboxLabelChanges, SandboxPullRequest } from './sandbox-pull-request.ts';

type SandboxPullRequestRow = {
  number: number;
  title: string;
  body: string;
  head_sha: string;
  base_branch: string;
  author: string;
  fork: string | null;
  mergeability: string;
  draft: boolean;
  state: string;
  revision: number;
  branch: string | null;
  merge_sha: string | null;
  labels: string[];
  head_since: Date | null;
  label_changes: SandboxLabelChanges;
};

const names = [
  'number',
  'title',
  'body',
  'head_sha',
  'base_branch',
  'author',
  'fork',
  'mergeability',
  'draft',
  'state',
  'revision',
  'branch',
  'merge_sha',
  'labels',
  'head_since',
  'label_changes',
] as const satisfies readonly (keyof SandboxPullRequestRow)[];

const columns = names.join(', ');

const toSandboxPullRequest = (row: SandboxPullRequestRow): SandboxPullRequest => ({
  number: row.number,
  title: row.title,
  body: row.body,
  headSha: row.head_sha,
  baseBranch: row.base_branch,
  author: row.author,
  fork: row.fork,
  mergeability: row.mergeability as SandboxPullRequest['mergeability'],
  draft: row.draft,
  state: row.state as SandboxPullRequest['state'],
  revision: row.revision,
  branch: row.branch,
  mergeSha: row.merge_sha,
  labels: row.labels,
  headSince: row.head_since,
  labelChanges: row.label_changes,
});

// Includes the faults of the repository, even if there is no such pull request: whether the host answers at
// all is known without a second round trip.
export const sandboxSelectStatement = `
  select ${columns}, s.settings->'faults' as faults
  from (values ($1::uuid)) as asked (repository)
  left join sandbox_repository s on s.repository_id = asked.repository
  left join sandbox_pull_request p on p.repository_id = asked.repository and p.number = $2`;

const select = statement<
  [repositoryId: string, number: number],
  (SandboxPullRequestRow | { number: null }) & { faults: unknown }
>(sandboxSelectStatement);

export async function readSandboxPullRequest(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
): Promise<{ readonly pullRequest: SandboxPullRequest | null; readonly faults: unknown }> {
  const [row] = await select(db, repositoryId, number);
  return {
    pullRequest: row!.number === null ? null : toSandboxPullRequest(row as SandboxPullRequestRow),
    faults: row!.faults,
  };
}

export async function findSandboxPullRequest(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
): Promise<SandboxPullRequest | null> {
  return (await readSandboxPullRequest(db, repositoryId, number)).pullRequest;
}

type SandboxPullRequestValues = [
  repositoryId: string,
  ...(string | number | boolean | Date | null | readonly string[])[],
];

const insertText = `insert into sandbox_pull_request (repository_id, ${columns})
  values ($1, ${names.map((_, index) => `$${index + 2}`).join(', ')})`;

const insert = statement<SandboxPullRequestValues, SandboxPullRequestRow>(
  `${insertText} on conflict (repository_id, number) do nothing returning ${columns}`,
);

const upsert = statement<SandboxPullRequestValues, SandboxPullRequestRow>(`${insertText}
  on conflict (repository_id, number) do update set
    ${names
      .slice(1)
      .map((name) => `${name} = excluded.${name}`)
      .join(', ')}, disk_sha = null, updated_at = now()
  returning ${columns}`);

const listColumnValues = (repositoryId: RepositoryId, kept: SandboxPullRequest): SandboxPullRequestValues => [
  repositoryId,
  kept.number,
  kept.title,
  kept.body,
  kept.headSha,
  kept.baseBranch,
  kept.author,
  kept.fork,
  kept.mergeability,
  kept.draft,
  kept.state,
  kept.revision,
  kept.branch,
  kept.mergeSha,
  kept.labels,
  kept.headSince,
  JSON.stringify(kept.labelChanges),
];

/** Inserts it unless the number is taken; returns the stored one. */
export async function insertSandboxPullRequest(
  db: Tx,
  repositoryId: RepositoryId,
  kept: SandboxPullRequest,
): Promise<SandboxPullRequest> {
  const [row] = await insert(db, ...listColumnValues(repositoryId, kept));
  if (row !== undefined) return toSandboxPullRequest(row);
  return (await findSandboxPullRequest(db, repositoryId, kept.number))!;
}

export async function saveSandboxPullRequest(
  tx: Tx,
  repositoryId: RepositoryId,
  kept: SandboxPullRequest,
): Promise<SandboxPullRequest> {
  const [row] = await upsert(tx, ...listColumnValues(repositoryId, kept));
  return toSandboxPullRequest(row!);
}

const columnOf: {
  readonly [Field in keyof Omit<SandboxPullRequest, 'number' | 'labelChanges'>]: Exclude<
    keyof SandboxPullRequestRow,
    'number'
  >;
} = {
  title: 'title',
  body: 'body',
  headSha: 'head_sha',
  baseBranch: 'base_branch',
  author: 'author',
  fork: 'fork',
  mergeability: 'mergeability',
  draft: 'draft',
  state: 'state',
  revision: 'revision',
  branch: 'branch',
  mergeSha: 'merge_sha',
  labels: 'labels',
  headSince: 'head_since',
};

const patchable = Object.values(columnOf);

// A column that the JSON does not name keeps its value.
const patchRow = statement<[repositoryId: string, number: number, changes: string], SandboxPullRequestRow>(`
  update sandbox_pull_request p set disk_sha = null, updated_at = now(), (${patchable.join(', ')}) = (
    select ${patchable.map((column) => `n.${column}`).join(', ')} from jsonb_populate_record(p, $3::jsonb) n)
  where repository_id = $1 and number = $2 returning ${columns}`);

/** Changes the given properties; null if the pull request is not stored. */
export async function patchSandboxPullRequest(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
  patch: Partial<SandboxPullRequest>,
): Promise<SandboxPullRequest | null> {
  const changes = Object.entries(columnOf).flatMap(([field, column]) => {
    const value = patch[field as keyof SandboxPullRequest];
    return value === undefined ? [] : [[column, value]];
  });
  const [row] = await patchRow(db, repositoryId, number, JSON.stringify(Object.fromEntries(changes)));
  return row === undefined ? null : toSandboxPullRequest(row);
}

/** Most pull requests that are listed or written at once. */
const pageMax = 500;

const selectOpen = statement<[repositoryId: string, limit: number], SandboxPullRequestRow>(`
  select ${columns} from sandbox_pull_request where repository_id = $1 and state = 'open' order by number limit $2`);

export async function listOpenSandboxPullRequests(
  db: Tx,
  repositoryId: RepositoryId,
): Promise<readonly SandboxPullRequest[]> {
  return (await selectOpen(db, repositoryId, pageMax)).map(toSandboxPullRequest);
}

const selectUnwritten = statement<[repositoryId: string, limit: number], SandboxPullRequestRow>(`
  select ${columns} from sandbox_pull_request
  where repository_id = $1 and disk_sha is distinct from head_sha order by number limit $2`);

export async function listUnwrittenPullRequests(
  db: Tx,
  repositoryId: RepositoryId,
): Promise<readonly SandboxPullRequest[]> {
  return (await selectUnwritten(db, repositoryId, pageMax)).map(toSandboxPullRequest);
}

const setWritten = statement<[repositoryId: string, numbers: readonly number[], shas: readonly string[]]>(`
  update sandbox_pull_request p set disk_sha = w.sha
  from unnest($2::bigint[], $3::text[]) as w (number, sha)
  where p.repository_id = $1 and p.number = w.number and p.head_sha = w.sha`);

/** A head that moved meanwhile stays unwritten. */
export const markPullRequestsWritten = (
  db: Tx,
  repositoryId: RepositoryId,
  written: readonly SandboxPullRequest[],
): Promise<unknown> =>
  setWritten(
    db,
    repositoryId,
    written.map(({ number }) => number),
    written.map(({ headSha }) => headSha),
  );

export const forgetWrittenPullRequests = statement<[repositoryId: RepositoryId]>(
  'update sandbox_pull_request set disk_sha = null where repository_id = $1 and disk_sha is not null',
);

const markContained = statement<
  [repositoryId: string, branch: string, shas: readonly string[], mergeSha: string],
  { number: number }
>(`
  update sandbox_pull_request set state = 'merged', merge_sha = $4, updated_at = now()
  where repository_id = $1 and base_branch = $2 and state = 'open' and head_sha = any($3::text[])
  returning number`);

/** Marks open pull requests onto the branch as merged if the branch now contains their head. */
export async function markContainedPullRequests(
  db: Tx,
  repositoryId: RepositoryId,
  branch: string,
  shas: readonly string[],
  mergeSha: string,
): Promise<readonly number[]> {
  if (shas.length === 0) return [];
  return (await markContained(db, repositoryId, branch, shas, mergeSha)).map(({ number }) => number);
}

const moveHeads = statement<
  [repositoryId: string, branch: string, sha: string, at: Date],
  { number: number }
>(`
  update sandbox_pull_request set head_sha = $3, head_since = $4, disk_sha = null, updated_at = now()
  where repository_id = $1 and branch = $2 and state = 'open' and head_sha <> $3
  returning number`);

/** Moves open pull requests from the branch to its head. */
export async function moveSandboxHeads(
  db: Tx,
  repositoryId: RepositoryId,
  branch: string,
  sha: string,
  at: Date,
): Promise<readonly number[]> {
  return (await moveHeads(db, repositoryId, branch, sha, at)).map(({ number }) => number);
}

const closeFrom = statement<[repositoryId: string, branch: string], { number: number }>(`
  update sandbox_pull_request set state = 'closed', updated_at = now()
  where repository_id = $1 and branch = $2 and state = 'open' returning number`);

/** The branch was deleted: closes open pull requests from it. */
export async function closeSandboxPullRequestsFrom(
  db: Tx,
  repositoryId: RepositoryId,
  branch: string,
): Promise<readonly number[]> {
  return (await closeFrom(db, repositoryId, branch)).map(({ number }) => number);
}

const changeLabels = statement<
  [
    repositoryId: string,
    number: number,
    add: readonly string[],
    remove: readonly string[],
    by: string,
    at: number,
  ],
  { before: string[]; after: string[] }
>(`
  with kept as (select labels from sandbox_pull_request where repository_id = $1 and number = $2 for update)
  update sandbox_pull_request p set updated_at = now(),
    labels = array(select distinct l from unnest(kept.labels || $3::text[]) l where l <> all($4::text[]) order by l),
    label_changes = p.label_changes || (
      select coalesce(jsonb_object_agg(c.label, jsonb_build_object('isOn', c.is_on, 'by', $5::text, 'at', $6::bigint)), '{}')
      from (
        select l as label, true as is_on from unnest($3::text[]) l where l <> all(kept.labels) and l <> all($4::text[])
        union all
        select l, false from unnest($4::text[]) l where l = any(kept.labels)
      ) c)
  from kept where repository_id = $1 and number = $2
  returning kept.labels as before, p.labels as after`);

/** Returns the labels before and after; null if the pull request is not stored. */
export async function changeSandboxLabels(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
  change: { readonly add: readonly string[]; readonly remove: readonly string[] },
  act: { readonly by: string; readonly at: Date },
): Promise<{ readonly before: readonly string[]; readonly after: readonly string[] } | null> {
  const at = act.at.getTime();
  return (await changeLabels(db, repositoryId, number, change.add, change.remove, act.by, at))[0] ?? null;
}

const selectLabelled = statement<[repositoryId: string, label: string, limit: number], { number: number }>(`
  select number from sandbox_pull_request
  where repository_id = $1 and state = 'open' and $2 = any(labels) order by number limit $3`);

export async function listLabelledSandboxPullRequests(
  db: Tx,
  repositoryId: RepositoryId,
  label: string,
): Promise<readonly number[]> {
  return (await selectLabelled(db, repositoryId, label, pageMax)).map(({ number }) => number);
}

/** A review as a script writes it. */
export type SandboxReview = {
  readonly reviewer: string;
  /** The commit that was reviewed. */
  readonly commit: string;
  readonly state: 'approved' | 'changes_requested' | 'commented' | 'dismissed';
};

const appendReviews = statement<[repositoryId: string, number: number, reviews: string]>(`
  update sandbox_pull_request set reviews = reviews || $3::jsonb, updated_at = now()
  where repository_id = $1 and number = $2`);

export const addSandboxReview = (
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
  review: SandboxReview,
): Promise<unknown> => appendReviews(db, repositoryId, number, JSON.stringify([review]));

const selectReviews = statement<[repositoryId: string, number: number], { reviews: SandboxReview[] }>(
  'select reviews from sandbox_pull_request where repository_id = $1 and number = $2',
);

/** Oldest first. */
export async function listSandboxReviews(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
): Promise<readonly SandboxReview[]> {
  return (await selectReviews(db, repositoryId, number))[0]?.reviews ?? [];
}
