// Writes the state of a queue at its host: the head of the branch, and whether the host is reachable.

import type { QueueId, RepositoryId } from '#base/id.ts';
import type { PullRequest } from '#core/queue/model.ts';
import type { Tx } from '../cell.ts';
import { type AtHostRow, atHostColumns, type QueueAtHost, toQueueAtHost } from './host-view.ts';
import { statement } from '../statement.ts';

const updateBranch = statement<[queueId: string, sha: string, epoch: number], { id: string }>(`
  update queue set branch_sha = $2 where id = $1 and branch_epoch = $3 and branch_sha is distinct from $2
  returning id`);

/** False if the head is known, or a landing happened since it was read: then it must be read again. */
export async function recordBranch(tx: Tx, queueId: QueueId, sha: string, epoch: number): Promise<boolean> {
  return (await updateBranch(tx, queueId, sha, epoch)).length > 0;
}

const updateAway = statement<[queueId: string, at: Date], { id: string }>(
  `update queue set host_away_at = $2 where id = $1 and host_away_at is null returning id`,
);
const updateBack = statement<[queueId: string], { id: string }>(
  `update queue set host_away_at = null where id = $1 and host_away_at is not null returning id`,
);

/** Returns whether that is new. */
export async function recordHostAway(tx: Tx, queueId: QueueId, at: Date): Promise<boolean> {
  return (await updateAway(tx, queueId, at)).length > 0;
}

export async function recordHostBack(tx: Tx, queueId: QueueId): Promise<boolean> {
  return (await updateBack(tx, queueId)).length > 0;
}

export type Sweeping = QueueAtHost & {
  /** Runs whose test branch is on the host. */
  readonly runs: readonly { readonly testBranch: string; readonly sha: string }[];
  readonly live: readonly LiveEntry[];
  /** A run of some tests is in no plan (`concludeForgottenRuns`). */
  readonly hasForgottenRuns: boolean;
};

/** What is known of a pull request in the queue. */
export type LiveEntry = Pick<
  PullRequest,
  'number' | 'title' | 'headSha' | 'baseBranch' | 'draft' | 'state'
> & {
  readonly mergeability: PullRequest['mergeability'];
  /** Its head waits for an approval, which changes nothing else about it. */
  readonly needsApproval: boolean;
};

type SweepRow = AtHostRow & {
  runs: Sweeping['runs'] | null;
  live: Sweeping['live'] | null;
  has_forgotten_runs: boolean;
};

/** Whether the run `t` of some tests is in no plan: a worker of the release before stored the plan without it. */
export const isForgottenRun = `t.status = 'in_progress' and t.selected_tests is not null and not exists (
  select from queue_plan p, jsonb_array_elements(p.state -> 'targetedRuns') as r
  where p.queue_id = t.queue_id and (r ->> 'id')::bigint = t.number)`;

const selectSweep = statement<[queueId: string], SweepRow>(`
  select ${atHostColumns},
    (select json_agg(json_build_object('testBranch', t.test_branch, 'sha', t.test_branch_sha)) from test_run t
      where t.queue_id = q.id and t.status = 'in_progress' and t.phase = 'pushed') as runs,
    (select json_agg(json_build_object('number', e.pr_number, 'title', e.pr_title, 'headSha', e.pr_sha,
        'baseBranch', e.pr_base_branch, 'draft', e.pr_draft, 'state', e.pr_state, 'mergeability', e.pr_mergeability,
        'needsApproval', e.head_review ->> 'approvedBy' is null and (e.pr_fork is not null
          or jsonb_array_length(coalesce(e.head_review -> 'protectedPaths', '[]')) > 0))) from queue_entry e
      where e.queue_id = q.id and e.line_rank is not null) as live,
    exists (select from test_run t where t.queue_id = q.id and ${isForgottenRun}) as has_forgotten_runs
  from queue q join repository r on r.id = q.repository_id where q.id = $1 and q.deleted_at is null`);

