// Writes upload after it is stored: the results of reading it, or why it could not be read.

import type { RepositoryId } from '#base/id.ts';
import type { BranchClass } from '#core/health/branch.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';
import type { UploadTrust } from './upload-store.ts';
import type { UploadFindings } from './upload-view.ts';

/** What is known of an upload before it is read. */
export type StoredUpload = {
  readonly id: string;
  readonly uploaded_at: Date;
  readonly trust: UploadTrust;
  readonly content_bytes: number;
  readonly tries: number;
  readonly sha: string;
  readonly branch: string;
  readonly pr_number: number | null;
  readonly variant: string;
  readonly job: string;
  readonly ci_run_id: string;
  readonly ci_attempt: number;
  readonly ci_url: string;
  readonly can_select_tests: boolean;
};

const selectStored = statement<[repositoryId: string, limit: number], StoredUpload>(`
  select id, uploaded_at, trust, coalesce(content_bytes, 0) as content_bytes, tries, sha, branch, pr_number, variant, job,
    ci_run_id, ci_attempt, ci_url, can_select_tests
  from upload where repository_id = $1 and state = 'stored' order by uploaded_at, id limit $2`);

/** The longest waiting first. */
export const listStored = (
  db: Tx,
  repositoryId: RepositoryId,
  limit: number,
): Promise<readonly StoredUpload[]> => selectStored(db, repositoryId, limit);

const countTries = statement<[repositoryId: string, uploadedAts: readonly Date[], ids: readonly string[]]>(`
  update upload u set tries = u.tries + 1 from unnest($2::timestamptz[], $3::uuid[]) as begun (uploaded_at, id)
  where u.repository_id = $1 and u.uploaded_at = begun.uploaded_at and u.id = begun.id`);

/** Counts the attempt before the read starts, so that an upload that crashes the worker is counted too. */
export async function noteBegun(
  db: Tx,
  repositoryId: RepositoryId,
  uploads: readonly StoredUpload[],
): Promise<void> {
  await countTries(
    db,
    repositoryId,
    uploads.map((upload) => upload.uploaded_at),
    uploads.map((upload) => upload.id),
  );
}

const selectWaiting = statement<
  [repositoryId: string, uploadedAts: readonly Date[], ids: readonly string[], shas: readonly string[]],
  { id: string; selected_tests: number | null; fix: FixUpload | null }
>(`
  select u.id, (select cardinality(t.selected_tests) from queue q join test_run t on t.queue_id = q.id
      and t.test_branch_sha = wanted.sha
    where q.repository_id = $1 and wanted.sha <> '' and t.selected_tests is not null limit 1) as selected_tests,
    (select json_build_object('runId', r.id, 'ordinal', c.ordinal, 'baseSha', r.base_sha, 'repeats', r.repeats)
      from fix_verification_run r
      join fix_verification v on v.repository_id = r.repository_id and v.id = r.verification_id
      join test_case c on c.repository_id = v.repository_id and c.id = v.test_case_id
      where r.repository_id = $1 and r.sha = wanted.sha and wanted.sha <> ''
        and c.ordinal is not null limit 1) as fix
  from unnest($2::timestamptz[], $3::uuid[], $4::text[]) as wanted (uploaded_at, id, sha)
  join upload u on u.repository_id = $1 and u.uploaded_at = wanted.uploaded_at and u.id = wanted.id
  where u.state = 'stored'`);

/** The run that verifies a fix on the commit of an upload. */
export type FixUpload = {
  readonly runId: string;
  /** The number of the test. */
  readonly ordinal: number;
  readonly baseSha: string;
  readonly repeats: number;
};

export type WaitingUpload = {
  /** How many tests the run on its commit runs; null: all, or there is no run on its commit. */
  readonly selectedTests: number | null;
  /** Null: there is no such run on its commit. */
  readonly fix: FixUpload | null;
};

/** The uploads that no other worker has read meanwhile, by id; `sha`: the commit that each is about. */
export async function findStillStored(
  tx: Tx,
  { repositoryId }: TestsLock,
  uploads: readonly { readonly upload: StoredUpload; readonly sha: string }[],
): Promise<ReadonlyMap<string, WaitingUpload>> {
  const rows = await selectWaiting(
    tx,
    repositoryId,
    uploads.map(({ upload }) => upload.uploaded_at),
    uploads.map(({ upload }) => upload.id),
    uploads.map(({ sha }) => sha),
  );
  return new Map(
    rows.map((row) => [row.id, { selectedTests: row.fix === null ? row.selected_tests : 1, fix: row.fix }]),
  );
}

