// Uploads of test reports: by the four steps that existing uploaders use, and by Signalbox's own endpoint.

import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { appError } from '#base/error.ts';
import { acceptReport, expectUpload } from '#command/accept-upload.ts';
import { findSelection } from '#command/find-selection.ts';
import { findFileDurations } from '#command/find-file-durations.ts';
import type { RequestOf, ResponseOf } from '#contract/endpoint/endpoint.ts';
import type { UploadProblem } from '#core/health/reported-case.ts';
import {
  newUploadKey,
  type NewUpload,
  type UploadSource,
  type UploadTrust,
} from '#db/health/upload-store.ts';
import { findUpload, listUploads, type UploadDetails, type UploadSummary } from '#db/health/upload-view.ts';
import type { RepositoryRecord } from '#db/account/scope-view.ts';
import { type ContentSummary, readContent } from '#report/bundle/content.ts';
import { testPageUrl } from '#event/present-test.ts';
import { bodyBytesMax } from '../body/body.ts';
import {
  type Context,
  ensuredRepository,
  type Handlers,
  isUnreviewed,
  knownRepository,
  requireOrganization,
} from '../endpoint/context.ts';
import { passOver, readChunks, reportTooLarge } from '../body/raw-body.ts';
import { detectForm } from '../guard/upload-address.ts';
import { listing } from './test-health.ts';
import { countedToken, takeQuota } from './upload-quota.ts';

export const uploadHandlers: Handlers<
  | 'uploadReport'
  | 'getUpload'
  | 'listUploads'
  | 'createBundleUpload'
  | 'uploadClientMetrics'
  | 'getTestSelection'
  | 'getFileDurations'
> = {
  createBundleUpload: async (context, input) => {
    requireOrganization(context, input.orgUrlSlug);
    const repository = await ensuredRepository(context, input.repo);
    const upload = newUpload(context, repository, input.clientVersion ?? '');
    await takeQuota(context, 0);
    const expiresAt = new Date(context.now.getTime() + context.deps.config.upload.addressMs);
    const path = await context.addresses.pathOf(context.cell, upload, expiresAt);
    await expectUpload(context.cell, upload, readBoundSource(context));
    const { uploadId } = upload;
    return { id: uploadId, idV2: uploadId, url: `${context.origin}${path}`, key: uploadId };
  },

  uploadReport: async (context, input) => {
    requireOrganization(context, input.org_url_slug);
    const repository = await ensuredRepository(context, input.repo);
    const chunks = await readChunks(context.body);
    const summary = await readReport(chunks);
    const hash = createHash('sha256');
    for (const chunk of chunks) hash.update(chunk);
    const upload = newUpload(context, repository, '');
    const start = chunks.find((chunk) => chunk.length > 0) ?? Buffer.alloc(0);
    const form = detectForm(start, 'zstd');
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    await takeQuota(context, bytes);
    const { uploadId } = await acceptReport(context.cell, {
      upload,
      source: { ...toUploadSource(input), ...readBoundSource(context) },
      content: { hash: hash.digest(), bytes, form },
      storeBytes: () => context.deps.blobsOf(context.cell).write(upload, compressed(chunks, form)),
    });
    return { upload_id: uploadId, accepted: summary.cases, rejected: summary.problems.map(plain) };
  },

  getUpload: async (context, input) => {
    requireOrganization(context, input.org_url_slug);
    const repository = knownRepository(context, input.repo);
    const { reader } = context.cell;
    const found = repository && (await findUpload(reader, repository.id, input.upload_id));
    if (!found)
      throw appError('UPLOAD_NOT_FOUND', {
        public: `The repository has no upload ${input.upload_id}. List them with listUploads.`,
      });
    const first =
      found.duplicate_of === null ? null : await findUpload(reader, repository.id, found.duplicate_of);
    return { upload: presentDetails(context, repository, found, first ?? found) };
  },

  listUploads: async (context, input) => {
    const filter = {
      ...(typeof input.sha === 'string' ? { sha: input.sha } : {}),
      ...(typeof input.pr === 'number' ? { prNumber: input.pr } : {}),
      ...(input.state ? { state: input.state } : {}),
      ...(input.with_problems === true ? ({ withProblems: true } as const) : {}),
    };
    const list = listing(context, input, { list: 'uploads', ...filter });
    const page = await list.read((repositoryId, pageRequest) =>
      listUploads(context.cell.reader, repositoryId, pageRequest, filter),
    );
    return { uploads: page.rows.map(present), page: list.page(page) };
  },

  getTestSelection: async (context, input) => {
    const repository = knownRepository(context, input.repo);
    if (repository === null) return { tests: null, repeats: 1 };
    const sha = input.sha.toLowerCase();
    const { reader } = context.cell;
    const { tests, repeats } = await findSelection(reader, repository.id, sha, input.job ?? '');
    return { tests: tests === null ? null : [...tests], repeats };
  },

  getFileDurations: async (context, input) => {
    // A repository that is named for the first time has no durations. That answer is stored too: the first shard that
    // is done uploads some, while others have not asked yet.
    const repository = await ensuredRepository(context, input.repo);
    const durations = await findFileDurations(context.cell, {
      repositoryId: repository.id,
      sha: input.sha.toLowerCase(),
      files: input.files,
      variant: input.variant ?? '',
      now: context.now,
      beforeComputing: () => takeQuota(context, 0),
    });
    return { durations_ms: [...durations] };
  },

  uploadClientMetrics: async (context) => {
    await passOver(context.body);
    return {};
  },
};

