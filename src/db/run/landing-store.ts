// Writes landing and landing_pull_request as a landing ends; plan-store.ts writes intended landings.

import type { QueueId, RunId } from '#base/id.ts';
import type { RequiredCheck } from '#core/queue/check.ts';
import type { LandingReport } from '#core/queue/engine/reconcile-input.ts';
import type { RuleChange } from '#core/queue/rule.ts';
import type { QueueSettings } from '#core/queue/settings.ts';
import type { Tx } from '../cell.ts';
import { type AtHostRow, atHostColumns, type QueueAtHost, toQueueAtHost } from '../host/host-view.ts';
import { requiredChecksColumn } from '../host/required-view.ts';
import { memberColumns, parseMemberRecord, type MemberRecord } from './run-store.ts';
import { statement } from '../statement.ts';

export type IntendedLanding = QueueAtHost & {
  readonly number: number;
  readonly proof: 'exact' | 'lane' | 'direct';
  readonly method: QueueSettings['mergeMethod'];
  readonly baseSha: string;
  readonly members: readonly MemberRecord[];
  /** The open draft pull requests that show test commits which this landing may put on the branch. */
  readonly drafts: readonly number[];
  /** The run whose result permits the landing; null for a direct merge. */
  readonly run: {
    readonly id: RunId;
    readonly sha: string;
    readonly tree: string;
    /** The required checks that decided it. */
    readonly required: readonly RequiredCheck[];
    /** False: it ran only some tests, and permits no landing. */
    readonly ranAllTests: boolean;
  } | null;
};

type IntendedLandingRow = AtHostRow & {
  number: number;
  proof: IntendedLanding['proof'];
  method: IntendedLanding['method'];
  base_sha: string;
  members: MemberRecord[];
  drafts: number[];
  test_run_id: string | null;
  test_branch_sha: string | null;
  test_tree_sha: string | null;
  required: RequiredCheck[];
  ran_all_tests: boolean;
};

const selectLanding = statement<[queueId: string, number: number], IntendedLandingRow>(`
  select ${atHostColumns}, l.number, l.proof, l.method, l.base_sha, l.test_run_id, t.test_branch_sha, t.test_tree_sha,
    ${requiredChecksColumn('t')} as required, t.selected_tests is null as ran_all_tests,
    (select json_agg(${memberColumns} order by m.position) from landing_pull_request m
      join queue_entry e on e.queue_id = $1 and e.pr_number = m.pr_number
      where m.queue_id = $1 and m.number = $2) as members,
    (select coalesce(json_agg(d.test_pr_number), '[]') from test_run d
      where d.queue_id = $1 and d.phase <> 'closed' and d.test_pr_number is not null and not exists (
        select from test_run_member o where o.queue_id = $1 and o.test_run_id = d.id and o.under_test and not exists (
          select from landing_pull_request m where m.queue_id = $1 and m.number = $2 and m.pr_number = o.pr_number))) as drafts
  from landing l join queue q on q.id = l.queue_id join repository r on r.id = q.repository_id
  left join test_run t on t.queue_id = l.queue_id and t.id = l.test_run_id
  where l.queue_id = $1 and l.number = $2 and l.status = 'intended'`);

/** Null if the landing has ended already. */
export async function loadLanding(db: Tx, queueId: QueueId, number: number): Promise<IntendedLanding | null> {
  const [row] = await selectLanding(db, queueId, number);
  if (row === undefined) return null;
  const { proof, method, test_run_id: id, test_branch_sha: sha, test_tree_sha: tree } = row;
  return {
    ...toQueueAtHost(row),
    number,
    proof,
    method,
    baseSha: row.base_sha,
    members: row.members.map(parseMemberRecord),
    drafts: row.drafts,
    run:
      id === null || sha === null || tree === null
        ? null
        : { id: id as RunId, sha, tree, required: row.required, ranAllTests: row.ran_all_tests },
  };
}

export type LandedCommits = {
  readonly mode: 'fast_forward' | 'host';
  readonly sha: string;
  /** The head of the branch afterwards; not `sha` if a person pushed since. */
  readonly tip: string;
  readonly tree: string;
  readonly testedTree: string;
  readonly members: readonly { readonly number: number; readonly sha: string }[];
  /** Why the members behind these did not land; null: all members landed. */
  readonly rest: Pick<NonNullable<PartialLandingReport>, 'pr' | 'reason' | 'message'> | null;
  /** Replaces the intended proof in the attestation if the landing differs from it; null: it does not. */
  readonly flaw: 'partial' | 'mismatch' | null;
  /** What decided a direct merge; a landing with a test run has that of its run. */
  readonly direct?: DirectProof;
};

