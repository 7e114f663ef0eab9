// What is to be told on pull requests, and what was.

import type { QueueId, RepositoryId } from '#base/id.ts';
import type { Told } from '#core/queue/message.ts';
import type { Tx } from './cell.ts';
import { type AtHostRow, atHostColumns, type QueueAtHost, queueAtHostOf } from './host-view.ts';
import { failedTestsOf } from './failed-test-view.ts';
import { listEntries } from './queue-view.ts';
import { requiredChecksColumn, ruleChangeOf } from './required-view.ts';
import { membersOf } from './run-member.ts';
import { statement } from './statement.ts';

export type UntoldEntry = Pick<Told, 'standing' | 'run' | 'landing' | 'refusal' | 'branchRuleChange'> & {
  readonly commentId: string | null;
  readonly mayHaveComment: boolean;
  /** Of the words that were told; what it waits for may change while it stays where it is. */
  readonly wordsHash: string | null;
  readonly isByLabel: boolean;
};

export type Telling = QueueAtHost & {
  /** The first few. */
  readonly untold: readonly UntoldEntry[];
};

const selectQueue = statement<[queueId: string], AtHostRow>(`
  select ${atHostColumns} from queue q join repository r on r.id = q.repository_id
  where q.id = $1 and q.deleted_at is null`);

type UntoldRow = {
  pr_number: number;
  comment_id: string | null;
  comment_tried: boolean;
  words_hash: string | null;
  by_label: boolean;
  run: Told['run'];
  landing: Told['landing'];
  refusal: string | null;
  branch_rule_change: Told['branchRuleChange'];
};

const atOnce = 5;

/** The beginning and the end of a trip are told at once, and what lies between not more often than this. */
const betweenSeconds = 120;

// What CI said of a run is in commit_check for some days after it ended. What ended long ago is not told any more: nobody
// waits for it.
const selectUntold = statement<[queueId: string], UntoldRow>(`
  select e.pr_number, l.comment_id, coalesce(l.comment_tried, false) as comment_tried,
    l.words_hash,
    coalesce(l.by_label, false) as by_label,
    (select json_build_object('required', ${requiredChecksColumn('t')},
      'checks', coalesce((select json_agg(c.body) from commit_check c
        where c.repository_id = q.repository_id and c.sha = t.test_branch_sha), '[]'),
      'ahead', coalesce((select json_agg(m.pr_number order by m.position) from ${membersOf('t')} m where not m.under_test), '[]'),
      'failedTests', ${failedTestsOf('q.repository_id')}, 'ruleChange', ${ruleChangeOf('t', 'e.pr_number')})
      from test_run t where t.queue_id = e.queue_id and t.id = e.test_run_id) as run,
    (select json_build_object('sha', coalesce(m.commit_sha, d.landed_sha), 'tree', d.landed_tree,
      'testedTree', d.tested_tree, 'ruleChange', ${ruleChangeOf('d', 'e.pr_number')})
      from landing_member m join landing d on d.queue_id = m.queue_id and d.number = m.number
      where m.queue_id = e.queue_id and m.pr_number = e.pr_number and m.trip = e.trip and d.status = 'landed'
      order by d.number desc limit 1) as landing,
    (select r.said ->> 'message' from landing_member m
      join landing d on d.queue_id = m.queue_id and d.number = m.number
      cross join lateral (select coalesce(d.detail -> 'inPart', d.detail) as said) r
      where m.queue_id = e.queue_id and m.pr_number = e.pr_number and m.trip = e.trip
        and (r.said ->> 'pr')::bigint = e.pr_number
      order by d.number desc limit 1) as refusal,
    (select d.detail -> 'ruleChange' from landing_member m
      join landing d on d.queue_id = m.queue_id and d.number = m.number
      where m.queue_id = e.queue_id and m.pr_number = e.pr_number and m.trip = e.trip
        and d.status = 'lost' and d.detail ? 'ruleChange'
      order by d.number desc limit 1) as branch_rule_change
  from (
    select pr_number from entry where queue_id = $1 and line_rank is not null
    union
    select pr_number from entry where queue_id = $1 and concluded_at > now() - interval '1 hour'
  ) recent
  join entry e on e.queue_id = $1 and e.pr_number = recent.pr_number
  join queue q on q.id = e.queue_id
  left join telling l on l.queue_id = e.queue_id and l.pr_number = e.pr_number
  where l.told_at is null
    or l.told_at <> e.state_changed_at and e.concluded_at is not null
    or (l.told_at <> e.state_changed_at or e.state = 'not_ready')
      and l.written_at < now() - interval '${betweenSeconds} seconds'
  order by e.state_changed_at limit ${atOnce}`);

