// Writes upload until its content is stored; ingest-store.ts writes it from then on. An upload's id holds its
// creation time, so the id alone finds its partition.

import { v7 } from 'uuid';
import type { OrganizationId, RepositoryId } from '#base/id.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

export type UploadKey = {
  readonly repositoryId: RepositoryId;
  readonly uploadId: string;
  readonly uploadedAt: Date;
};

export type UploadTrust = 'full' | 'untrusted';

/** Where the results come from, if the request names it; a bundle names it inside. */
export type UploadSource = {
  readonly sha: string;
  readonly branch: string;
  readonly prNumber: number | null;
  readonly variant: string;
  readonly job: string;
  readonly ciRunId: string;
  readonly ciAttempt: number;
  readonly ciUrl: string;
  /** The job asks which tests to run before it runs them, and can run named tests. */
  readonly canSelectTests: boolean;
};

/** The bytes as they arrived. */
export type UploadContent = { readonly hash: Buffer; readonly bytes: number; readonly form: string };

export type NewUpload = UploadKey & {
  readonly organizationId: OrganizationId;
  readonly trust: UploadTrust;
  /** The token's name, and the client's version if it sends one. */
  readonly uploader: string;
  /** The token, if its uploads are counted; null or absent: they are not. */
  readonly countedToken?: string | null;
};

export const newUploadKey = (repositoryId: RepositoryId, now: Date): UploadKey => ({
  repositoryId,
  uploadId: v7({ msecs: now.getTime() }),
  uploadedAt: now,
});

const insertUpload = statement<
  [
    ...key: [repositoryId: string, uploadedAt: Date, id: string],
    organizationId: string,
    door: string,
    trust: string,
    uploader: string,
    countedToken: string | null,
    state: string,
    ...content: [hash: Buffer | null, bytes: number | null, form: string | null],
    ...source: [string, string, number | null, string, string, string, number, string, boolean],
  ]
>(`
  insert into upload (repository_id, uploaded_at, id, organization_id, door, trust, uploader, api_token_id, state,
    content_hash, content_bytes, content_form, sha, branch, pr_number, variant, job, ci_run_id, ci_attempt, ci_url,
    can_select_tests)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`);

/** An upload URL was issued, and no content has arrived yet. */
export const insertAwaited = (tx: Tx, upload: NewUpload, source: Partial<UploadSource>): Promise<unknown> =>
  insertUpload(
    tx,
    ...head(upload, 'bundle', 'awaited'),
    ...noContent,
    ...pickCiRunValues({ ...noSource, ...source }),
    noSource.ciUrl,
    noSource.canSelectTests,
  );

const noContent = [null, null, null] as const;
const noSource: UploadSource = {
  sha: '',
  branch: '',
  prNumber: null,
  variant: '',
  job: '',
  ciRunId: '',
  ciAttempt: 1,
  ciUrl: '',
  canSelectTests: false,
};

/** The whole content arrived in one request. */
export const insertStored = (
  tx: Tx,
  upload: NewUpload,
  { hash, bytes, form }: UploadContent,
  source: UploadSource,
): Promise<unknown> =>
  insertUpload(
    tx,
    ...head(upload, 'direct', 'stored'),
    hash,
    bytes,
    form,
    ...pickCiRunValues(source),
    source.ciUrl,
    source.canSelectTests,
  );

/** The values that identify a CI run. */
const pickCiRunValues = ({ sha, branch, prNumber, variant, job, ciRunId, ciAttempt }: UploadSource) =>
  [sha, branch, prNumber, variant, job, ciRunId, ciAttempt] as const;

const head = (upload: NewUpload, door: string, state: string) =>
  [
    upload.repositoryId,
    upload.uploadedAt,
    upload.uploadId,
    upload.organizationId,
    door,
    upload.trust,
    upload.uploader,
    upload.countedToken ?? null,
    state,
  ] as const;

type UploadStateRow = {
  readonly state: string;
  readonly trust: UploadTrust;
  readonly content_hash: Buffer | null;
  readonly api_token_id: string | null;
};

const selectState = `select state, trust, content_hash, api_token_id from upload
  where repository_id = $1 and uploaded_at = $2 and id = $3`;
const findState = statement<[string, Date, string], UploadStateRow>(selectState);
const lockState = statement<[string, Date, string], UploadStateRow>(`${selectState} for update`);

export async function findUploadState(db: Tx, key: UploadKey): Promise<UploadStateRow | null> {
  return (await findState(db, key.repositoryId, key.uploadedAt, key.uploadId))[0] ?? null;
}

/** The same, locked until the transaction ends. */
export async function lockUploadState(tx: Tx, key: UploadKey): Promise<UploadStateRow | null> {
  return (await lockState(tx, key.repositoryId, key.uploadedAt, key.uploadId))[0] ?? null;
}

const lockContent = statement<[text: string]>('select pg_advisory_xact_lock(hashtextextended($1, 0))');

/** Serialises requests with the same content. */
export const lockUploadContent = (tx: Tx, repositoryId: RepositoryId, hash: Buffer): Promise<unknown> =>
  lockContent(tx, `upload:${repositoryId}:${hash.toString('hex')}`);

// An upload of a fork must not make a later one of a trusted run a duplicate. The newest match is used: it is
// the most likely one to be sent again.
const selectSame = `select id from upload
  where repository_id = $1 and content_hash = $2 and id <> $3 and state in ('stored', 'ingested')
    and trust in ('full', $4) and duplicate_of is null`;
const findSameBundle = statement<[string, Buffer, string, string], { id: string }>(
  `${selectSame} order by uploaded_at desc limit 1`,
);
const findSameReport = statement<
  [string, Buffer, string, string, string, string, number | null, string, string, string, number],
  { id: string }
>(`${selectSame} and sha = $5 and branch = $6 and pr_number is not distinct from $7 and variant = $8 and job = $9
    and ci_run_id = $10 and ci_attempt = $11
  order by uploaded_at desc limit 1`);

/**
 * An earlier upload with the same bytes from the same source; null: none. A report does not name its source,
 * so the source of the request is compared too; a bundle holds its own (`source` null).
 */
export async function findSameUpload(
  db: Tx,
  { repositoryId, uploadId, trust }: Pick<NewUpload, 'repositoryId' | 'uploadId' | 'trust'>,
  hash: Buffer,
  source: UploadSource | null,
): Promise<string | null> {
  const rows =
    source === null
      ? await findSameBundle(db, repositoryId, hash, uploadId, trust)
      : await findSameReport(db, repositoryId, hash, uploadId, trust, ...pickCiRunValues(source));
  return rows[0]?.id ?? null;
}

const updateStored = statement<
  [string, Date, string, hash: Buffer, bytes: number, form: string, duplicateOf: string | null, now: Date]
>(`
  update upload set content_hash = $4, content_bytes = $5, content_form = $6, duplicate_of = $7,
    state = case when $7::uuid is null then 'stored' else 'ingested' end,
    ingested_at = case when $7::uuid is null then null else $8::timestamptz end
  where repository_id = $1 and uploaded_at = $2 and id = $3`);

/** The awaited content arrived. A duplicate is not read. */
export const markStored = (
  tx: Tx,
  key: UploadKey,
  { hash, bytes, form }: UploadContent,
  duplicateOf: string | null,
  now: Date,
): Promise<unknown> =>
  updateStored(tx, key.repositoryId, key.uploadedAt, key.uploadId, hash, bytes, form, duplicateOf, now);
