// Writes the decisions of a reconcile: queue_plan, the planner's columns of queue_entry, test_run and
// test_run_member, and intended landings.

import type { QueueId, RunId } from '#base/id.ts';
import type { LinePlace } from '#core/queue/engine/line-place.ts';
import type { Reconciliation } from '#core/queue/engine/reconcile.ts';
import type { ReconcileInput } from '#core/queue/engine/reconcile-input.ts';
import { packPlan } from '#core/queue/engine/packed-plan.ts';
import { isScreen } from '#core/queue/planner/model.ts';
import { isSameJson } from '#core/queue/engine/stored.ts';
import type { PlannedEntry } from '#core/queue/model.ts';
import type { Tx } from '../cell.ts';
import { presentChecks } from '../run/kept-check.ts';
import type { LoadedReconcileInput } from './reconcile-view.ts';
import type { OpenEntry } from './open-entry.ts';
import { type ChangedEntry, partsOf, saveProgress } from './progress-store.ts';
import { noticeQueue } from '../queue-notice.ts';
import { saveQueue } from './queue-store.ts';
import { placeColumns } from '../row.ts';
import { storedItemRow } from '../stored-item.ts';
import { measureRuns } from '../run/run-measure-store.ts';
import { longPhase, rowsMax, targetedPhase } from '../run/run-member.ts';
import { recordReruns } from '../run/rerun-store.ts';
import { holdRuns } from '../run/run-store.ts';
import { statement } from '../statement.ts';
import type { QueueLock } from '../transaction.ts';

const upsertPlan = statement<[queueId: string, state: string, situation: string]>(`
  insert into queue_plan (queue_id, state, situation) values ($1, $2, $3)
  on conflict (queue_id) do update set state = excluded.state, situation = excluded.situation`);

const updateSituation = statement<[queueId: string, situation: string]>(
  `update queue_plan set situation = $2 where queue_id = $1`,
);

// Rows without a fact: only their position in the queue, or what the planner remembers of them, has changed.
const updateItems = statement<[queueId: string, items: string]>(`
  update queue_entry e set plan = i.plan, line_rank = i.line_rank, line_major = i.line_major, line_minor = i.line_minor
  from jsonb_to_recordset($2) as i (pr bigint, plan jsonb, line_rank smallint, line_major bigint, line_minor bigint)
  where e.queue_id = $1 and e.pr_number = i.pr`);

const insertRuns = statement<[queueId: string, runs: string, members: string]>(`
  with runs as (
    insert into test_run (queue_id, id, number, kind, created_at, test_branch, base_sha, composition, ahead, phase,
      selected_tests)
    select $1, r.id, r.number, r.kind, r.created_at, r.test_branch, r.base_sha, r.composition, r.ahead, r.phase,
      r.selected_tests
    from jsonb_to_recordset($2) as r (id uuid, number bigint, kind text, created_at timestamptz, test_branch text,
      base_sha text, composition text, ahead bigint[], phase text, selected_tests uuid[])
  )
  insert into test_run_member (queue_id, test_run_id, position, pr_number, head_sha, under_test)
  select $1, m.id, m.position, m.pr, m.head, m.under_test
  from jsonb_to_recordset($3) as m (id uuid, position int, pr bigint, head text, under_test boolean)`);

// The run keeps the check results that decided it; commit_check holds them only for days.
const concludeRuns = statement<[queueId: string, runs: string, at: Date]>(`
  update test_run t set status = r.status, concluded_at = $3, outcome = coalesce(t.outcome, r.outcome),
    status_checks = r.status_checks, check_suites = r.check_suites
  from jsonb_to_recordset($2) as r (number bigint, status text, outcome text, status_checks jsonb, check_suites jsonb)
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
  insert into landing_pull_request (queue_id, number, position, pr_number, attempt, head_sha, forced)
  select $1, $2, m.position, m.pr, m.attempt, m.head,
    coalesce((select e.forced from queue_entry e where e.queue_id = $1 and e.pr_number = m.pr and e.attempt = m.attempt), false)
  from jsonb_to_recordset($8) as m (position int, pr bigint, attempt int, head text)`);

const markObserved = statement<[queueId: string, number: number]>(
  `update landing set observed = true where queue_id = $1 and number = $2`,
);

