// Writes sandbox_pull_request.

import type { RepositoryId } from '#base/id.ts';
import type { PullRequest } from '#core/queue/model.ts';
import { sql } from 'kysely';
import type { Tx } from './cell.ts';
import { statement } from './statement.ts';

type Kept = Omit<PullRequest, 'url' | 'state'> & {
  readonly state: PullRequest['state'] | 'missing';
  readonly revision: number;
  readonly branch: string | null;
  readonly mergeSha: string | null;
  readonly labels: readonly string[];
  readonly headSince: Date | null;
  readonly labelChanges: LabelChanges;
};

type LabelChanges = Readonly<
  Record<string, { readonly isOn: boolean; readonly by: string; readonly at: number }>
>;

type Row = {
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
  label_changes: LabelChanges;
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
] as const satisfies readonly (keyof Row)[];

const columns = names.join(', ');

const keptOf = (row: Row): Kept => ({
  number: row.number,
  title: row.title,
  body: row.body,
  headSha: row.head_sha,
  baseBranch: row.base_branch,
  author: row.author,
  fork: row.fork,
  mergeability: row.mergeability as Kept['mergeability'],
  draft: row.draft,
  state: row.state as Kept['state'],
  revision: row.revision,
  branch: row.branch,
  mergeSha: row.merge_sha,
  labels: row.labels,
  headSince: row.head_since,
  labelChanges: row.label_changes,
});

// With the faults of its repository: whether the host answers at all is known without a second round trip.
export const sandboxSelectStatement = `
  select ${columns}, (select s.settings->'faults' from sandbox_repository s where s.repository_id = p.repository_id) as faults
  from sandbox_pull_request p where repository_id = $1 and number = $2`;

const select = statement<[repositoryId: string, number: number], Row & { faults: unknown }>(
  sandboxSelectStatement,
);

export async function findSandboxPullRequest(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
): Promise<{ readonly pullRequest: Kept; readonly faults: unknown } | null> {
  const [row] = await select(db, repositoryId, number);
  return row === undefined ? null : { pullRequest: keptOf(row), faults: row.faults };
}

type Values = [repositoryId: string, ...(string | number | boolean | Date | null | readonly string[])[]];

const insertText = `insert into sandbox_pull_request (repository_id, ${columns})
  values ($1, ${names.map((_, index) => `$${index + 2}`).join(', ')})`;

const insert = statement<Values, Row>(
  `${insertText} on conflict (repository_id, number) do nothing returning ${columns}`,
);

const upsert = statement<Values, Row>(`${insertText}
  on conflict (repository_id, number) do update set
    ${names
      .slice(1)
      .map((name) => `${name} = excluded.${name}`)
      .join(', ')}, disk_sha = null, updated_at = now()
  returning ${columns}`);

const valuesOf = (repositoryId: RepositoryId, kept: Kept): Values => [
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

/** Keeps it unless one of that number is kept already; returns the kept one. */
export async function insertSandboxPullRequest(
  db: Tx,
  repositoryId: RepositoryId,
  kept: Kept,
): Promise<Kept> {
  const [row] = await insert(db, ...valuesOf(repositoryId, kept));
  if (row !== undefined) return keptOf(row);
  return (await findSandboxPullRequest(db, repositoryId, kept.number))!.pullRequest;
}

export async function saveSandboxPullRequest(tx: Tx, repositoryId: RepositoryId, kept: Kept): Promise<Kept> {
  const [row] = await upsert(tx, ...valuesOf(repositoryId, kept));
  return keptOf(row!);
}

const columnOf: {
  readonly [Field in keyof Omit<Kept, 'number' | 'labelChanges'>]: Exclude<keyof Row, 'number'>;
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

/** Changes what is given; null if it is not kept. */
export async function patchSandboxPullRequest(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
  patch: Partial<Kept>,
): Promise<Kept | null> {
  const changes = Object.entries(columnOf).flatMap(([field, column]) => {
    const value = patch[field as keyof Kept];
    return value === undefined ? [] : [[column, value]];
  });
  const row = await db
    .updateTable('sandbox_pull_request')
    .set({ ...(Object.fromEntries(changes) as Partial<Row>), disk_sha: null, updated_at: sql`now()` })
    .where('repository_id', '=', repositoryId)
    .where('number', '=', number)
    .returning(names)
    .executeTakeFirst();
  return row === undefined ? null : keptOf(row as Row);
}

/** At most this many are shown or written at once. */
const pageMax = 500;

const selectOpen = statement<[repositoryId: string, limit: number], Row>(`
  select ${columns} from sandbox_pull_request where repository_id = $1 and state = 'open' order by number limit $2`);

export async function listOpenSandboxPullRequests(
  db: Tx,
  repositoryId: RepositoryId,
): Promise<readonly Kept[]> {
  return (await selectOpen(db, repositoryId, pageMax)).map(keptOf);
}

const selectUnwritten = statement<[repositoryId: string, limit: number], Row>(`
  select ${columns} from sandbox_pull_request
  where repository_id = $1 and disk_sha is distinct from head_sha order by number limit $2`);

export async function listUnwrittenPullRequests(
  db: Tx,
  repositoryId: RepositoryId,
): Promise<readonly Kept[]> {
  return (await selectUnwritten(db, repositoryId, pageMax)).map(keptOf);
}

/** A head that moved meanwhile stays unwritten. */
export const markPullRequestsWritten = (
  db: Tx,
  repositoryId: RepositoryId,
  written: readonly Kept[],
): Promise<unknown> =>
  db.run(
    `update sandbox_pull_request p set disk_sha = w.sha
     from unnest($2::bigint[], $3::text[]) as w (number, sha)
     where p.repository_id = $1 and p.number = w.number and p.head_sha = w.sha`,
    [repositoryId, written.map(({ number }) => number), written.map(({ headSha }) => headSha)],
  );

export const forgetWrittenPullRequests = (db: Tx, repositoryId: RepositoryId): Promise<unknown> =>
  db.run(
    'update sandbox_pull_request set disk_sha = null where repository_id = $1 and disk_sha is not null',
    [repositoryId],
  );

const markContained = statement<
  [repositoryId: string, branch: string, shas: readonly string[], mergeSha: string],
  { number: number }
>(`
  update sandbox_pull_request set state = 'merged', merge_sha = $4, updated_at = now()
  where repository_id = $1 and base_branch = $2 and state = 'open' and head_sha = any($3::text[])
  returning number`);

/** Open pull requests onto the branch whose head it now contains are merged. */
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

/** Open pull requests made from the branch take its head. */
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

/** The branch is gone: open pull requests made from it are closed. */
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

/** Answers with the labels as they were and as they are; null if the pull request is not kept. */
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

type Review = {
  readonly reviewer: string;
  readonly commit: string;
  readonly state: 'approved' | 'changes_requested' | 'commented' | 'dismissed';
};

export const addSandboxReview = (
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
  review: Review,
): Promise<unknown> =>
  db.run(
    `update sandbox_pull_request set reviews = reviews || $3::jsonb, updated_at = now()
     where repository_id = $1 and number = $2`,
    [repositoryId, number, JSON.stringify([review])],
  );

const selectReviews = statement<[repositoryId: string, number: number], { reviews: Review[] }>(
  'select reviews from sandbox_pull_request where repository_id = $1 and number = $2',
);

/** Oldest first. */
export async function listSandboxReviews(
  db: Tx,
  repositoryId: RepositoryId,
  number: number,
): Promise<readonly Review[]> {
  return (await selectReviews(db, repositoryId, number))[0]?.reviews ?? [];
}
