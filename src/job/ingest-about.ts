// What an upload is about: commit, branch, pull request, job. A request that carries one report says it in words; a
// bundle says it inside, in what the uploader found and in the variables of its CI. The request's word counts first.

import { ciEnvironmentOf } from '#config/ci.ts';
import { type BranchClass, branchClassOf } from '#core/health/branch.ts';
import type { IngestedUpload, StoredUpload } from '#db/ingest-store.ts';
import type { UploadSource } from '#db/upload-store.ts';
import type { BundleMeta } from '#report/meta.ts';

export type UploadAbout = UploadSource & { readonly branchClass: BranchClass };

const textMax = 512;
const variantMax = 64;

/** The first that says something, at most so long. */
const firstOf = (...texts: readonly (string | null | undefined)[]): string =>
  (texts.find((text) => text !== undefined && text !== null && text !== '') ?? '')
    .replaceAll('\0', '')
    .slice(0, textMax);

export function aboutOf(
  upload: StoredUpload,
  meta: BundleMeta | null,
  defaultBranches: readonly string[],
): UploadAbout {
  const ci = meta === null ? null : ciEnvironmentOf(meta.envs, null);
  const branch = firstOf(upload.branch, ci?.branch, meta?.repo?.repo_head_branch);
  const prNumber = upload.pr_number ?? ci?.prNumber ?? null;
  return {
    sha: firstOf(upload.sha, ci?.sha, meta?.repo?.repo_head_sha).toLowerCase(),
    branch,
    branchClass: branchClassOf({ branch, prNumber, defaultBranches }),
    prNumber,
    variant: firstOf(upload.variant, meta?.variant).slice(0, variantMax),
    job: firstOf(upload.job, ci?.job),
    ciRunId: firstOf(upload.ci_run_id, ci?.runId),
    ciAttempt: meta === null ? upload.ci_attempt : (ci?.attempt ?? 1),
    ciUrl: firstOf(upload.ci_url, ci?.url),
  };
}

/** What is written of any upload, whatever was in it. */
export const uploadColumns = (upload: StoredUpload, about: UploadAbout) =>
  ({
    id: upload.id,
    uploaded_at: upload.uploaded_at,
    sha: about.sha,
    branch: about.branch,
    branch_class: about.branchClass,
    pr_number: about.prNumber,
    variant: about.variant,
    job: about.job,
    ci_run_id: about.ciRunId,
    ci_attempt: about.ciAttempt,
    ci_url: about.ciUrl,
  }) satisfies Partial<IngestedUpload>;
