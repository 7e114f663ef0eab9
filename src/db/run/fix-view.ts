// Reads of what decides about the verification of fixes: the queue whose slots it uses, and what is shown of it.

import type { RepositoryId } from '#base/id.ts';
import type { FixEnd, FixRunEnd, FixWait } from '#core/health/fix/fix-verification.ts';
import { matchesBranch } from '#core/health/branch.ts';
import { defaultSettings, type QueueSettings } from '#core/queue/settings.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

type FixQueueRow = {
  readonly branch: string;
  readonly state: string;
  readonly stateReason: string | null;
  readonly isHostAway: boolean;
  readonly settings: Partial<QueueSettings>;
  readonly busy: number;
  readonly branchSha: string | null;
};

const selectQueues = statement<[repositoryId: string], FixQueueRow>(`
  select q.branch, q.state, q.state_reason as "stateReason", q.host_away_at is not null as "isHostAway", q.settings,
    q.branch_sha as "branchSha",
    (select count(*)::int from test_run t where t.queue_id = q.id and t.status = 'in_progress') as busy
  from queue q where q.repository_id = $1 and q.deleted_at is null order by q.branch`);

/** The queue of a default branch, as far as it decides about verification runs. */
export type QueueForFixes = {
  readonly branch: string;
  /** Its tip as last read. */
  readonly branchSha: string | null;
  readonly isRunning: boolean;
  readonly usesDraftPullRequests: boolean;
  readonly concurrency: number;
  readonly busy: number;
};

/** The queue of the first of the default branches that has one; null: none has. */
export async function findQueueForFixes(
  db: Tx,
  repositoryId: RepositoryId,
  defaultBranches: readonly string[],
): Promise<QueueForFixes | null> {
  const queues = await selectQueues(db, repositoryId);
  const found = defaultBranches
    .map((pattern) => queues.find(({ branch }) => matchesBranch(pattern, branch)))
    .find((queue) => queue !== undefined);
  if (found === undefined) return null;
  const settings = { ...defaultSettings, ...found.settings };
  return {
    branch: found.branch,
    branchSha: found.branchSha,
    isRunning: found.state === 'RUNNING' && found.stateReason === null && !found.isHostAway,
    usesDraftPullRequests: settings.createPrsForTestingBranches,
    concurrency: settings.concurrency,
    busy: found.busy,
  };
}

/** The newest uploads that are asked whether their jobs can run single tests. */
const uploadsMax = 200;

const selectUse = statement<
  [repositoryId: string, since: Date, dayAgo: Date],
  { canSelectTests: boolean; runsToday: number }
>(`
  select exists (select from (
      select can_select_tests from upload
      where repository_id = $1 and uploaded_at > $2 and trust = 'full' order by uploaded_at desc limit ${uploadsMax}) u
    where u.can_select_tests) as "canSelectTests",
    (select count(*)::int from fix_verification_run where repository_id = $1 and started_at > $3) as "runsToday"`);

/** Whether a trusted CI job can run single tests, and how many runs verified fixes lately. */
export async function readFixUse(
  db: Tx,
  repositoryId: RepositoryId,
  { since, dayAgo }: { readonly since: Date; readonly dayAgo: Date },
): Promise<{ readonly canSelectTests: boolean; readonly runsToday: number }> {
  const [row] = await selectUse(db, repositoryId, since, dayAgo);
  return row!;
}

/** The last verification of a test, as it is shown. */
export type VerificationView = {
  readonly started_at: Date;
  readonly started_by: string;
  readonly fix_sha: string | null;
  readonly since_sha: string | null;
  readonly ends_at: Date;
  readonly waits_for: FixWait | null;
  readonly ended_at: Date | null;
  readonly outcome: FixEnd | null;
  readonly failed_sha: string | null;
  readonly clean_runs: number;
  readonly runs: readonly {
    readonly test_branch: string;
    readonly base_sha: string;
    readonly sha: string;
    readonly repeats: number;
    readonly clean_runs: number;
    readonly failures: number;
    readonly outcome: FixRunEnd | null;
    readonly started_at: string;
    readonly ended_at: string | null;
  }[];
};

const runsMax = 20;

const selectLatest = statement<[repositoryId: string, testCaseId: string], VerificationView>(`
  select v.started_at, v.started_by, v.fix_sha, v.since_sha, v.ends_at, v.waits_for, v.ended_at, v.outcome, v.failed_sha,
    (select coalesce(sum(r.clean_runs), 0)::int from fix_verification_run r
      where r.repository_id = v.repository_id and r.verification_id = v.id) as clean_runs,
    (select coalesce(json_agg(r), '[]') from (
      select test_branch, base_sha, sha, repeats, clean_runs, failures, outcome, started_at, ended_at
      from fix_verification_run r where r.repository_id = v.repository_id and r.verification_id = v.id
      order by r.started_at desc limit ${runsMax}) r) as runs
  from fix_verification v where v.repository_id = $1 and v.test_case_id = $2 order by v.started_at desc limit 1`);

/** Null: its fix was never verified, or that is forgotten. */
export async function findVerification(
  db: Tx,
  repositoryId: RepositoryId,
  testCaseId: string,
): Promise<VerificationView | null> {
  return (await selectLatest(db, repositoryId, testCaseId))[0] ?? null;
}

type FixSelectionRow = {
  readonly name: string;
  readonly classname: string;
  readonly parent: string;
  readonly file: string;
  readonly repeats: number;
  readonly ordinal: number;
  /** The run is over: what CI still does for it is not needed. */
  readonly isOver: boolean;
};

const selectSelection = statement<[repositoryId: string, sha: string], FixSelectionRow>(`
  select c.name, coalesce(c.classname, '') as classname, coalesce(c.parent, '') as parent,
    coalesce(c.file_path, '') as file, r.repeats, c.ordinal, r.ended_at is not null as "isOver"
  from fix_verification_run r
  join fix_verification v on v.repository_id = r.repository_id and v.id = r.verification_id
  join test_case c on c.repository_id = v.repository_id and c.id = v.test_case_id
  where r.repository_id = $1 and r.sha = $2 and c.ordinal is not null limit 1`);

/** The test that a verification run on this commit runs; null: there is no such run. */
export async function findFixSelection(
  db: Tx,
  repositoryId: RepositoryId,
  sha: string,
): Promise<FixSelectionRow | null> {
  return (await selectSelection(db, repositoryId, sha))[0] ?? null;
}
