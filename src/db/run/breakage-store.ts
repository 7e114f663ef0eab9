// Writes test_breakage and culprit_comment: where tests broke on the default branch, and what was found about it.

import type { RepositoryId } from '#base/id.ts';
import type { CulpritReason } from '#core/health/monitor/culprit.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';

export type BrokenBetween = {
  readonly testCaseId: string;
  /** The last commit on which the test passed; empty: not known. */
  readonly passedSha: string;
  /** The first commit on which it was seen failing. */
  readonly failedSha: string;
};

type OpenBreakageRow = {
  readonly test_case_id: string;
  readonly passed_sha: string;
  readonly failed_sha: string;
  readonly culprit_pr: number | null;
  readonly culprit_sha: string | null;
  readonly culprit_reason: CulpritReason | null;
};

export type OpenBreakage = BrokenBetween & {
  /** The pull request that was named as the likeliest cause, and the commit that it landed as. */
  readonly culprit: { readonly prNumber: number; readonly sha: string } | null;
  /** Nothing else landed in between. */
  readonly isCertain: boolean;
};

const selectOpen = statement<[repositoryId: string, ids: readonly string[]], OpenBreakageRow>(`
  select test_case_id, passed_sha, failed_sha, culprit_pr, culprit_sha, culprit_reason from test_breakage
  where repository_id = $1 and test_case_id = any ($2::uuid[]) and resolved_at is null`);

/** The breakages that are not over, by the tests' ids. */
export async function findOpenBreakages(
  db: Tx,
  repositoryId: RepositoryId,
  testCaseIds: readonly string[],
): Promise<ReadonlyMap<string, OpenBreakage>> {
  const rows = await selectOpen(db, repositoryId, testCaseIds);
  return new Map(
    rows.map(({ test_case_id: testCaseId, culprit_pr: prNumber, culprit_sha: sha, ...row }) => [
      testCaseId,
      {
        testCaseId,
        passedSha: row.passed_sha,
        failedSha: row.failed_sha,
        culprit: prNumber === null || sha === null ? null : { prNumber, sha },
        isCertain: row.culprit_reason === 'only',
      },
    ]),
  );
}

// A breakage that is not over keeps its beginning and its comment when its range changes.
const upsertBreakages = statement<[repositoryId: string, now: Date, rows: string]>(`
  insert into test_breakage as b (repository_id, test_case_id, passed_sha, failed_sha, broken_at)
  select $1::uuid, r."testCaseId", r."passedSha", r."failedSha", $2
  from jsonb_to_recordset($3::jsonb) as r ("testCaseId" uuid, "passedSha" text, "failedSha" text)
  on conflict (repository_id, test_case_id) do update set passed_sha = excluded.passed_sha, failed_sha = excluded.failed_sha,
    broken_at = case when b.resolved_at is null then b.broken_at else excluded.broken_at end, resolved_at = null,
    searched_at = null, candidates = '[]', candidate_count = 0, is_complete = false, is_explained = false,
    culprit_pr = null, culprit_sha = null, culprit_reason = null,
    commented_pr = case when b.resolved_at is null then b.commented_pr end,
    commented_sha = case when b.resolved_at is null then b.commented_sha end`);

export const putBreakages = (
  tx: Tx,
  { repositoryId }: TestsLock,
  breakages: readonly BrokenBetween[],
  now: Date,
): Promise<unknown> => upsertBreakages(tx, repositoryId, now, JSON.stringify(breakages));

const updateResolved = statement<[repositoryId: string, now: Date, ids: readonly string[]]>(`
  update test_breakage set resolved_at = $2
  where repository_id = $1 and test_case_id = any ($3::uuid[]) and resolved_at is null`);

export const resolveBreakages = (
  tx: Tx,
  { repositoryId }: TestsLock,
  testCaseIds: readonly string[],
  now: Date,
): Promise<unknown> => updateResolved(tx, repositoryId, now, testCaseIds);

export type UnsearchedBreakage = BrokenBetween & {
  /** Null: not known. */
  readonly filePath: string | null;
  /** The branch of the first failing commit, by its upload; null: not known. */
  readonly branch: string | null;
  readonly queueId: string | null;
  /** The upload that reported that failure; null: not known. */
  readonly uploadId: string | null;
  readonly brokenAt: Date;
};

type UnsearchedRow = {
  test_case_id: string;
  passed_sha: string;
  failed_sha: string;
  broken_at: Date;
  file_path: string | null;
  branch: string | null;
  upload_id: string | null;
  queue_id: string | null;
};

/** Breakages that are searched by one turn. */
export const unsearchedMax = 200;

