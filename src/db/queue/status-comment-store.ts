// The status comments of pull requests: which are due, and what was posted.

import type { QueueId, RepositoryId } from '#base/id.ts';
import type { StatusReport } from '#core/queue/text/message.ts';
import type { Tx } from '../cell.ts';
import { type AtHostRow, atHostColumns, type QueueAtHost, toQueueAtHost } from '../host/host-view.ts';
import { failedTestsSql } from '../run/failed-test-view.ts';
import { listEntries } from './queue-view.ts';
import { requiredChecksColumn, ruleChangeSql } from '../host/required-view.ts';
import { runMembersSql } from '../run/run-member.ts';
import { statement } from '../statement.ts';

export type UnreportedEntry = Pick<
  StatusReport,
  'status' | 'run' | 'landing' | 'refusal' | 'branchRuleChange'
> & {
  readonly commentId: string | null;
  readonly mayHaveComment: boolean;
  /** The hash of the posted text. What an entry waits for may change while its state stays the same. */
  readonly textHash: string | null;
  readonly isByLabel: boolean;
};

export type DueStatusComments = QueueAtHost & {
  /** The first few entries whose status comment is due. */
  readonly due: readonly UnreportedEntry[];
};

const selectQueue = statement<[queueId: string], AtHostRow>(`
  select ${atHostColumns} from queue q join repository r on r.id = q.repository_id
  where q.id = $1 and q.deleted_at is null`);

type UnreportedEntryRow = {
  pr_number: number;
  comment_id: string | null;
  comment_tried: boolean;
  text_hash: string | null;
  by_label: boolean;
  run: StatusReport['run'];
  landing: StatusReport['landing'];
  refusal: string | null;
  branch_rule_change: StatusReport['branchRuleChange'];
};

const atOnce = 5;

/** The start and the end of an attempt are reported at once; changes in between at most once in this time. */
const betweenSeconds = 120;

// commit_check keeps the check results of a run for some days after the run ended. An attempt that ended long
// ago is not reported any more.
const selectUnreported = statement<[queueId: string], UnreportedEntryRow>(`
  select e.pr_number, l.comment_id, coalesce(l.comment_tried, false) as comment_tried,
    l.text_hash,
    coalesce(l.by_label, false) as by_label,
    (select json_build_object('required', ${requiredChecksColumn('t')},
      'checks', coalesce((select json_agg(c.body) from commit_check c
        where c.repository_id = q.repository_id and c.sha = t.test_branch_sha), '[]'),
      'ahead', coalesce((select json_agg(m.pr_number order by m.position) from ${runMembersSql('t')} m where not m.under_test), '[]'),
      'failedTests', ${failedTestsSql('q.repository_id')}, 'ruleChange', ${ruleChangeSql('t', 'e.pr_number')},
      'ranAllTests', t.selected_tests is null)
      from test_run t where t.queue_id = e.queue_id and t.id = e.test_run_id) as run,
    (select json_build_object('sha', coalesce(m.commit_sha, d.landed_sha), 'tree', d.landed_tree,
      'testedTree', d.tested_tree, 'ruleChange', ${ruleChangeSql('d', 'e.pr_number')})
      from landing_pull_request m join landing d on d.queue_id = m.queue_id and d.number = m.number
      where m.queue_id = e.queue_id and m.pr_number = e.pr_number and m.attempt = e.attempt and d.status = 'landed'
      order by d.number desc limit 1) as landing,
    (select r.said ->> 'message' from landing_pull_request m
      join landing d on d.queue_id = m.queue_id and d.number = m.number
      cross join lateral (select coalesce(d.detail -> 'inPart', d.detail) as said) r
      where m.queue_id = e.queue_id and m.pr_number = e.pr_number and m.attempt = e.attempt
        and (r.said ->> 'pr')::bigint = e.pr_number
      order by d.number desc limit 1) as refusal,
    (select d.detail -> 'ruleChange' from landing_pull_request m
      join landing d on d.queue_id = m.queue_id and d.number = m.number
      where m.queue_id = e.queue_id and m.pr_number = e.pr_number and m.attempt = e.attempt
        and d.status = 'lost' and d.detail ? 'ruleChange'
      order by d.number desc limit 1) as branch_rule_change
  from (
    select pr_number from queue_entry where queue_id = $1 and line_rank is not null
    union
    select pr_number from queue_entry where queue_id = $1 and concluded_at > now() - interval '1 hour'
  ) recent
  join queue_entry e on e.queue_id = $1 and e.pr_number = recent.pr_number
  join queue q on q.id = e.queue_id
  left join status_comment l on l.queue_id = e.queue_id and l.pr_number = e.pr_number
  where l.posted_state_at is null
    or l.posted_state_at <> e.state_changed_at and e.concluded_at is not null
    or (l.posted_state_at <> e.state_changed_at or e.state = 'not_ready')
      and l.written_at < now() - interval '${betweenSeconds} seconds'
  order by e.state_changed_at limit ${atOnce}`);

