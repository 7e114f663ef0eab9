// Reads of uploads: what became of them, and what is to be said of each test that failed.

import type { RepositoryId } from '#base/id.ts';
import type { UploadProblem } from '#core/health/reported-case.ts';
import { sql } from 'kysely';
import type { Tx } from './cell.ts';
import { type KeysetPage, readPage } from './keyset.ts';
import { isExcusedFailure } from './quarantine-gain-view.ts';
import type { PageWish } from './test-view.ts';

type UploadState = 'awaited' | 'stored' | 'ingested' | 'failed';

/** flaky: known to be; broken: already on the default branch; new: it passed before and never failed so; unknown: first seen. */
export type FailureVerdict = 'flaky' | 'broken' | 'new' | 'unknown';

/** What was read in an upload. */
export type UploadFindings = {
  readonly tests: number;
  readonly passed: number;
  readonly failed: number;
  readonly flaky: number;
  readonly skipped: number;
  readonly quarantined: number;
  readonly usual_tests: number | null;
  readonly missing_tests: number | null;
  readonly is_suspect: boolean;
  readonly is_complete: boolean;
  readonly problems: readonly UploadProblem[];
};

export type UploadSummary = UploadFindings & {
  readonly id: string;
  readonly state: UploadState;
  readonly trust: 'full' | 'untrusted';
  readonly sha: string;
  readonly branch: string;
  readonly pr_number: number | null;
  readonly job: string;
  readonly variant: string;
  readonly ci_url: string;
  readonly uploaded_at: Date;
  readonly ingested_at: Date | null;
  readonly duplicate_of: string | null;
};

type UploadFailure = {
  readonly test_case_id: string;
  readonly name: string;
  readonly classname: string | null;
  readonly parent: string | null;
  readonly file: string | null;
  readonly variant: string;
  readonly outcome: 'failed' | 'flaky';
  readonly summary: string;
  readonly verdict: FailureVerdict;
  readonly status: 'healthy' | 'flaky' | 'broken';
  /** Why the status is what it is; empty while it is healthy. */
  readonly status_reason: string;
  /** Whether it was when the upload was read. */
  readonly quarantined: boolean;
  readonly is_known_failure: boolean;
  /** Quarantined, and this failure was contradicted before, or a person answers for all of the test's failures. */
  readonly is_excused: boolean;
};

export type UploadDetails = UploadSummary & { readonly failures: readonly UploadFailure[] };

/** How many failing tests of an upload are shown. */
const failuresMax = 200;

const uploadColumns = sql`u.id, u.state, u.trust, u.sha, u.branch, u.pr_number, u.job, u.variant, u.ci_url, u.uploaded_at,
  u.ingested_at, u.duplicate_of, u.tests, u.passed, u.failed, u.flaky, u.skipped, u.quarantined, u.usual_tests,
  u.missing_tests, u.is_suspect, u.is_complete, u.problems`;

/** The instant in a version 7 UUID: with it only one partition is looked at. Null: it is no such id. */
export function uploadedAtOf(uploadId: string): Date | null {
  const ms = Number.parseInt(uploadId.replaceAll('-', '').slice(0, 12), 16);
  return uploadId.charAt(14) === '7' && Number.isFinite(ms) ? new Date(ms) : null;
}

export async function findUpload(
  db: Tx,
  repositoryId: RepositoryId,
  uploadId: string,
): Promise<UploadDetails | null> {
  const uploadedAt = uploadedAtOf(uploadId);
  if (uploadedAt === null) return null;
  const { rows } = await sql<UploadSummary>`select ${uploadColumns} from upload u
    where u.repository_id = ${repositoryId} and u.uploaded_at = ${uploadedAt} and u.id = ${uploadId}`.execute(
    db,
  );
  const [upload] = rows;
  if (upload === undefined) return null;
  return { ...upload, failures: await listFailures(db, repositoryId, upload) };
}

/** Those that tell most first: what is new, then what is broken, then the rest. */
async function listFailures(
  db: Tx,
  repositoryId: RepositoryId,
  upload: Pick<UploadSummary, 'id' | 'uploaded_at'>,
): Promise<readonly UploadFailure[]> {
  const { rows } = await sql<UploadFailure>`
    select c.id as test_case_id, c.name, c.classname, c.parent, c.file_path as file, c.variant, f.outcome,
      f.summary, f.verdict, c.status, c.status_reason,
      f.was_quarantined as quarantined, f.is_known as is_known_failure,
      ${sql.raw(isExcusedFailure)} as is_excused
    from test_failure f
    join test_case c on c.repository_id = f.repository_id and c.id = f.test_case_id
    left join test_failure_group g on g.repository_id = f.repository_id and g.test_case_id = f.test_case_id
      and g.fingerprint = f.fingerprint
    where f.repository_id = ${repositoryId} and f.failed_at = ${upload.uploaded_at} and f.upload_id = ${upload.id}
    order by f.outcome = 'flaky', array_position(array['new', 'broken', 'unknown', 'flaky'], f.verdict), c.name, c.id
    limit ${failuresMax}`.execute(db);
  return rows;
}

export type UploadFilter = {
  readonly sha?: string;
  readonly prNumber?: number;
  readonly state?: UploadState;
  readonly withProblems?: true;
};

/** Newest first. */
export function listUploads(
  db: Tx,
  repositoryId: RepositoryId,
  page: PageWish,
  filter: UploadFilter = {},
): Promise<KeysetPage<UploadSummary>> {
  const ofSha = filter.sha === undefined ? sql`` : sql` and u.sha = ${filter.sha}`;
  const ofPr = filter.prNumber === undefined ? sql`` : sql` and u.pr_number = ${filter.prNumber}`;
  // As it is written in the indexes of the few that are meant.
  const isRare = filter.state === 'ingested' ? sql`` : sql` and u.state <> 'ingested'`;
  const ofState = filter.state === undefined ? sql`` : sql` and u.state = ${filter.state}${isRare}`;
  const ofProblems = filter.withProblems === undefined ? sql`` : sql` and u.problems <> '[]'::jsonb`;
  return readPage(db, {
    columns: uploadColumns,
    source: sql`from upload u where u.repository_id = ${repositoryId}${ofSha}${ofPr}${ofState}${ofProblems}`,
    keys: [
      { column: 'u.uploaded_at', direction: 'desc', type: 'timestamptz' },
      { column: 'u.id', direction: 'asc', type: 'uuid' },
    ],
    ...page,
  });
}