/** What is stored about an upload after it was read. */
export type IngestedUpload = Omit<StoredUpload, 'trust' | 'content_bytes' | 'tries'> &
  UploadFindings & {
    readonly state: 'ingested' | 'failed';
    readonly branch_class: BranchClass;
  };

// An upload for the test commit of a run belongs to that run.
const updateIngested = statement<[repositoryId: string, now: Date, rows: string]>(`
  update upload u set state = r.state, ingested_at = $2, sha = r.sha, branch = r.branch, branch_class = r.branch_class,
    pr_number = r.pr_number, variant = r.variant, job = r.job, ci_run_id = r.ci_run_id, ci_attempt = r.ci_attempt,
    ci_url = r.ci_url, can_select_tests = r.can_select_tests, tests = r.tests, passed = r.passed, failed = r.failed,
    flaky = r.flaky, skipped = r.skipped,
    quarantined = r.quarantined, usual_tests = r.usual_tests, missing_tests = r.missing_tests,
    is_suspect = r.is_suspect, is_complete = r.is_complete, problems = r.problems,
    test_run_id = (select t.id from queue q join test_run t on t.queue_id = q.id and t.test_branch_sha = r.sha
      where q.repository_id = $1 and r.sha <> '' order by t.created_at desc limit 1)
  from jsonb_to_recordset($3::jsonb) as r (id uuid, uploaded_at timestamptz, state text, sha text, branch text,
    branch_class text, pr_number bigint, variant text, job text, ci_run_id text, ci_attempt int, ci_url text,
    can_select_tests boolean, tests int,
    passed int, failed int, flaky int, skipped int, quarantined int, usual_tests int, missing_tests int,
    is_suspect boolean, is_complete boolean, problems jsonb)
  where u.repository_id = $1 and u.uploaded_at = r.uploaded_at and u.id = r.id`);

export async function putIngested(
  tx: Tx,
  repositoryId: RepositoryId,
  uploads: readonly IngestedUpload[],
  now: Date,
): Promise<void> {
  await updateIngested(tx, repositoryId, now, JSON.stringify(uploads));
}

/** An upload in which every test that is not watched passed. */
export type PassSource = {
  readonly uploadId: string;
  readonly uploadedAt: Date;
  readonly sha: string;
  readonly branchClass: BranchClass;
  readonly job: string;
  readonly shape: Buffer;
};

/** Uploads of the default branch that are listed one by one: enough to find out since when a test fails. */
const namedMax = 40;

const passColumns = 'u.id, u.uploaded_at, u.sha, u.branch_class, u.job, s.shape';
const feeding = `upload u
    join test_segment s on s.repository_id = u.repository_id and s.uploaded_at = u.uploaded_at and s.upload_id = u.id
    where u.repository_id = $1 and u.uploaded_at >= $2 and u.state = 'ingested' and u.trust = 'full'
      and s.shape = any ($3::bytea[])`;

const selectPassSources = statement<
  [repositoryId: string, since: Date, shapes: readonly Buffer[], shas: readonly string[]],
  { id: string; uploaded_at: Date; sha: string; branch_class: BranchClass; job: string; shape: Buffer }
>(`
  (select ${passColumns} from ${feeding} and u.branch_class = 'default' order by u.uploaded_at desc limit ${namedMax})
  union
  (select ${passColumns} from ${feeding} and u.sha = any ($4::text[]))
  order by uploaded_at`);

/** Uploads with one of the shapes: the newest of the default branch, and all of `shas`. Oldest first. */
export async function listPassSources(
  db: Tx,
  repositoryId: RepositoryId,
  wanted: { readonly since: Date; readonly shapes: readonly Buffer[]; readonly shas: readonly string[] },
): Promise<readonly PassSource[]> {
  const rows = await selectPassSources(db, repositoryId, wanted.since, wanted.shapes, wanted.shas);
  return rows.map((row) => ({
    uploadId: row.id,
    uploadedAt: row.uploaded_at,
    sha: row.sha,
    branchClass: row.branch_class,
    job: row.job,
    shape: row.shape,
  }));
}