const selectUnsearched = statement<[repositoryId: string], UnsearchedRow>(`
  select b.test_case_id, b.passed_sha, b.failed_sha, b.broken_at, c.file_path, u.branch, u.id as upload_id,
    q.id as queue_id
  from (select * from test_breakage where repository_id = $1 and searched_at is null and resolved_at is null
    order by broken_at, test_case_id limit ${unsearchedMax}) b
  join test_case c on c.repository_id = $1 and c.id = b.test_case_id
  left join lateral (
    select regexp_replace(u.branch, '^refs/heads/', '') as branch, u.id from test_failure f
    join upload u on u.repository_id = $1 and u.uploaded_at = f.failed_at and u.id = f.upload_id
    where f.repository_id = $1 and f.test_case_id = b.test_case_id and f.failed_at > b.broken_at - interval '16 days'
      and f.sha = b.failed_sha and f.branch_class = 'default' order by f.failed_at limit 1) u on true
  left join queue q on q.repository_id = $1 and q.branch = u.branch and q.deleted_at is null
  order by b.broken_at, b.test_case_id`);

export async function listUnsearchedBreakages(
  db: Tx,
  repositoryId: RepositoryId,
): Promise<readonly UnsearchedBreakage[]> {
  const rows = await selectUnsearched(db, repositoryId);
  return rows.map((row) => ({
    testCaseId: row.test_case_id,
    passedSha: row.passed_sha,
    failedSha: row.failed_sha,
    filePath: row.file_path,
    branch: row.branch,
    queueId: row.queue_id,
    uploadId: row.upload_id,
    brokenAt: row.broken_at,
  }));
}

/** What was found about a breakage. */
export type SearchedBreakage = BrokenBetween & {
  /** The first candidates, the likeliest first. */
  readonly candidates: readonly StoredCandidate[];
  readonly candidateCount: number;
  readonly isComplete: boolean;
  readonly isExplained: boolean;
  readonly culprit: {
    readonly prNumber: number;
    readonly sha: string;
    readonly reason: CulpritReason;
  } | null;
};

export type StoredCandidate = {
  readonly sha: string;
  /** Null: no pull request of the queue made it. */
  readonly prNumber: number | null;
  readonly title: string;
  readonly url: string;
  readonly failedBefore: boolean;
  readonly changedFile: boolean;
  /** The command that undoes it; null: it is not a pull request of the queue. */
  readonly revert: string | null;
};

type SearchedRow = { test_case_id: string; commented_pr: number | null; commented_sha: string | null };

const updateSearched = statement<[repositoryId: string, now: Date, rows: string], SearchedRow>(`
  update test_breakage b set searched_at = $2, candidates = r.candidates, candidate_count = r."candidateCount",
    is_complete = r."isComplete", is_explained = r."isExplained",
    culprit_pr = (r.culprit ->> 'prNumber')::bigint, culprit_sha = r.culprit ->> 'sha', culprit_reason = r.culprit ->> 'reason'
  from jsonb_to_recordset($3::jsonb) as r ("testCaseId" uuid, "passedSha" text, "failedSha" text, candidates jsonb,
    "candidateCount" int, "isComplete" boolean, "isExplained" boolean, culprit jsonb)
  where b.repository_id = $1 and b.test_case_id = r."testCaseId" and b.passed_sha = r."passedSha"
    and b.failed_sha = r."failedSha" and b.resolved_at is null and b.searched_at is null
  returning b.test_case_id, b.commented_pr, b.commented_sha`);

/**
 * Returns the tests for which it counts, each with the pull request that has a comment about it, if any: a breakage may be
 * over by now, or have another range.
 */
export async function putSearched(
  tx: Tx,
  { repositoryId }: TestsLock,
  found: readonly SearchedBreakage[],
  now: Date,
): Promise<ReadonlyMap<string, { readonly prNumber: number; readonly sha: string } | null>> {
  const rows = await updateSearched(tx, repositoryId, now, JSON.stringify(found));
  return new Map(
    rows.map(({ test_case_id: id, commented_pr: prNumber, commented_sha: sha }) => [
      id,
      prNumber === null || sha === null ? null : { prNumber, sha },
    ]),
  );
}

type ViewRow = {
  passed_sha: string;
  failed_sha: string;
  broken_at: Date;
  searched_at: Date | null;
  candidates: readonly StoredCandidate[];
  candidate_count: number;
  is_complete: boolean;
  culprit_pr: number | null;
  culprit_reason: CulpritReason | null;
  is_commented: boolean;
};

export type BreakageView = Readonly<ViewRow>;

const selectView = statement<[repositoryId: string, testCaseId: string], ViewRow>(`
  select b.passed_sha, b.failed_sha, b.broken_at, b.searched_at, b.candidates, b.candidate_count, b.is_complete,
    b.culprit_pr, b.culprit_reason, exists (select from culprit_comment m where m.repository_id = $1
      and m.pr_number = b.culprit_pr and m.commit_sha = b.culprit_sha and m.comment_id is not null) as is_commented
  from test_breakage b where b.repository_id = $1 and b.test_case_id = $2 and b.resolved_at is null`);