export async function loadTelling(db: Tx, queueId: QueueId): Promise<Telling | null> {
  const [[queue], rows] = await Promise.all([selectQueue(db, queueId), selectUntold(db, queueId)]);
  if (queue === undefined) return null;
  const byNumber = new Map(rows.map((row) => [row.pr_number, row]));
  const standings = byNumber.size === 0 ? [] : await listEntries(db, queueId, [...byNumber.keys()]);
  const untold = standings.map((standing): UntoldEntry => {
    const row = byNumber.get(standing.entry.pullRequest.number)!;
    return {
      standing,
      run: row.run,
      landing: row.landing,
      refusal: row.refusal,
      branchRuleChange: row.branch_rule_change,
      commentId: row.comment_id,
      mayHaveComment: row.comment_tried,
      wordsHash: row.words_hash,
      isByLabel: row.by_label,
    };
  });
  return { ...queueAtHostOf(queue), untold };
}

const upsertTried = statement<[queueId: string, pr: number]>(`
  insert into telling (queue_id, pr_number, comment_tried) values ($1, $2, true)
  on conflict (queue_id, pr_number) do update set comment_tried = true`);

/** Said before anything is first written: whoever comes after a crash looks whether it is there. */
export const recordTried = (tx: Tx, queueId: QueueId, pr: number): Promise<unknown> =>
  upsertTried(tx, queueId, pr);

const upsertTold = statement<
  [
    queueId: string,
    pr: number,
    toldAt: Date,
    commentId: string | null,
    byLabel: boolean,
    wordsHash: string | null,
  ]
>(`
  insert into telling (queue_id, pr_number, told_at, written_at, comment_id, by_label, words_hash)
  values ($1, $2, $3, now(), $4, $5, $6)
  on conflict (queue_id, pr_number) do update set told_at = excluded.told_at, written_at = excluded.written_at,
    comment_id = coalesce(excluded.comment_id, telling.comment_id), by_label = excluded.by_label,
    words_hash = excluded.words_hash`);

type ToldRecord = {
  /** The moment of the state that was told. */
  readonly toldAt: Date;
  readonly commentId: string | null;
  readonly isByLabel: boolean;
  readonly wordsHash: string | null;
};

export const recordTold = (
  tx: Tx,
  queueId: QueueId,
  pr: number,
  { toldAt, commentId, isByLabel, wordsHash }: ToldRecord,
): Promise<unknown> => upsertTold(tx, queueId, pr, toldAt, commentId, isByLabel, wordsHash);

const upsertByLabel = statement<[queueId: string, pr: number, usedAt: Date | null]>(`
  insert into telling (queue_id, pr_number, by_label, label_used_at) values ($1, $2, true, $3)
  on conflict (queue_id, pr_number) do update set by_label = true,
    label_used_at = greatest(telling.label_used_at, excluded.label_used_at)`);

/** The label is removed when the attempt ends. `usedAt`: the act that submitted it; null: it was queued already. */
export const recordByLabel = (tx: Tx, queueId: QueueId, pr: number, usedAt: Date | null): Promise<unknown> =>
  upsertByLabel(tx, queueId, pr, usedAt);

const selectUsed = statement<[queueId: string, pr: number], { label_used_at: Date | null }>(
  `select label_used_at from telling where queue_id = $1 and pr_number = $2`,
);

/** The label act that submitted the pull request last, by the host's clock; null: none did. */
export async function labelUsedAt(db: Tx, queueId: QueueId, pr: number): Promise<Date | null> {
  return (await selectUsed(db, queueId, pr))[0]?.label_used_at ?? null;
}

const updateUntold = statement<[repositoryId: string, uploads: string], { queue_id: QueueId }>(`
  update telling l set told_at = null
  from jsonb_to_recordset($2::jsonb) as r (id uuid, uploaded_at timestamptz)
  join upload u on u.repository_id = $1 and u.uploaded_at = r.uploaded_at and u.id = r.id and u.trust = 'full'
  join test_run_member m on m.test_run_id = u.test_run_id and m.under_test
  where l.queue_id = m.queue_id and l.pr_number = m.pr_number returning l.queue_id`);

/** Reports of runs came: those that the runs tested are told what they name. Answers with their queues. */
export async function forgetToldOf(
  tx: Tx,
  repositoryId: RepositoryId,
  uploads: readonly { readonly id: string; readonly uploaded_at: Date }[],
): Promise<readonly QueueId[]> {
  if (uploads.length === 0) return [];
  const rows = await updateUntold(tx, repositoryId, JSON.stringify(uploads));
  return [...new Set(rows.map((row) => row.queue_id))].toSorted();
}