/** Saves a reconcile in the transaction that read its queue state. */
export async function saveReconciliation(
  tx: Tx,
  lock: QueueLock,
  { input, open, situation, measuredAt, hasEndpoints: hasWebhookEndpoints }: LoadedReconcileInput,
  reconciliation: Reconciliation,
  now: Date,
): Promise<void> {
  const { queueId } = lock;
  const entries = new Map(input.entries.map(({ entry }) => [entry.pullRequest.number, entry]));
  const sent: Promise<unknown>[] = [];
  if (reconciliation.queue !== input.queue)
    sent.push(saveQueue(tx, lock, input.queue, reconciliation.queue, { actor: 'queue', now }));
  const changes = changedEntries(open, reconciliation);
  sent.push(saveProgress(tx, lock, changes.filter(hasFacts), now, hasWebhookEndpoints));
  sent.push(
    savePlaces(
      tx,
      queueId,
      changes.filter((change) => !hasFacts(change)),
    ),
  );
  if (!isSameJson(reconciliation.stored, input.stored))
    sent.push(
      upsertPlan(
        tx,
        queueId,
        JSON.stringify(packPlan(reconciliation.stored)),
        JSON.stringify(reconciliation.situation),
      ),
    );
  else if (!isSameJson(reconciliation.situation, situation))
    sent.push(updateSituation(tx, queueId, JSON.stringify(reconciliation.situation)));
  if (reconciliation.started.length > 0)
    sent.push(saveRuns(tx, queueId, input, reconciliation, entries, now));
  if (reconciliation.concluded.length > 1) sent.push(holdRuns(tx, queueId));
  if (reconciliation.concluded.length > 0)
    sent.push(concludeRuns(tx, queueId, JSON.stringify(conclusionRows(input, reconciliation)), now));
  if (reconciliation.reruns.length > 0) sent.push(recordReruns(tx, queueId, reconciliation.reruns, now));
  // After the runs are concluded, so that they are measured too.
  if (reconciliation.concluded.length > 0) sent.push(measureRuns(tx, reconciliation.queue, measuredAt, now));
  if (input.landing !== null) sent.push(markObserved(tx, queueId, input.landing.number));
  if (reconciliation.landing !== null)
    sent.push(saveLanding(tx, queueId, input, reconciliation.landing, entries, now));
  if (sent.length > 0) sent.push(noticeQueue(tx, queueId));
  await Promise.all(sent);
}

const samePlace = (a: LinePlace | null, b: LinePlace | null): boolean =>
  a?.rank === b?.rank && a?.major === b?.major && a?.minor === b?.minor;

/** Every entry to write, with its position and what the planner remembers of it. */
function changedEntries(open: readonly OpenEntry[], reconciliation: Reconciliation): readonly ChangedEntry[] {
  const changes: ChangedEntry[] = [];
  for (const { shown, place: before } of open) {
    const { entry, stored } = shown;
    const { number: pr } = entry.pullRequest;
    const place = reconciliation.places.get(pr) ?? null;
    const changed = reconciliation.items.get(pr);
    const facts = reconciliation.facts.get(pr) ?? [];
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
      plan: storedItemRow(plan),
      ...placeColumns(place),
    }));
    await updateItems(tx, queueId, JSON.stringify(rows));
  }
}

const statuses = {
  passed: 'succeeded',
  failed: 'failed',
  flaky: 'failed',
  // An infrastructure failure says nothing about the change.
  infrastructure: 'cancelled',
  timed_out: 'failed',
  not_started: 'failed',
  cancelled: 'cancelled',
} as const;

function conclusionRows({ runs }: ReconcileInput, { concluded }: Reconciliation) {
  const checks = new Map(runs.map((run) => [run.number, run.checks]));
  return concluded.map(({ number, outcome }) => ({
    number,
    outcome,
    status: statuses[outcome],
    ...presentChecks(checks.get(number) ?? []),
  }));
}

/** The test branch ends in the run's id, so that CI can derive it from its ref. */
const formatTestBranch = (targetBranch: string, pr: number, runId: RunId): string =>
  `signalbox/${targetBranch}/pr-${pr}/${runId}`;

/** Most members per insert of runs, so that building its parameters never blocks the event loop for long. */
const membersMax = 2_000;

async function saveRuns(
  tx: Tx,
  queueId: QueueId,
  { queue }: ReconcileInput,
  { started, stored }: Reconciliation,
  entries: ReadonlyMap<number, PlannedEntry>,
  now: Date,
): Promise<void> {
  const getHeadSha = (pr: number) => entries.get(pr)!.pullRequest.headSha;
  const screens = new Set(stored.searches.filter(isScreen).map(({ id }) => id));
  let runs: object[] = [];
  let members: object[] = [];
  let named = 0;
  for (const [index, { id, run }] of started.entries()) {
    const { base, members: all, tested } = run.composition;
    const isLong = all.length > rowsMax;
    runs.push({
      id,
      number: run.id,
      kind: run.of.kind === 'line' || screens.has(run.of.search) ? 'main' : 'bisection',
      created_at: now,
      test_branch: formatTestBranch(queue.targetBranch, all.at(-1)!, id),
      base_sha: base,
      composition: [base, ...all.map(getHeadSha)].join('+'),
      ahead: isLong ? all.slice(0, -tested) : null,
      phase: run.tests !== undefined ? targetedPhase : isLong ? longPhase : 'asked',
      selected_tests: run.tests ?? null,
    });
    for (let position = isLong ? all.length - tested : 0; position < all.length; position++) {
      const pr = all[position]!;
      members.push({ id, position, pr, head: getHeadSha(pr), under_test: position >= all.length - tested });
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
  { queue, runs }: ReconcileInput,
  { landing, base }: NonNullable<Reconciliation['landing']>,
  entries: ReadonlyMap<number, PlannedEntry>,
  now: Date,
): Promise<unknown> {
  const { proof, id: number } = landing;
  const runId = proof.kind === 'direct' ? null : runs.find((run) => run.number === proof.run)!.id;
  const members = landing.members.map((pr, position) => {
    const { attempt, pullRequest } = entries.get(pr)!;
    return { position, pr, attempt, head: pullRequest.headSha };
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