/** The breakage of a test that is broken; null: it has none. */
export async function findBreakage(
  db: Tx,
  repositoryId: RepositoryId,
  testCaseId: string,
): Promise<BreakageView | null> {
  return (await selectView(db, repositoryId, testCaseId))[0] ?? null;
}

/** A test that the comment on a pull request is about. */
type CommentedTest = {
  readonly id: string;
  readonly name: string;
};

type CommentRow = {
  tests: readonly CommentedTest[] | null;
  /** Tests that are broken since the pull request, that pass again, and for which other commits are known by now. */
  broken: number;
  resolved: number;
  moved: number;
  passed_sha: string | null;
  failed_sha: string | null;
  reason: CulpritReason | null;
  revert: string | null;
  comment_id: string | null;
  text_hash: string | null;
};

export type CulpritComment = Readonly<CommentRow>;

/** Tests that a comment names. */
const namedMax = 10;

// A test gets no comment if its failure is explained, if a person decided about it, or if another pull request has the
// comment of its breakage.
const selectComment = statement<[repositoryId: string, prNumber: number, sha: string], CommentRow>(`
  with concerned as (
    select b.*, c.name, case when b.resolved_at is not null then 'resolved'
      when b.culprit_sha = $3 and b.culprit_pr = $2 and c.status = 'broken' and c.manual_status is null
        and c.quarantine_setting <> 'ALWAYS_QUARANTINE' and not b.is_explained then 'broken'
      when b.culprit_sha is distinct from $3 and b.candidate_count > 0 then 'moved' end as state
    from test_breakage b join test_case c on c.repository_id = $1 and c.id = b.test_case_id
    where b.repository_id = $1 and (b.commented_sha = $3 and b.commented_pr = $2
      or b.commented_sha is null and b.culprit_sha = $3 and b.culprit_pr = $2)
  ), named as (select * from concerned where state = 'broken' order by broken_at, name, test_case_id limit ${namedMax})
  select (select json_agg(json_build_object('id', n.test_case_id, 'name', n.name)
      order by n.broken_at, n.name, n.test_case_id) from named n) as tests,
    (select count(*) from concerned where state = 'broken') as broken,
    (select count(*) from concerned where state = 'resolved') as resolved,
    (select count(*) from concerned where state = 'moved') as moved,
    first.passed_sha, first.failed_sha, first.culprit_reason as reason, first.revert, m.comment_id, m.text_hash
  from (select 1) one
  left join lateral (select n.passed_sha, n.failed_sha, n.culprit_reason, n.candidates -> 0 ->> 'revert' as revert
    from named n order by n.broken_at, n.name, n.test_case_id limit 1) first on true
  left join culprit_comment m on m.repository_id = $1 and m.pr_number = $2 and m.commit_sha = $3`);

export async function loadCulpritComment(
  db: Tx,
  repositoryId: RepositoryId,
  { prNumber, sha }: { readonly prNumber: number; readonly sha: string },
): Promise<CulpritComment> {
  return (await selectComment(db, repositoryId, prNumber, sha))[0]!;
}

type OfCulprit = { readonly prNumber: number; readonly sha: string };

const insertTried = statement<
  [repositoryId: string, prNumber: number, sha: string, now: Date],
  { pr_number: number }
>(`
  insert into culprit_comment (repository_id, pr_number, commit_sha, tried_at) values ($1, $2, $3, $4)
  on conflict do nothing returning pr_number`);

/** Recorded before the first write: after a crash the next worker checks whether the comment exists. False: it was tried before. */
export const claimCulpritComment = async (
  tx: Tx,
  repositoryId: RepositoryId,
  { prNumber, sha }: OfCulprit,
  now: Date,
): Promise<boolean> => (await insertTried(tx, repositoryId, prNumber, sha, now)).length > 0;

const updateWritten = statement<
  [repositoryId: string, prNumber: number, sha: string, commentId: string, textHash: string]
>(`
  with written as (
    update culprit_comment set comment_id = $4, text_hash = $5
    where repository_id = $1 and pr_number = $2 and commit_sha = $3 returning pr_number
  )
  update test_breakage set commented_pr = $2, commented_sha = $3
  where repository_id = $1 and culprit_sha = $3 and culprit_pr = $2 and resolved_at is null and commented_sha is null
    and not is_explained and exists (select from written)`);

export const recordCulpritComment = (
  tx: Tx,
  repositoryId: RepositoryId,
  { prNumber, sha }: OfCulprit,
  { commentId, textHash }: { readonly commentId: string; readonly textHash: string },
): Promise<unknown> => updateWritten(tx, repositoryId, prNumber, sha, commentId, textHash);

const deleteOldBreakages = statement<[before: Date]>('delete from test_breakage where resolved_at < $1');
const deleteOldComments = statement<[before: Date]>('delete from culprit_comment where tried_at < $1');

export async function deleteOldCulprits(db: Tx, before: Date): Promise<void> {
  await deleteOldBreakages(db, before);
  await deleteOldComments(db, before);
}