/** Null if the queue does not exist any more. */
export async function loadSweeping(db: Tx, queueId: QueueId): Promise<Sweeping | null> {
  const [row] = await selectSweep(db, queueId);
  if (row === undefined) return null;
  return {
    ...toQueueAtHost(row),
    runs: row.runs ?? [],
    live: row.live ?? [],
    hasForgottenRuns: row.has_forgotten_runs,
  };
}

const selectBranches = statement<[queueId: string], { test_branch: string }>(`
  select test_branch from test_run where queue_id = $1 and status = 'in_progress'
  union all
  select v.test_branch from queue q join fix_verification_run v on v.repository_id = q.repository_id
  where q.id = $1 and not v.is_removed and v.ended_at is null`);

/** The test branches that are needed, including those about to be pushed. */
export async function listTestBranches(db: Tx, queueId: QueueId): Promise<readonly string[]> {
  return (await selectBranches(db, queueId)).map((row) => row.test_branch);
}

const selectLivePulls = statement<[repositoryId: string], { pr_number: number }>(`
  select distinct e.pr_number from queue q join queue_entry e on e.queue_id = q.id
  where q.repository_id = $1 and e.line_rank is not null`);

/** The pull requests of a repository that are in one of its queues. */
export async function listLivePulls(db: Tx, repositoryId: RepositoryId): Promise<ReadonlySet<number>> {
  return new Set((await selectLivePulls(db, repositoryId)).map((row) => row.pr_number));
}

type EntriesRow = AtHostRow & { entries: EntriesAtHost['entries'] | null };

export type EntriesAtHost = QueueAtHost & {
  readonly entries: readonly { readonly number: number; readonly headSha: string }[];
};

async function loadEntries(
  select: (db: Tx, queueId: string) => Promise<EntriesRow[]>,
  db: Tx,
  queueId: QueueId,
): Promise<EntriesAtHost | null> {
  const [row] = await select(db, queueId);
  return row === undefined ? null : { ...toQueueAtHost(row), entries: row.entries ?? [] };
}

const selectProbe = statement<[queueId: string], EntriesRow>(`
  select ${atHostColumns},
    (select json_agg(json_build_object('number', e.pr_number, 'headSha', e.pr_sha)) from queue_entry e
      where e.queue_id = q.id and e.line_rank in (1, 2) and e.probed_tip is distinct from q.branch_sha) as entries
  from queue q join repository r on r.id = q.repository_id where q.id = $1 and q.deleted_at is null`);

/** Entries for which it is unknown whether they can merge directly. */
export const loadProbing = (db: Tx, queueId: QueueId): Promise<EntriesAtHost | null> =>
  loadEntries(selectProbe, db, queueId);

const selectUntried = statement<[queueId: string], EntriesRow>(`
  select ${atHostColumns},
    (select json_agg(json_build_object('number', e.pr_number, 'headSha', e.pr_sha)) from queue_entry e
      where e.queue_id = q.id and e.line_rank is not null and not e.pr_draft and e.pr_base_branch = q.branch
        and e.pr_mergeability not in ('mergeable', 'not_mergeable')) as entries
  from queue q join repository r on r.id = q.repository_id where q.id = $1 and q.deleted_at is null`);

/** Entries for which the host has not reported whether they conflict with the branch. */
export const loadUntried = (db: Tx, queueId: QueueId): Promise<EntriesAtHost | null> =>
  loadEntries(selectUntried, db, queueId);

const updateProbed = statement<[queueId: string, tip: string, entries: string]>(`
  update queue_entry e set probed_tip = $2, tested_on_tip = case when p.tested then $2 end
  from jsonb_to_recordset($3) as p (number bigint, head text, tested boolean)
  where e.queue_id = $1 and e.pr_number = p.number and e.pr_sha = p.head`);

export async function recordProbed(
  tx: Tx,
  queueId: QueueId,
  tip: string,
  entries: readonly { readonly number: number; readonly head: string; readonly tested: boolean }[],
): Promise<void> {
  await updateProbed(tx, queueId, tip, JSON.stringify(entries));
}
