// Writes what a reconcile decided: queue_plan, the planner's columns of entry, test_run and test_run_member, and landings
// that are intended.

import type { QueueId, RunId } from '#base/id.ts';
import type { LinePlace } from '#core/queue/engine/line-place.ts';
import type { Look } from '#core/queue/engine/look.ts';
import type { Picture } from '#core/queue/engine/picture.ts';
import { packPlan } from '#core/queue/engine/packed-plan.ts';
import { isSameJson } from '#core/queue/engine/stored.ts';
import type { PlannedEntry } from '#core/queue/model.ts';
import type { Tx } from './cell.ts';
import type { LoadedPicture } from './picture-view.ts';
import type { OpenEntry } from './open-entry-view.ts';
import { type ChangedEntry, partsOf, placeColumns, saveProgress } from './progress-store.ts';
import { noticeQueue } from './queue-notice.ts';
import { saveQueue } from './queue-store.ts';
import { wireState } from './required-view.ts';
import { measureRuns } from './run-measure-store.ts';
import { longPhase, rowsMax } from './run-member.ts';
import { holdRuns } from './run-store.ts';
import { statement } from './statement.ts';
import type { QueueLock } from './transaction.ts';

const upsertPlan = statement<[queueId: string, state: string]>(`
  insert into queue_plan (queue_id, state) values ($1, $2)
  on conflict (queue_id) do update set state = excluded.state`);

// Rows that no fact is about: only their place in the line, or what the planner remembers of them, has changed.
const updateItems = statement<[queueId: string, items: string]>(`
  update entry e set plan = i.plan, line_rank = i.line_rank, line_major = i.line_major, line_minor = i.line_minor
  from jsonb_to_recordset($2) as i (pr bigint, plan jsonb, line_rank smallint, line_major bigint, line_minor bigint)
  where e.queue_id = $1 and e.pr_number = i.pr`);

const insertRuns = statement<[queueId: string, runs: string, members: string]>(`
  with runs as (
    insert into test_run (queue_id, id, number, kind, created_at, test_branch, base_sha, composition, ahead, phase)
    select $1, r.id, r.number, r.kind, r.created_at, r.test_branch, r.base_sha, r.composition, r.ahead, r.phase
    from jsonb_to_recordset($2) as r (id uuid, number bigint, kind text, created_at timestamptz, test_branch text,
      base_sha text, composition text, ahead bigint[], phase text)
  )
  insert into test_run_member (queue_id, test_run_id, position, pr_number, head_sha, under_test)
  select $1, m.id, m.position, m.pr, m.head, m.under_test
  from jsonb_to_recordset($3) as m (id uuid, position int, pr bigint, head text, under_test boolean)`);

// What CI said stays with the run; the working copy is swept by age.
const concludeRuns = statement<[queueId: string, runs: string, at: Date]>(`
  update test_run t set status = r.status, concluded_at = $3,
    outcome = coalesce(t.outcome, r.outcome),
    status_checks = coalesce(checks.statuses, '[]'), check_suites = coalesce(checks.suites, '[]')
  from jsonb_to_recordset($2) as r (number bigint, status text, outcome text),
  lateral (
    select
      json_agg(json_build_object('context', c.name, 'url', c.body ->> 'url', 'state', ${wireState},
        'creator', c.body ->> 'creator') order by c.name) filter (where c.kind = 'status') as statuses,
      (select json_agg(json_build_object('checkRuns', s.runs)) from (
        select json_agg(json_build_object('name', k.body ->> 'name', 'url', k.body ->> 'url',
          'status', upper(k.body ->> 'status'), 'conclusion', upper(k.body ->> 'conclusion'),
          'app', k.body ->> 'app') order by k.name) as runs
        from commit_check k join queue kq on kq.id = $1 and kq.repository_id = k.repository_id
        where k.sha = (select x.test_branch_sha from test_run x where x.queue_id = $1 and x.number = r.number)
          and k.kind = 'check'
        group by k.body ->> 'suite') s) as suites
    from commit_check c join queue q on q.id = $1 and q.repository_id = c.repository_id
    where c.sha = (select x.test_branch_sha from test_run x where x.queue_id = $1 and x.number = r.number)
  ) checks
  where t.queue_id = $1 and t.number = r.number and t.status = 'in_progress'`);

const insertLanding = statement<
  [
    queueId: string,
    number: number,
    proof: string,
    runId: string | null,
    method: string,
    baseSha: string,
    at: Date,
    members: string,
  ]
>(`
  with landing as (
    insert into landing (queue_id, number, proof, test_run_id, method, base_sha, intended_at)
    values ($1, $2, $3, $4, $5, $6, $7)
  ), epoch as (
    update queue set branch_epoch = branch_epoch + 1 where id = $1
  )
  insert into landing_member (queue_id, number, position, pr_number, trip, head_sha, forced)
  select $1, $2, m.position, m.pr, m.trip, m.head,
    coalesce((select e.forced from entry e where e.queue_id = $1 and e.pr_number = m.pr and e.trip = m.trip), false)
  from jsonb_to_recordset($8) as m (position int, pr bigint, trip int, head text)`);

const markObserved = statement<[queueId: string, number: number]>(
  `update landing set observed = true where queue_id = $1 and number = $2`,
);