export async function loadDueStatusComments(db: Tx, queueId: QueueId): Promise<DueStatusComments | null> {
  const [[queue], rows] = await Promise.all([selectQueue(db, queueId), selectUnreported(db, queueId)]);
  if (queue === undefined) return null;
  const byNumber = new Map(rows.map((row) => [row.pr_number, row]));
  const statuses = byNumber.size === 0 ? [] : await listEntries(db, queueId, [...byNumber.keys()]);
  const unreported = statuses.map((status): UnreportedEntry => {
    const row = byNumber.get(status.entry.pullRequest.number)!;
    return {
      status,
      run: row.run,
      landing: row.landing,
      refusal: row.refusal,
      branchRuleChange: row.branch_rule_change,
      commentId: row.comment_id,
      mayHaveComment: row.comment_tried,
      textHash: row.text_hash,
      isByLabel: row.by_label,
    };
  });
  return { ...toQueueAtHost(queue), due: unreported };
}

const upsertTried = statement<[queueId: string, pr: number]>(`
  insert into status_comment (queue_id, pr_number, comment_tried) values ($1, $2, true)
  on conflict (queue_id, pr_number) do update set comment_tried = true`);

/** Recorded before the first write: after a crash the next worker checks whether the comment exists. */
export const recordTried = (tx: Tx, queueId: QueueId, pr: number): Promise<unknown> =>
  upsertTried(tx, queueId, pr);

const upsertStatusComment = statement<
  [
    queueId: string,
    pr: number,
    postedStateAt: Date,
    commentId: string | null,
    byLabel: boolean,
    textHash: string | null,
  ]
>(`
  insert into status_comment (queue_id, pr_number, posted_state_at, written_at, comment_id, by_label, text_hash)
  values ($1, $2, $3, now(), $4, $5, $6)
  on conflict (queue_id, pr_number) do update set posted_state_at = excluded.posted_state_at, written_at = excluded.written_at,
    comment_id = coalesce(excluded.comment_id, status_comment.comment_id), by_label = excluded.by_label,
    text_hash = excluded.text_hash`);

type StatusCommentRecord = {
  /** When the reported state began. */
  readonly postedStateAt: Date;
  readonly commentId: string | null;
  readonly isByLabel: boolean;
  readonly textHash: string | null;
};

export const recordStatusComment = (
  tx: Tx,
  queueId: QueueId,
  pr: number,
  { postedStateAt, commentId, isByLabel, textHash }: StatusCommentRecord,
): Promise<unknown> => upsertStatusComment(tx, queueId, pr, postedStateAt, commentId, isByLabel, textHash);

const upsertByLabel = statement<[queueId: string, pr: number, usedAt: Date | null]>(`
  insert into status_comment (queue_id, pr_number, by_label, label_used_at) values ($1, $2, true, $3)
  on conflict (queue_id, pr_number) do update set by_label = true,
    label_used_at = greatest(status_comment.label_used_at, excluded.label_used_at)`);

/** The label is removed when the attempt ends. `usedAt`: when it submitted; null: it was queued already. */
export const recordByLabel = (tx: Tx, queueId: QueueId, pr: number, usedAt: Date | null): Promise<unknown> =>
  upsertByLabel(tx, queueId, pr, usedAt);

const selectUsed = statement<[queueId: string, pr: number], { label_used_at: Date | null }>(
  `select label_used_at from status_comment where queue_id = $1 and pr_number = $2`,
);

/** When a label last submitted the pull request, by the host's clock; null: never. */
export async function labelUsedAt(db: Tx, queueId: QueueId, pr: number): Promise<Date | null> {
  return (await selectUsed(db, queueId, pr))[0]?.label_used_at ?? null;
}

const clearReportedAt = statement<[repositoryId: string, uploads: string], { queue_id: QueueId }>(`
  update status_comment l set posted_state_at = null
  from jsonb_to_recordset($2::jsonb) as r (id uuid, uploaded_at timestamptz)
  join upload u on u.repository_id = $1 and u.uploaded_at = r.uploaded_at and u.id = r.id and u.trust = 'full'
  join test_run_member m on m.test_run_id = u.test_run_id and m.under_test
  where l.queue_id = m.queue_id and l.pr_number = m.pr_number returning l.queue_id`);

/** Test reports of runs arrived: status comments of the tested entries are due. Returns their queues. */
export async function markStatusCommentsDue(
  tx: Tx,
  repositoryId: RepositoryId,
  uploads: readonly { readonly id: string; readonly uploaded_at: Date }[],
): Promise<readonly QueueId[]> {
  if (uploads.length === 0) return [];
  const rows = await clearReportedAt(tx, repositoryId, JSON.stringify(uploads));
  return [...new Set(rows.map((row) => row.queue_id))].toSorted();
}
