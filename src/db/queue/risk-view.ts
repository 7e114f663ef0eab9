// What the prediction of failures reads (core/queue/risk/risk.ts): the last attempts of a queue that merged or failed, each as it was
// known when it was submitted, and those that have just been submitted.
//
// The model is not stored: it is what a replay of the last attempts leaves behind, in some 20 ms. A process keeps it for a while.

import type { QueueId } from '#base/id.ts';
import { minuteMs } from '#base/duration.ts';
import { createTtlCache } from '#base/ttl-cache.ts';
import { type Calibration, computeCalibration } from '#core/queue/risk/calibration.ts';
import { type RiskModel, type RiskSubject, replayAttempts } from '#core/queue/risk/risk.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

/** How many attempts count, of the time for which the heads of pull requests are kept. */
const attemptsMax = 5_000;

type SubjectRow = {
  author: string;
  attempt: number;
  head_age_ms: number | null;
  impacts_all: boolean | null;
  target_count: number | null;
};

type PastRow = SubjectRow & { submitted_at: Date; concluded_at: Date; has_failed: boolean };

// Targets that were uploaded after the submission were not known then.
const subjectColumns = (attempt: string) => `
  e.pr_author as author, ${attempt}.attempt, extract(epoch from ${attempt}.submitted_at - h.since)::float8 * 1000 as head_age_ms,
  i.impacts_all, i.target_count`;
const subjectJoins = (attempt: string, headSha: string) => `
  join queue q on q.id = e.queue_id
  left join pull_request_head h on h.repository_id = q.repository_id and h.pr_number = e.pr_number
    and h.head_sha = ${headSha}
  left join impacted_targets i on i.repository_id = q.repository_id and i.pr_number = e.pr_number
    and i.head_sha = ${headSha} and i.uploaded_at <= ${attempt}.submitted_at`;

const selectPast = statement<[queueId: string, at: Date], PastRow>(`
  select ${subjectColumns('t')}, t.submitted_at, t.concluded_at, t.conclusion = 'failed' as has_failed
  from (
    select * from attempt
    where queue_id = $1 and conclusion <> 'cancelled' and concluded_at > $2::timestamptz - interval '90 days'
    order by concluded_at desc limit ${attemptsMax}) t
  join queue_entry e on e.queue_id = t.queue_id and e.pr_number = t.pr_number
  ${subjectJoins('t', 't.head_sha')}`);

const selectSubmitted = statement<
  [queueId: string, numbers: readonly number[]],
  SubjectRow & { pr_number: number }
>(`
  select e.pr_number, ${subjectColumns('e')}
  from queue_entry e ${subjectJoins('e', 'e.pr_sha')}
  where e.queue_id = $1 and e.pr_number = any ($2::bigint[])`);

const toSubject = (row: SubjectRow): RiskSubject => ({
  author: row.author,
  attempt: row.attempt,
  headAgeMs: row.head_age_ms,
  targetCount: row.impacts_all === true ? 'ALL' : row.target_count,
});

type QueueRisk = {
  readonly model: RiskModel;
  /** The attempts that it learned from, and how many of them failed. */
  readonly attempts: number;
  readonly failures: number;
  /** Of the predictions that it made on the way; null: none. */
  readonly calibration: Calibration | null;
};

const risks = createTtlCache<QueueRisk>({ max: 1_000, ttlMs: 10 * minuteMs });

/** What the last attempts of a queue show, at most ten minutes ago. */
export const readRisk = (db: Tx, queueId: QueueId, now: Date): Promise<QueueRisk> =>
  risks.load(queueId, async () => {
    const rows = await selectPast(db, queueId, now);
    const past = rows.map((row) => ({
      ...toSubject(row),
      submittedAt: row.submitted_at.getTime(),
      concludedAt: row.concluded_at.getTime(),
      hasFailed: row.has_failed,
    }));
    const { model, outcomes } = replayAttempts(past);
    const failures = past.filter(({ hasFailed }) => hasFailed).length;
    return { model, attempts: past.length, failures, calibration: computeCalibration(outcomes) };
  });

/** How probably these entries fail; those are left out for which nothing can be predicted. */
export async function predictFailures(
  tx: Tx,
  queueId: QueueId,
  numbers: readonly number[],
  now: Date,
): Promise<ReadonlyMap<number, number>> {
  const { model } = await readRisk(tx, queueId, now);
  if (!model.isReady()) return new Map();
  const rows = await selectSubmitted(tx, queueId, numbers);
  return new Map(
    rows.flatMap((row) => {
      const { probability } = model.predict(toSubject(row));
      return probability === null ? [] : [[row.pr_number, probability]];
    }),
  );
}
