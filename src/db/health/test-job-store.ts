// Writes test_job: the usual results of a CI job.

import type { RepositoryId } from '#base/id.ts';
import type { BranchClass } from '#core/health/branch.ts';
import type { JobBaseline } from '#core/health/guard.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';
import type { TestsLock } from '../transaction.ts';

export type JobKey = {
  readonly job: string;
  readonly variant: string;
  readonly branchClass: BranchClass;
};

export type TestJob = JobKey & {
  readonly baseline: JobBaseline;
  /** The shape that the job usually reports; null: unknown. */
  readonly usualShape: Buffer | null;
  /** Uploads in a row that had nearly all of the shape, and uploads in a row that did not. */
  readonly usualAgreed: number;
  readonly usualMissed: number;
};

/** Uploads in a row after which it is known which tests a job usually runs. */
export const usualAgreedMin = 3;

const selectJobs = statement<
  [repositoryId: string, jobs: readonly string[]],
  {
    job: string;
    variant: string;
    branch_class: BranchClass;
    failing_mean: number;
    uploads: number;
    usual_shape: Buffer | null;
    usual_agreed: number;
    usual_missed: number;
  }
>(`
  select job, variant, branch_class, failing_mean, uploads, usual_shape, usual_agreed, usual_missed from test_job
  where repository_id = $1 and job = any ($2::text[])`);

/** All variants and branches of the jobs. */
export async function findTestJobs(
  db: Tx,
  repositoryId: RepositoryId,
  jobs: readonly string[],
): Promise<readonly TestJob[]> {
  const rows = await selectJobs(db, repositoryId, jobs);
  return rows.map((row) => ({
    job: row.job,
    variant: row.variant,
    branchClass: row.branch_class,
    baseline: { mean: row.failing_mean, uploads: row.uploads },
    usualShape: row.usual_shape,
    usualAgreed: row.usual_agreed,
    usualMissed: row.usual_missed,
  }));
}

const upsertJobs = statement<[repositoryId: string, rows: string]>(`
  insert into test_job (repository_id, job, variant, branch_class, failing_mean, uploads, usual_shape, usual_agreed,
    usual_missed)
  select $1::uuid, job, variant, branch_class, failing_mean, uploads, decode(usual_shape, 'hex'), usual_agreed, usual_missed
  from jsonb_to_recordset($2::jsonb) as r (job text, variant text, branch_class text, failing_mean float8, uploads int,
    usual_shape text, usual_agreed int, usual_missed int)
  on conflict (repository_id, job, variant, branch_class) do update set failing_mean = excluded.failing_mean,
    uploads = excluded.uploads, usual_shape = excluded.usual_shape, usual_agreed = excluded.usual_agreed,
    usual_missed = excluded.usual_missed, used_at = now()`);

export async function putTestJobs(
  tx: Tx,
  { repositoryId }: TestsLock,
  jobs: readonly TestJob[],
): Promise<void> {
  if (jobs.length === 0) return;
  const rows = jobs.map((job) => ({
    job: job.job,
    variant: job.variant,
    branch_class: job.branchClass,
    failing_mean: job.baseline.mean,
    uploads: job.baseline.uploads,
    usual_shape: job.usualShape?.toString('hex') ?? null,
    usual_agreed: job.usualAgreed,
    usual_missed: job.usualMissed,
  }));
  await upsertJobs(tx, repositoryId, JSON.stringify(rows));
}