const zstd = promisify(zstdCompress);

/** What unreviewed code may have sent does not classify tests. */
const decideTrust = ({ scope: { principal } }: Context): UploadTrust =>
  isUnreviewed(principal) ? 'untrusted' : 'full';

/** A report of a CI job is about the commit that its token is bound to, whatever the report says. */
function readBoundSource({ scope: { principal } }: Context): Partial<UploadSource> {
  const { sha = null, branch = null, prNumber = null } = principal.job ?? {};
  return sha === null ? {} : { sha, prNumber, ...(branch === null ? {} : { branch }) };
}

const newUpload = (context: Context, repository: RepositoryRecord, clientVersion: string): NewUpload => ({
  ...newUploadKey(repository.id, context.now),
  organizationId: context.scope.principal.organizationId,
  trust: decideTrust(context),
  countedToken: countedToken(context),
  uploader: [context.actor, clientVersion].filter((text) => text !== '').join(' '),
});

const toUploadSource = (input: RequestOf<'uploadReport'>): UploadSource => ({
  sha: input.sha.toLowerCase(),
  branch: input.branch,
  prNumber: input.pr ?? null,
  variant: input.variant ?? '',
  job: input.job ?? '',
  ciRunId: input.run_id ?? '',
  ciAttempt: input.attempt ?? 1,
  ciUrl: input.url ?? '',
  canSelectTests: input.can_select_tests ?? false,
});

/** Bytes that are parsed in one turn of the event loop. */
const turnBytes = 32_768;

/** The bytes in small chunks, with other requests in between: all of them have arrived already. */
async function* inTurns(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  for (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += turnBytes) {
      yield chunk.subarray(at, at + turnBytes);
      await nextTurn();
    }
}

/** Parses the report as the worker will, so that the answer describes it. A body without one is refused. */
async function readReport(chunks: readonly Buffer[]): Promise<ContentSummary> {
  const summary = await readContent(inTurns(chunks), { onCase: () => undefined }, { bytesMax: bodyBytesMax });
  const { form, cases, problems } = summary;
  if (problems.some(({ code }) => code === 'TOO_LARGE' || code === 'TOO_DENSE')) throw reportTooLarge();
  if (form === 'bundle')
    throw appError('NOT_A_REPORT', {
      public: 'This is a bundle. Send it with createBundleUpload, or send the report alone.',
    });
  const notOne = problems.find(({ code }) => code === 'NOT_A_REPORT' || code === 'EMPTY');
  if (cases === 0 && notOne !== undefined)
    throw appError('NOT_A_REPORT', {
      public: `Nothing was stored: ${notOne.message}`,
      details: problems.map(({ file, message }) => ({ path: file, message })),
    });
  return summary;
}

/** Content that grows more than this on decompression may later be taken for a bomb. */
const ratioMax = 50;

/** A plain report is stored compressed; the reader detects the form by its first bytes. */
async function* compressed(chunks: readonly Buffer[], form: string): AsyncGenerator<Uint8Array> {
  const plainBytes = form === 'plain' ? Buffer.concat(chunks) : null;
  const small = plainBytes === null ? null : await zstd(plainBytes);
  if (plainBytes !== null && small !== null && small.length * ratioMax > plainBytes.length) yield small;
  else yield* chunks;
}

const plain = ({ file, code, message, count }: UploadProblem) => ({ file, code, message, count });

type Shown = ResponseOf<'listUploads'>['uploads'][number];

const present = (upload: UploadSummary): Shown => ({
  id: upload.id,
  state: upload.state,
  trust: upload.trust,
  sha: upload.sha,
  branch: upload.branch,
  pr: upload.pr_number,
  job: upload.job,
  variant: upload.variant,
  url: upload.ci_url,
  uploaded_at: upload.uploaded_at.toISOString(),
  ingested_at: upload.ingested_at?.toISOString() ?? null,
  duplicate_of: upload.duplicate_of,
  tests: upload.tests,
  passed: upload.passed,
  failed: upload.failed,
  flaky: upload.flaky,
  skipped: upload.skipped,
  quarantined: upload.quarantined,
  usual_tests: upload.usual_tests,
  missing_tests: upload.missing_tests,
  is_suspect: upload.is_suspect,
  is_complete: upload.is_complete,
  problems: upload.problems.map(plain),
});

/** A duplicate shows the content of the upload that it repeats. */
function presentDetails(
  { deps }: Context,
  repository: RepositoryRecord,
  upload: UploadDetails,
  read: UploadDetails,
): ResponseOf<'getUpload'>['upload'] {
  const { id, trust, uploaded_at, duplicate_of } = present(upload);
  const failures = read.failures.map(({ classname, parent, file, ...failure }) => ({
    ...failure,
    html_url: testPageUrl(deps.config.publicUrl, repository, failure.test_case_id),
    classname: classname ?? '',
    parent: parent ?? '',
    file: file ?? '',
  }));
  return { ...present(read), id, trust, uploaded_at, duplicate_of, failures };
}
