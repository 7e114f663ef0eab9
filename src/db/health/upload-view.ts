// Reads of uploads: what became of them, and what is to be said of each test that failed.

import type { RepositoryId } from '#base/id.ts';
import type { UploadProblem } from '#core/health/reported-case.ts';
import type { Tx } from '../cell.ts';
import { type KeysetPage, pagedStatement, type PageRequest } from '../keyset.ts';
import { isExcusedFailure } from './quarantine-gain-view.ts';
import { statement } from '../statement.ts';

type UploadProcessingState = 'awaited' | 'stored' | 'ingested' | 'failed';

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
  readonly state: UploadProcessingState;
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

const uploadColumns = `u.id, u.state, u.trust, u.sha, u.branch, u.pr_number, u.job, u.variant, u.ci_url, u.uploaded_at,
  u.ingested_at, u.duplicate_of, u.tests, u.passed, u.failed, u.flaky, u.skipped, u.quarantined, u.usual_tests,
  u.missing_tests, u.is_suspect, u.is_complete, u.problems`;

/** The time in a version 7 UUID: with it a query reads only one partition. Null: not such an id. */
export function parseUploadTime(uploadId: string): Date | null {
  const ms = Number.parseInt(uploadId.replaceAll('-', '').slice(0, 12), 16);
  return uploadId.charAt(14) === '7' && Number.isFinite(ms) ? new Date(ms) : null;
}

const selectUpload = statement<[repositoryId: string, uploadedAt: Date, id: string], UploadSummary>(`
  select ${uploadColumns} from upload u where u.repository_id = $1 and u.uploaded_at = $2 and u.id = $3`);

export async function findUpload(
  db: Tx,
  repositoryId: RepositoryId,
  uploadId: string,
): Promise<UploadDetails | null> {
  const uploadedAt = parseUploadTime(uploadId);
  if (uploadedAt === null) return null;
  const [upload] = await selectUpload(db, repositoryId, uploadedAt, uploadId);
  if (upload === undefined) return null;
  return { ...upload, failures: await selectFailures(db, repositoryId, upload.uploaded_at, upload.id) };
}

/** New failures first, then broken tests, then the rest. */
const selectFailures = statement<[repositoryId: string, uploadedAt: Date, id: string], UploadFailure>(`
  select c.id as test_case_id, c.name, c.classname, c.parent, c.file_path as file, c.variant, f.outcome,
    f.summary, f.verdict, c.status, c.status_reason,
    f.was_quarantined as quarantined, f.is_known as is_known_failure,
    ${isExcusedFailure} as is_excused
  from test_failure f
  join test_case c on c.repository_id = f.repository_id and c.id = f.test_case_id
  left join test_failure_group g on g.repository_id = f.repository_id and g.test_case_id = f.test_case_id
    and g.fingerprint = f.fingerprint
  where f.repository_id = $1 and f.failed_at = $2 and f.upload_id = $3
  order by f.outcome = 'flaky', array_position(array['new', 'broken', 'unknown', 'flaky'], f.verdict), c.name, c.id
  limit ${failuresMax}`);

export type UploadFilter = {
  readonly sha?: string | null;
  readonly prNumber?: number | null;
  readonly state?: UploadProcessingState | null;
  readonly withProblems?: true | null;
};

// `state <> 'ingested'` is written as in the indexes of the few uploads that are not ingested.
const readUploads = pagedStatement<
  [
    repositoryId: string,
    sha: string | null,
    prNumber: number | null,
    state: UploadProcessingState | null,
    isIngested: boolean | null,
    withProblems: boolean | null,
  ],
  UploadSummary
>({
  columns: uploadColumns,
  source: `from upload u where u.repository_id = $1 and ($2::text is null or u.sha = $2)
    and ($3::bigint is null or u.pr_number = $3) and ($4::text is null or u.state = $4)
    and ($5::boolean is not false or u.state <> 'ingested') and ($6::boolean is null or u.problems <> '[]'::jsonb)`,
  keys: [
    { column: 'u.uploaded_at', direction: 'desc', type: 'timestamptz' },
    { column: 'u.id', direction: 'asc', type: 'uuid' },
  ],
});

/** Newest first. */
export const listUploads = (
  db: Tx,
  repositoryId: RepositoryId,
  page: PageRequest,
  { sha = null, prNumber = null, state = null, withProblems = null }: UploadFilter = {},
): Promise<KeysetPage<UploadSummary>> =>
  readUploads(
    db,
    [repositoryId, sha, prNumber, state, state === null ? null : state === 'ingested', withProblems],
    page,
  );