/** Writes a look in the transaction that read its picture. */
export async function saveLook(
  tx: Tx,
  lock: QueueLock,
  { picture, open, measuredAt, isTold }: LoadedPicture,
  look: Look,
  now: Date,
): Promise<void> {
  const { queueId } = lock;
  const entries = new Map(picture.entries.map(({ entry }) => [entry.pullRequest.number, entry]));
  const sent: Promise<unknown>[] = [];
  if (look.queue !== picture.queue) sent.push(saveQueue(tx, lock, look.queue));
  const changes = changedEntries(open, look);
  sent.push(saveProgress(tx, lock, changes.filter(hasFacts), now, isTold));
  sent.push(
    savePlaces(
      tx,
      queueId,
      changes.filter((change) => !hasFacts(change)),
    ),
  );
  if (!isSameJson(look.stored, picture.stored))
    sent.push(upsertPlan(tx, queueId, JSON.stringify(packPlan(look.stored))));
  if (look.started.length > 0) sent.push(saveRuns(tx, queueId, picture, look, entries, now));
  if (look.concluded.length > 1) sent.push(holdRuns(tx, queueId));
  if (look.concluded.length > 0)
    sent.push(concludeRuns(tx, queueId, JSON.stringify(look.concluded.map(conclusionRow)), now));
  // After the runs are concluded, so that they count too.
  if (look.concluded.length > 0) sent.push(measureRuns(tx, queueId, measuredAt, now));
  if (picture.landing !== null) sent.push(markObserved(tx, queueId, picture.landing.number));
  if (look.landing !== null) sent.push(saveLanding(tx, queueId, picture, look.landing, entries, now));
  if (sent.length > 0) sent.push(noticeQueue(tx, queueId));
  await Promise.all(sent);
}

const samePlace = (a: LinePlace | null, b: LinePlace | null): boolean =>
  a?.rank === b?.rank && a?.major === b?.major && a?.minor === b?.minor;

/** Every entry that is to be written, with where it stands and what the planner remembers of it. */
function changedEntries(open: readonly OpenEntry[], look: Look): readonly ChangedEntry[] {
  const changes: ChangedEntry[] = [];
  for (const { shown, place: before } of open) {
    const { entry, stored } = shown;
    const { number: pr } = entry.pullRequest;
    const place = look.places.get(pr) ?? null;
    const changed = look.items.get(pr);
    const facts = look.facts.get(pr) ?? [];
    if (changed === undefined && facts.length === 0 && samePlace(place, before)) continue;
    changes.push({ before: entry, facts, place, plan: changed === undefined ? stored : changed });
  }
  return changes;
}

const hasFacts = ({ facts }: ChangedEntry): boolean => facts.length > 0;

async function savePlaces(tx: Tx, queueId: QueueId, changes: readonly ChangedEntry[]): Promise<void> {
  for (const part of partsOf(changes)) {
    const rows = part.map(({ before, plan, place }) => ({
      pr: before.pullRequest.number,
      plan,
      ...placeColumns(place),
    }));
    await updateItems(tx, queueId, JSON.stringify(rows));
  }
}

const statuses = {
  passed: 'succeeded',
  failed: 'failed',
  // It says nothing about the change.
  infrastructure: 'cancelled',
  timed_out: 'failed',
  not_started: 'failed',
  cancelled: 'cancelled',
} as const;

const conclusionRow = ({ number, outcome }: Look['concluded'][number]) => ({
  number,
  outcome,
  status: statuses[outcome],
});

/** The test branch ends in the run's id, so that CI can derive it from its ref. */
const testBranchOf = (targetBranch: string, pr: number, runId: RunId): string =>
  `signalbox/${targetBranch}/pr-${pr}/${runId}`;

/** Runs are written with one statement for so many members, so that making its text takes one short turn after another. */
const membersMax = 2_000;

async function saveRuns(
  tx: Tx,
  queueId: QueueId,
  { queue }: Picture,
  { started }: Look,
  entries: ReadonlyMap<number, PlannedEntry>,
  now: Date,
): Promise<void> {
  const headOf = (pr: number) => entries.get(pr)!.pullRequest.headSha;
  let runs: object[] = [];
  let members: object[] = [];
  let named = 0;
  for (const [index, { id, run }] of started.entries()) {
    const { base, members: all, tested } = run.composition;
    const isLong = all.length > rowsMax;
    runs.push({
      id,
      number: run.id,
      kind: run.of.kind === 'line' ? 'main' : 'bisection',
      created_at: now,
      test_branch: testBranchOf(queue.targetBranch, all.at(-1)!, id),
      base_sha: base,
      composition: [base, ...all.map(headOf)].join('+'),
      ahead: isLong ? all.slice(0, -tested) : null,
      phase: isLong ? longPhase : 'asked',
    });
    for (let position = isLong ? all.length - tested : 0; position < all.length; position++) {
      const pr = all[position]!;
      members.push({ id, position, pr, head: headOf(pr), under_test: position >= all.length - tested });
    }
    named += all.length;
    if (named < membersMax && index < started.length - 1) continue;
    const sent = insertRuns(tx, queueId, JSON.stringify(runs), JSON.stringify(members));
    [runs, members, named] = [[], [], 0];
    await sent;
  }
}

function saveLanding(
  tx: Tx,
  queueId: QueueId,
  { queue, runs }: Picture,
  { landing, base }: NonNullable<Look['landing']>,
  entries: ReadonlyMap<number, PlannedEntry>,
  now: Date,
): Promise<unknown> {
  const { proof, id: number } = landing;
  const runId = proof.kind === 'direct' ? null : runs.find((run) => run.number === proof.run)!.id;
  const members = landing.members.map((pr, position) => {
    const { trip, pullRequest } = entries.get(pr)!;
    return { position, pr, trip, head: pullRequest.headSha };
  });
  const { mergeMethod } = queue.settings;
  return insertLanding(
    tx,
    queueId,
    number,
    proof.kind,
    runId,
    mergeMethod,
    base,
    now,
    JSON.stringify(members),
  );
}
