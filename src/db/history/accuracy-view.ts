// What came after verdicts on tests: changes of status, repeated runs, and what people did. All of it is bounded.

import type { RepositoryId, OrganizationId } from '#base/id.ts';
import type { Opinion, StatusSpan, Tally } from '#core/health/accuracy/accuracy.ts';
import type { Tx } from '../cell.ts';
import { statement } from '../statement.ts';

/** Most changes of status, actions of people and runs that are read: the newest. */
export const spansMax = 20_000;
const opinionsMax = 5_000;
const runsMax = 5_000;

type StatusSpanRow = {
  readonly test_case_id: string;
  readonly at: Date;
  readonly status: StatusSpan['status'];
  readonly trigger: StatusSpan['trigger'];
  readonly ended_at: Date | null;
  readonly end_trigger: StatusSpan['endTrigger'];
  readonly repeats: number | null;
};

const selectSpans = statement<[repositoryId: string, since: Date, now: Date], StatusSpanRow>(`
  select f.test_case_id, f.recorded_at as at, f.after->>'value' as status, f.trigger->>'kind' as trigger,
    lead(f.recorded_at) over later as ended_at, lead(f.trigger->>'kind') over later as end_trigger,
    lead(f.repeats) over later as repeats
  from (
    select test_case_id, recorded_at, seq, after, trigger, repeats from test_fact
    where repository_id = $1 and kind = 'status_changed' and recorded_at > $2 and recorded_at <= $3
    order by recorded_at desc, seq desc limit ${spansMax}) f
  window later as (partition by f.test_case_id order by f.recorded_at, f.seq)`);

/** Every stay of a test in a status that began since. */
export async function listStatusSpans(
  db: Tx,
  repositoryId: RepositoryId,
  since: Date,
  now: Date,
): Promise<readonly StatusSpan[]> {
  const rows = await selectSpans(db, repositoryId, since, now);
  return rows.map(({ test_case_id, ended_at, end_trigger, ...row }) => ({
    ...row,
    testCaseId: test_case_id,
    endedAt: ended_at,
    endTrigger: end_trigger,
  }));
}

type OpinionRow = {
  readonly test_case_id: string;
  readonly at: Date;
  readonly action: Opinion['action'];
  readonly value: string | null;
};

// The subject of such an entry is the repository, the id of the test and its name.
const selectOpinions = statement<
  [organizationId: string, since: Date, now: Date, repository: string],
  OpinionRow
>(`
  select substr(a.subject, length($4::text) + 2, 36) as test_case_id, a.at, substr(a.action, 6) as action,
    case a.action when 'test.flag' then a.after->>'status' when 'test.quarantine' then a.after->>'setting'
      else a.after->>'until' end as value
  from audit a
  where a.organization_id = $1 and a.action in ('test.flag', 'test.quarantine', 'test.mute')
    and a.at > $2 and a.at <= $3 and starts_with(a.subject, $4::text || ' ')
  order by a.at desc limit ${opinionsMax}`);

/** What people did with tests of a repository, by its full name. */
export async function listOpinions(
  db: Tx,
  organizationId: OrganizationId,
  repository: string,
  since: Date,
  now: Date,
): Promise<readonly Opinion[]> {
  const rows = await selectOpinions(db, organizationId, since, now, repository);
  return rows.map(({ test_case_id, ...row }) => ({ ...row, testCaseId: test_case_id }));
}

// A run that only flaky tests failed is repeated on the same commit, or as the next run of the same composition.
const selectReruns = statement<[repositoryId: string, since: Date, now: Date], Tally>(`
  select count(*) filter (where r.result = 'passed') as confirmed,
    count(*) filter (where r.result = 'failed') as overturned,
    count(*) filter (where r.result is null or r.result not in ('passed', 'failed')) as open
  from (
    select case when t.outcome <> 'flaky' then t.outcome else (
        select n.outcome from test_run n
        where n.queue_id = t.queue_id and sha256(n.composition::bytea) = sha256(t.composition::bytea)
          and n.number > t.number order by n.number limit 1) end as result
    from queue q join test_run t on t.queue_id = q.id
    where q.repository_id = $1 and t.created_at > $2 and t.created_at <= $3 and t.selected_tests is null
      and (t.outcome = 'flaky' or (t.rerun_at is not null and t.rerun_refusal is null))
    order by t.created_at desc limit ${runsMax}) r`);

export async function countReruns(
  db: Tx,
  repositoryId: RepositoryId,
  since: Date,
  now: Date,
): Promise<Tally> {
  const [row] = await selectReruns(db, repositoryId, since, now);
  return row!;
}
