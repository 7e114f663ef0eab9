// Reads of landings.

import type { QueueId } from '#base/id.ts';
import type { RequiredCheck } from '#core/queue/check.ts';
import type { RuleChange } from '#core/queue/rule.ts';
import type { Tx } from '../cell.ts';
import { requiredChecksColumn } from '../host/required-view.ts';
import { statement } from '../statement.ts';

export type LandingRow = {
  readonly number: number;
  readonly proof: string;
  readonly mode: string;
  readonly method: string;
  readonly base_sha: string;
  readonly landed_sha: string;
  readonly tested_tree: string;
  readonly landed_tree: string;
  readonly test_run_id: string | null;
  readonly test_branch_sha: string | null;
  readonly required: readonly RequiredCheck[];
  readonly rule_changes: readonly RuleChange[];
  readonly flaky_runs: readonly string[];
  readonly checks: readonly object[];
  readonly concluded_at: Date;
  readonly members: readonly {
    readonly prNumber: number;
    readonly prSha: string;
    readonly landedSha: string;
    readonly forced: boolean;
  }[];
};

const columns = `l.number, l.proof, l.mode, l.method, l.base_sha, l.landed_sha, l.tested_tree, l.landed_tree,
  l.test_run_id, t.test_branch_sha, l.checks, l.concluded_at,
  coalesce(l.required_checks, ${requiredChecksColumn('t')}) as required, l.rule_changes,
  array(select x.id from test_run x where x.queue_id = l.queue_id and x.outcome = 'flaky'
    and sha256(x.composition::bytea) = sha256(t.composition::bytea) order by x.number)
    || case when t.rerun_at is null then '{}' else array[t.id] end as flaky_runs,
  (select json_agg(json_build_object('prNumber', m.pr_number, 'prSha', m.head_sha, 'landedSha', m.commit_sha,
    'forced', m.forced)
    order by m.position) from landing_pull_request m where m.queue_id = l.queue_id and m.number = l.number
      and m.commit_sha is not null) as members`;

const selectByCommit = statement<[queueId: string, sha: string], LandingRow>(`
  select ${columns} from landing l left join test_run t on t.queue_id = l.queue_id and t.id = l.test_run_id
  where l.queue_id = $1 and l.status = 'landed' and l.number = (
    select m.number from landing_pull_request m where m.queue_id = $1 and m.commit_sha = $2 order by m.number desc limit 1)`);

const selectByPullRequest = statement<[queueId: string, pr: number], LandingRow>(`
  select ${columns} from landing_pull_request own
  join landing l on l.queue_id = own.queue_id and l.number = own.number and l.status = 'landed'
  left join test_run t on t.queue_id = l.queue_id and t.id = l.test_run_id
  where own.queue_id = $1 and own.pr_number = $2 and own.commit_sha is not null order by l.number desc limit 1`);

/** The landing that put a commit on the branch, or the latest of a pull request; null if there is none. */
export async function findLanding(
  db: Tx,
  queueId: QueueId,
  by: { readonly commit: string } | { readonly prNumber: number },
): Promise<LandingRow | null> {
  const rows =
    'commit' in by
      ? await selectByCommit(db, queueId, by.commit)
      : await selectByPullRequest(db, queueId, by.prNumber);
  return rows[0] ?? null;
}