export type DirectProof = {
  readonly required: readonly RequiredCheck[];
  readonly ruleChanges: readonly RuleChange[];
  /** The check results of the head, in the form that runs keep. */
  readonly checks: readonly object[];
};

type PartialLandingReport = Extract<LandingReport, { kind: 'landed' }>['inPart'];

const updateLanded = statement<
  [
    queueId: string,
    number: number,
    mode: string,
    sha: string,
    tree: string,
    testedTree: string,
    at: Date,
    members: string,
    detail: string | null,
    tip: string,
    direct: string | null,
    flaw: string | null,
  ]
>(`
  with landed as (
    update landing l set status = 'landed', mode = $3,
      proof = coalesce($12, l.proof), landed_sha = $4, landed_tree = $5, tested_tree = $6,
      concluded_at = $7, detail = $9,
      checks = coalesce((select t.status_checks || t.check_suites from test_run t
        where t.queue_id = $1 and t.id = l.test_run_id), $11::jsonb -> 'checks', '[]'),
      required_checks = coalesce((select ${requiredChecksColumn('t')} from test_run t
        where t.queue_id = $1 and t.id = l.test_run_id), $11::jsonb -> 'required'),
      rule_changes = coalesce((select jsonb_agg(change) from test_run t, jsonb_array_elements(t.rule_changes) as change
        where t.queue_id = $1 and t.id = l.test_run_id and exists (
          select from jsonb_to_recordset($8) as c (number bigint) where c.number = (change ->> 'pr')::bigint)),
        $11::jsonb -> 'ruleChanges', '[]')
    where queue_id = $1 and number = $2 and status = 'intended' returning number
  ), branch as (
    update queue set branch_sha = $10, branch_epoch = branch_epoch + 1 where id = $1 and exists (select from landed)
  )
  update landing_pull_request m set commit_sha = c.sha
  from jsonb_to_recordset($8) as c (number bigint, sha text)
  where m.queue_id = $1 and m.number = $2 and m.pr_number = c.number and exists (select from landed)`);

export async function recordLanded(
  tx: Tx,
  queueId: QueueId,
  number: number,
  { mode, sha, tip, tree, testedTree, members, rest, flaw, direct }: LandedCommits,
  at: Date,
): Promise<void> {
  const inPart: PartialLandingReport =
    rest === null ? undefined : { members: members.map((member) => member.number), ...rest };
  const detail = inPart === undefined ? null : JSON.stringify({ inPart });
  await updateLanded(
    tx,
    queueId,
    number,
    mode,
    sha,
    tree,
    testedTree,
    at,
    JSON.stringify(members),
    detail,
    tip,
    direct === undefined ? null : JSON.stringify(direct),
    flaw,
  );
}

const updateFailed = statement<
  [queueId: string, number: number, status: string, detail: string, at: Date, tip: string | null]
>(`
  with ended as (
    update landing set status = $3, detail = $4, concluded_at = $5
    where queue_id = $1 and number = $2 and status = 'intended' returning number
  )
  update queue set branch_sha = coalesce($6, branch_sha), branch_epoch = branch_epoch + 1
  where id = $1 and exists (select from ended)`);

// Entries that a direct merge took for tested on the tip now need a run.
const updateUntested = statement<[queueId: string, prs: string]>(
  `update queue_entry set tested_on_tip = null where queue_id = $1 and pr_number = any ($2::bigint[])`,
);

/** The landing did not happen: the branch had moved, or the host refused it. */
export async function recordNotLanded(
  tx: Tx,
  queueId: QueueId,
  { kind, number, ...detail }: Exclude<LandingReport, { kind: 'landed' }>,
  at: Date,
): Promise<void> {
  const tip = 'tip' in detail ? detail.tip : null;
  const again = 'restart' in detail ? detail.restart : [];
  if (again.length > 0) await updateUntested(tx, queueId, `{${again.join(',')}}`);
  await updateFailed(tx, queueId, number, kind, JSON.stringify(detail), at, tip);
}
