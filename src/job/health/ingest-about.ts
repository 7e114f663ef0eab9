// What an upload is about: commit, branch, pull request, job. A request with a single report states it in its
// parameters; a bundle contains it, from what the uploader found and from the CI variables. The request takes
// precedence.

import { detectCiEnvironment } from '#config/ci.ts';
import { type BranchClass, classifyBranch } from '#core/health/branch.ts';
import type { IngestedUpload, StoredUpload } from '#db/health/ingest-store.ts';
import type { UploadSource } from '#db/health/upload-store.ts';
import type { BundleMeta } from '#report/bundle/meta.ts';

export type UploadAbout = UploadSource & {
  readonly branchClass: BranchClass;
  /** How often the job says it ran its tests. */
  readonly repeats: number;
};

const textMax = 512;
const variantMax = 64;

/** The first text that is not empty, cut to the maximum. */
const firstNonEmpty = (...texts: readonly (string | null | undefined)[]): string =>
  (texts.find((text) => text !== undefined && text !== null && text !== '') ?? '')
    .replaceAll('\0', '')
    .slice(0, textMax);

export function collectUploadMetadata(
  upload: StoredUpload,
  meta: BundleMeta | null,
  defaultBranches: readonly string[],
): UploadAbout {
  const ci = meta === null ? null : detectCiEnvironment(meta.envs, null);
  const branch = firstNonEmpty(upload.branch, ci?.branch, meta?.repo?.repo_head_branch);
  const prNumber = upload.pr_number ?? ci?.prNumber ?? null;
  return {
    sha: firstNonEmpty(upload.sha, ci?.sha, meta?.repo?.repo_head_sha).toLowerCase(),
    branch,
    branchClass: classifyBranch({ branch, prNumber, defaultBranches }),
    prNumber,
    variant: firstNonEmpty(upload.variant, meta?.variant).slice(0, variantMax),
    job: firstNonEmpty(upload.job, ci?.job),
    ciRunId: firstNonEmpty(upload.ci_run_id, ci?.runId),
    ciAttempt: meta === null ? upload.ci_attempt : (ci?.attempt ?? 1),
    ciUrl: firstNonEmpty(upload.ci_url, ci?.url),
    canSelectTests: upload.can_select_tests || meta?.can_select_tests === true,
    repeats: meta?.repeats ?? 1,
  };
}

/** The columns of any upload, whatever its content. */
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
    can_select_tests: about.canSelectTests,
  }) satisfies Partial<IngestedUpload>;
